-- The planner's estimates of the rows in ranges of time. ANALYZE reads all rows of tables of this size, so the estimates
-- do not depend on a random sample.

-- 30000 rows, 3 per hour, until 2027-02-21 16:00. A bucket of the histogram is 100 hours.
CREATE TABLE events (ulid ulid, sno sno, snowflake bigint, uuid uuid) WITH (autovacuum_enabled = off);
CREATE FUNCTION insert_events(first int, last int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO events SELECT ulid_at(t), make_sno(t, 0, 0, 0), make_snowflake(t, 0, 0, 0), uuidv7_at(t)
    FROM generate_series(first, last) AS n, LATERAL (SELECT '2026-01-01Z'::timestamptz + n * interval '20 min' AS t) AS times;
$$;
SELECT insert_events(0, 29999);
CREATE INDEX ON events (ulid);
CREATE INDEX ON events (sno);
CREATE INDEX ON events (snowflake);
CREATE INDEX ON events (uuid);
ANALYZE events;
-- rows_where(CONDITION): the rows of the table events that the planner expects
CREATE FUNCTION rows_where(condition text) RETURNS float LANGUAGE sql RETURN estimate_of('SELECT * FROM events WHERE ' || condition);
-- cost_of(QUERY): the total cost of its plan
CREATE FUNCTION cost_of(query text) RETURNS float LANGUAGE sql RETURN estimate_of(query, 'Total Cost');

-- Estimates are within a factor of 2 of the rows, for ranges in one bucket and for those of several.
-- %1$L and %2$L are the range's bounds, and %3$L is the range.
SELECT condition, count(*) AS ranges, count(*) FILTER (WHERE rows BETWEEN expected / 2 AND expected * 2) AS good
FROM (VALUES ('ulid_within(ulid, %3$L)'), ('sno_within(sno, %3$L)'), ('snowflake_within(snowflake, %3$L)'), ('uuidv7_within(uuid, %3$L)'),
        ('ulid >= %1$L::timestamptz AND ulid < %2$L::timestamptz'),
        ('%2$L::timestamptz >= sno AND %1$L::timestamptz < sno'),
        ('ulid > ulid_boundary(%1$L) AND ulid <= ulid_boundary(%2$L)'),
        ('ulid_boundary(%2$L) > ulid AND ulid_boundary(%1$L) <= ulid')) AS conditions(condition),
    (VALUES (interval '4 hours', 12), ('1 day', 72), ('30 days', 2160)) AS spans(span, expected),
    generate_series(timestamptz '2026-01-02 05:00Z', '2026-11-30Z', '12 days 07:00') AS start,
    rows_where(format(condition, start, start + span, tstzrange(start, start + span))) AS rows
GROUP BY condition ORDER BY condition COLLATE "C";

-- Few rows are expected in an empty range, and before and after the times of all rows.
SELECT condition, max(rows_where(format(condition, range))) < 10 AS few
FROM (VALUES ('ulid_within(ulid, %L)'), ('sno_within(sno, %L)'), ('uuidv7_within(uuid, %L)')) AS conditions(condition),
    (VALUES ('empty'), ('[2020-01-01Z,2021-01-01Z)'), ('[2030-01-01Z,)')) AS ranges(range)
GROUP BY condition ORDER BY condition COLLATE "C";

-- If the times are not known when the query is planned, 0.5 % of the rows are expected in a range, and a third of the
-- rows on one side of a time. Costs are similar for all types.
CREATE TABLE ranges (range tstzrange);
SELECT condition, rows_where(condition) AS rows, cost_of('SELECT * FROM events WHERE ' || condition)
    / cost_of('SELECT * FROM events WHERE snowflake_within(snowflake, (SELECT range FROM ranges LIMIT 1))') BETWEEN 0.8 AND 1.2 AS same_cost
FROM unnest('{"ulid_within(ulid, %s)","sno_within(sno, %s)","snowflake_within(snowflake, %s)","uuidv7_within(uuid, %s)"}'::text[]) AS template,
    format(template, '(SELECT range FROM ranges LIMIT 1)') AS condition;
SET plan_cache_mode = force_generic_plan;
PREPARE between_ulids(ulid, ulid) AS SELECT * FROM events WHERE ulid >= $1 AND ulid < $2;
PREPARE ulid_from(timestamptz) AS SELECT * FROM events WHERE ulid >= $1;
PREPARE sno_before(timestamptz) AS SELECT * FROM events WHERE sno < $1;
SELECT query, estimate_of(query) AS rows
FROM (VALUES ('EXECUTE between_ulids(ulid_nil(), ulid_max())'), ('EXECUTE ulid_from(now())'), ('EXECUTE sno_before(now())'),
    ('SELECT * FROM events WHERE ulid >= (SELECT now())')) AS queries(query);
RESET plan_cache_mode;

-- Rows that are newer than the statistics are estimated too: the last bucket ends at the last ID of the index.
SELECT insert_events(30000, 30149);
SELECT condition, rows_where(format(condition, '[2027-02-22 16:00Z,2027-02-23 16:00Z)')) BETWEEN 72 / 2 AND 72 * 2 AS good
FROM (VALUES ('ulid_within(ulid, %L)'), ('sno_within(sno, %L)'), ('snowflake_within(snowflake, %L)'), ('uuidv7_within(uuid, %L)')) AS conditions(condition);

-- Queries on ulid and sno have the same estimates as those on bigint, and similar costs. The IDs of the columns are
-- unique, repeated, or often null.
CREATE TABLE twins AS
SELECT n, n % 7 AS k, ulid_boundary(t) AS ulid, sno_boundary(t) AS sno, snowflake_boundary(t) AS snowflake,
    ulid_boundary(day) AS ulid_repeated, sno_boundary(day) AS sno_repeated, snowflake_boundary(day) AS snowflake_repeated,
    ulid_boundary(t_or_null) AS ulid_nullable, sno_boundary(t_or_null) AS sno_nullable, snowflake_boundary(t_or_null) AS snowflake_nullable
FROM generate_series(0, 29999) AS n,
    LATERAL (SELECT '2026-01-01Z'::timestamptz + n * n / 30 * interval '1 s' AS t, '2026-01-01Z'::timestamptz + n % 150 * interval '1 day' AS day) AS times,
    LATERAL (SELECT CASE WHEN n % 4 > 0 THEN t END AS t_or_null) AS nullable;
CREATE TABLE others AS SELECT n, k FROM twins WHERE n % 10 = 0;
-- on_column(STATEMENT, TYPE, SUFFIX): the statement with the column TYPE || SUFFIX instead of "id", and with the boundary
-- of the day, an ID of the type, instead of "@03-10"
CREATE FUNCTION on_column(statement text, type text, suffix text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE day text; t timestamptz;
BEGIN
    FOREACH day IN ARRAY '{03-10,03-11,03-12,03-13,05-10}'::text[] LOOP
        t := '2026-' || day || 'Z';
        statement := replace(statement, '@' || day, CASE type WHEN 'ulid' THEN format('%L::ulid', ulid_boundary(t))
            WHEN 'sno' THEN format('%L::sno', sno_boundary(t)) ELSE format('%L::bigint', snowflake_boundary(t)) END);
    END LOOP;
    RETURN regexp_replace(statement, '\mid\M', type || suffix, 'g');
END $$;
CREATE TABLE columns AS
SELECT type, suffix FROM unnest('{ulid,sno,snowflake}'::text[]) AS type, unnest('{"",_repeated,_nullable}'::text[]) AS suffix;
DO $$
DECLARE type text; suffix text;
BEGIN
    FOR type, suffix IN SELECT * FROM columns LOOP
        EXECUTE on_column('CREATE INDEX ON twins (k) WHERE id >= @03-10 AND id < @03-11', type, suffix);
        EXECUTE on_column('CREATE INDEX ON twins (id, n) WHERE id >= @03-10', type, suffix);
    END LOOP;
END $$;
ANALYZE twins, others;
-- is_like_bigint(QUERY, TYPE, SUFFIX): whether the planner expects the same of the query on the column of Snowflakes
CREATE FUNCTION is_like_bigint(query text, type text, suffix text) RETURNS boolean LANGUAGE sql
RETURN (SELECT abs(estimate_of(own) - estimate_of(of_bigint)) <= 1 AND cost_of(own) / cost_of(of_bigint) BETWEEN 0.6 AND 1.7
    FROM on_column(query, type, suffix) AS own, on_column(query, 'snowflake', suffix) AS of_bigint);
SELECT tables, count(*) AS columns, count(*) FILTER (WHERE is_like_bigint('SELECT * FROM ' || tables, type, suffix)) AS good
FROM columns, (VALUES ('twins WHERE id >= @03-12 AND id < @03-13'),
    ('twins WHERE id < @03-13 AND k = 3 AND id >= @03-12'),
    ('twins WHERE @03-13 >= id AND @03-12 < id'),
    ('twins WHERE id > @03-10 AND id > @03-12 AND id <= @03-13 AND id < @05-10'),
    ('twins WHERE id >= @03-12'),
    ('twins WHERE id < @03-12'),
    ('twins WHERE id > @05-10'),
    ('twins WHERE id >= @03-10 AND id < @03-12 OR id >= @03-13 AND id < @05-10'),
    ('twins WHERE NOT (id >= @03-12 AND id < @03-13)'),
    ('twins WHERE (id >= @03-12 AND id < @03-13) IS TRUE'),
    ('twins WHERE id > ANY (ARRAY[@03-12, @03-13])'),
    ('twins WHERE (id, n) > (@03-12, 3)'),
    -- The partial indexes have conditions on the IDs.
    ('twins WHERE k = 3 AND id >= @03-10 AND id < @03-11'),
    ('twins WHERE id < @03-12 AND id >= @03-10'),
    ('twins LEFT JOIN others ON twins.k = others.k AND id >= @03-12 AND id < @03-13'),
    ('twins JOIN others ON twins.k = others.k AND (others.n > 0 AND id >= @03-12 AND id < @03-13 OR others.n < 5 AND id < @03-12)'),
    ('twins AS t JOIN twins ON twins.id >= t.id AND twins.id < @03-13 WHERE t.n = 1')) AS queries(tables)
WHERE type <> 'snowflake' GROUP BY tables ORDER BY tables COLLATE "C";

-- Operators of other types can have the estimator: it returns its default for them.
CREATE OPERATOR <<< (LEFTARG = int, RIGHTARG = int, FUNCTION = int4lt, RESTRICT = snowdrift.id_inequality_sel);
CREATE OPERATOR <<< (RIGHTARG = date, FUNCTION = isfinite, RESTRICT = snowdrift.id_inequality_sel);
CREATE OPERATOR <<< (LEFTARG = anyarray, RIGHTARG = anyarray, FUNCTION = array_lt, RESTRICT = snowdrift.id_inequality_sel);
SELECT condition, estimate_of('SELECT * FROM others WHERE ' || condition) AS rows
FROM (VALUES ('k <<< 3'), ('<<< (''2026-01-01''::date + k)'), ('ARRAY[k] <<< ARRAY[3]'), ('k <<< 3 AND 2 <<< k')) AS conditions(condition);
DROP OPERATOR <<< (int, int), <<< (none, date), <<< (anyarray, anyarray);

DROP TABLE events, ranges, twins, others, columns;
DROP FUNCTION insert_events, rows_where, cost_of, on_column, is_like_bigint;
