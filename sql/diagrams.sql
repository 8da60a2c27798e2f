-- Diagrams of IDs, which don't depend on the session's settings
SET TIME ZONE 'America/New_York';
SET bytea_output = 'escape';

-- Snowflake IDs: each field's bits are below its name and value; fields without bits are omitted
SELECT snowflake_diagram(132271570944274432);
SELECT snowflake_diagram(1888944671579078978, 'twitter');
SELECT snowflake_diagram(1888944671579078978, 'discord');
SELECT snowflake_diagram(116301527915219032, 'mastodon');
SELECT snowflake_diagram(1517551833752155, 'si');
SELECT snowflake_diagram(647203745351925759, 'sonyflake');
SELECT snowflake_diagram(725875105388855305, 'baidu');
SELECT snowflake_diagram(1234, 'epoch=2024-01-01T00:00:00Z timestamp=40 sequence=4 worker=5 datacenter=6');
SELECT snowflake_diagram(0, 'epoch=2024-01-01T00:00:00Z timestamp=48 datacenter=1 worker=1 sequence=0');
SELECT snowflake_diagram(9223372036854775807, 'mastic');
SELECT snowflake_diagram(281474976710655, 'epoch=9999-12-31T23:59:59.999Z timestamp=48 sequence=0');

-- longer IDs take a second row
SELECT sno_diagram('brpk4q72xwf2m63l');
SELECT sno_diagram(make_sno('2079-09-07 15:47:35.548Z', 255, 65535, 0, 1));
SELECT sno_diagram(sno_nil());
SELECT ulid_diagram('01AR295ZG3KRC245DAXR3A5NJB');
SELECT ulid_diagram(ulid_max());

-- the diagram shows the bits of the ID
SELECT bool_and(regexp_replace(line, ' ', '', 'g')::bit(64)::bigint = id)
FROM (SELECT id, snowflake_diagram(id, layout) AS diagram
      FROM (VALUES (132271570944274432, 'snowflake'::snowflake_layout), (1517551833752155, 'si'),
          (9223372036854775807, 'discord'), (647203745351925759, 'sonyflake')) AS ids(id, layout)) AS drawn,
    regexp_match(diagram, '[01 ]+$') AS match(lines), unnest(lines) AS line;

-- invalid IDs and NULL
SELECT error_of('SELECT snowflake_diagram(-1)');
SELECT error_of($$SELECT snowflake_diagram(9007199254740992, 'si')$$);
SELECT snowflake_diagram(NULL), snowflake_diagram(1, NULL), sno_diagram(NULL), ulid_diagram(NULL);
