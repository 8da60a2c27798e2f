-- Estimates of the rows in ranges of time. ANALYZE reads all rows of tables of this size, so the estimates do not depend
-- on a random sample.

-- cost_of(QUERY): the total cost of its plan
CREATE FUNCTION cost_of(query text) RETURNS float LANGUAGE sql RETURN estimate_of(query, 'Total Cost');
-- bound(TYPE, TIME): an ID as an SQL literal
CREATE FUNCTION bound(type text, t timestamptz) RETURNS text LANGUAGE sql AS $$
    SELECT CASE type WHEN 'ulid' THEN format('%L::ulid', ulid_boundary(t)) WHEN 'sno' THEN format('%L::sno', sno_boundary(t))
        ELSE format('%L::bigint', snowflake_boundary(t)) END
$$;
-- with_bounds(QUERY, TYPE, SUFFIX): the query on the columns TYPE || SUFFIX
CREATE FUNCTION with_bounds(query text, type text, suffix text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE word text; t timestamptz;
BEGIN
    FOR word, t IN VALUES ('start', '2026-03-10Z'::timestamptz), ('end', '2026-03-11Z'), ('low', '2026-03-12Z'),
            ('high', '2026-03-13 06:00Z'), ('last', '2026-05-10Z') LOOP
        query := regexp_replace(query, '\m' || word || '\M', bound(type, t), 'g');
    END LOOP;
    RETURN regexp_replace(query, '\mid\M', type || suffix, 'g');
END $$;

-- ranges with less than one bucket of the histogram, and with several
CREATE TABLE year WITH (autovacuum_enabled = off) AS
SELECT ulid_at(t) AS ulid, make_sno(t, 0, 0, 0) AS sno, make_snowflake(t, 0, 0, 0) AS snowflake, uuidv7_at(t) AS uuid
FROM (SELECT '2026-01-01Z'::timestamptz + n * interval '1051.2 s' AS t FROM generate_series(0, 29999) AS n) AS times;
CREATE INDEX ON year (ulid);
CREATE INDEX ON year (sno);
CREATE INDEX ON year (snowflake);
CREATE INDEX ON year (uuid);
ANALYZE year;
SELECT condition, span, bool_and(estimate BETWEEN rows / 2 AND rows * 2) AS within_a_factor_of_2
FROM (VALUES ('ulid_within(ulid, %3$L)'), ('sno_within(sno, %3$L)'), ('snowflake_within(snowflake, %3$L)'),
        ('uuidv7_within(uuid, %3$L)'), ('ulid >= %1$L::timestamptz AND ulid < %2$L::timestamptz'),
        ('%2$L::timestamptz >= sno AND %1$L::timestamptz < sno'), ('ulid > ulid_boundary(%1$L) AND ulid <= ulid_boundary(%2$L)'),
        ('ulid_boundary(%2$L) > ulid AND ulid_boundary(%1$L) <= ulid')) AS conditions(condition),
    (VALUES (interval '4 hours'), ('1 day'), ('30 days')) AS spans(span),
    generate_series(timestamptz '2026-01-02 05:00Z', '2026-11-30Z', '12 days 07:00') AS start,
    estimate_of(format('SELECT * FROM year WHERE ' || condition, start, start + span, tstzrange(start, start + span))) AS estimate,
    LATERAL (SELECT extract(epoch FROM span) / 1051.2 AS rows) AS expected
GROUP BY condition, span ORDER BY condition COLLATE "C", span;
-- no times, and times before and after those of all rows
SELECT condition, max(estimate) < 10 AS few
FROM (VALUES ('ulid_within(ulid, %L)'), ('sno_within(sno, %L)'), ('uuidv7_within(uuid, %L)')) AS conditions(condition),
    (VALUES ('empty'), ('[2020-01-01Z,2021-01-01Z)'), ('[2030-01-01Z,)')) AS ranges(range),
    estimate_of(format('SELECT * FROM year WHERE ' || condition, range)) AS estimate
GROUP BY condition ORDER BY condition COLLATE "C";
-- times that are not known at planning
CREATE TABLE ranges (range tstzrange);
INSERT INTO ranges VALUES ('[2026-07-01Z,2026-07-05Z)');
SELECT condition, estimate_of(query) AS rows,
    cost_of(query) / cost_of('SELECT * FROM year WHERE snowflake_within(snowflake, (SELECT range FROM ranges LIMIT 1))') BETWEEN 0.8 AND 1.2 AS same_cost
FROM (VALUES ('ulid_within(ulid, (SELECT range FROM ranges LIMIT 1))'), ('sno_within(sno, (SELECT range FROM ranges LIMIT 1))'),
        ('snowflake_within(snowflake, (SELECT range FROM ranges LIMIT 1))'), ('uuidv7_within(uuid, (SELECT range FROM ranges LIMIT 1))')) AS conditions(condition),
    LATERAL (SELECT 'SELECT * FROM year WHERE ' || condition) AS queries(query);
SET plan_cache_mode = force_generic_plan;
PREPARE between_ulids(ulid, ulid) AS SELECT * FROM year WHERE ulid >= $1 AND ulid < $2;
SELECT estimate_of('EXECUTE between_ulids(ulid_nil(), ulid_max())') AS generic_plan;
PREPARE one_bound(timestamptz) AS SELECT * FROM year WHERE ulid >= $1;
PREPARE other_bound(timestamptz) AS SELECT * FROM year WHERE sno < $1;
SELECT query, round(estimate_of(query)::numeric / count, 2) AS share
FROM (SELECT count(*) FROM year) AS year, unnest('{EXECUTE one_bound(now()),EXECUTE other_bound(now())}'::text[]) AS query;
RESET plan_cache_mode;
SELECT round(estimate_of('SELECT * FROM year WHERE ulid >= (SELECT now())')::numeric / count(*), 2) AS share FROM year;
-- rows that are newer than the statistics: the last bucket of the histogram ends at the last ID of the index
INSERT INTO year SELECT ulid_at(t), make_sno(t, 0, 0, 0), make_snowflake(t, 0, 0, 0), uuidv7_at(t)
FROM (SELECT '2027-01-01Z'::timestamptz + n * interval '1051.2 s' AS t FROM generate_series(0, 299) AS n) AS times;
SELECT condition, estimate BETWEEN 40 AND 160 AS good
FROM (VALUES ('ulid_within(ulid, %L)'), ('sno_within(sno, %L)'), ('snowflake_within(snowflake, %L)'),
        ('uuidv7_within(uuid, %L)')) AS conditions(condition),
    estimate_of(format('SELECT * FROM year WHERE ' || condition, '[2027-01-02Z,2027-01-03Z)'::tstzrange)) AS estimate
ORDER BY condition COLLATE "C";

-- Queries on ulid and sno have the same estimates as those on bigint, and similar costs: 6 columns, with IDs that are
-- unique, repeated, or often null
CREATE TABLE twins AS
SELECT n, n % 7 AS k, ulid_boundary(t) AS ulid, sno_boundary(t) AS sno, snowflake_boundary(t) AS snowflake,
    ulid_boundary(r) AS ulid_r, sno_boundary(r) AS sno_r, snowflake_boundary(r) AS snowflake_r,
    CASE WHEN n % 4 > 0 THEN ulid_boundary(t) END AS ulid_n, CASE WHEN n % 4 > 0 THEN sno_boundary(t) END AS sno_n,
    CASE WHEN n % 4 > 0 THEN snowflake_boundary(t) END AS snowflake_n
FROM (SELECT n, '2026-01-01Z'::timestamptz + n * n / 30 * interval '1 s' AS t, '2026-01-01Z'::timestamptz + n % 150 * interval '1 day' AS r
    FROM generate_series(0, 29999) AS n) AS times;
CREATE TABLE others AS SELECT n, k FROM twins WHERE n % 10 = 0;
DO $$
DECLARE statement text;
BEGIN
    FOR statement IN SELECT format('CREATE INDEX ON twins (k) WHERE %1$s >= %2$s AND %1$s < %3$s;
            CREATE INDEX ON twins (%1$s, n) WHERE %1$s >= %2$s', id || suffix, bound(id, '2026-03-10Z'), bound(id, '2026-03-11Z'))
        FROM (VALUES ('ulid'), ('sno'), ('snowflake')) AS ids(id), (VALUES (''), ('_r'), ('_n')) AS suffixes(suffix)
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
ANALYZE twins, others;
SELECT query, count(*) FILTER (WHERE abs(estimate_of(of_id) - estimate_of(of_bigint)) <= 1 AND cost_of(of_id) / cost_of(of_bigint) BETWEEN 0.6 AND 1.7) AS same
FROM (VALUES ('SELECT * FROM twins WHERE id >= low AND id < high'),
        ('SELECT * FROM twins WHERE id < high AND k = 3 AND id >= low'),
        ('SELECT * FROM twins WHERE high >= id AND low < id'),
        ('SELECT * FROM twins WHERE id > start AND id > low AND id <= high AND id < last'),
        ('SELECT * FROM twins WHERE id >= low'),
        ('SELECT * FROM twins WHERE id < low'),
        ('SELECT * FROM twins WHERE id > last'),
        ('SELECT * FROM twins WHERE id >= start AND id < low OR id >= high AND id < last'),
        ('SELECT * FROM twins WHERE NOT (id >= low AND id < high)'),
        ('SELECT * FROM twins WHERE (id >= low AND id < high) IS TRUE'),
        ('SELECT * FROM twins WHERE id > ANY (ARRAY[low, high])'),
        ('SELECT * FROM twins WHERE (id, n) > (low, 3)'),
        ('SELECT * FROM twins WHERE k = 3 AND id >= start AND id < end'),
        ('SELECT * FROM twins WHERE id < low AND id >= start'),
        ('SELECT * FROM twins LEFT JOIN others ON twins.k = others.k AND id >= low AND id < high'),
        ('SELECT * FROM twins JOIN others ON twins.k = others.k AND (others.n > 0 AND id >= low AND id < high OR others.n < 5 AND id < low)'),
        ('SELECT * FROM twins AS t JOIN twins ON twins.id >= t.id AND twins.id < high WHERE t.n = 1')) AS queries(query),
    (VALUES ('ulid'), ('sno')) AS ids(id), (VALUES (''), ('_r'), ('_n')) AS suffixes(suffix),
    with_bounds(query, id, suffix) AS of_id, with_bounds(query, 'snowflake', suffix) AS of_bigint
GROUP BY query ORDER BY query COLLATE "C";
-- Operators of other types can have the estimator.
CREATE OPERATOR <<< (LEFTARG = int, RIGHTARG = int, FUNCTION = int4lt, RESTRICT = snowdrift.id_inequality_sel);
CREATE OPERATOR <<< (RIGHTARG = date, FUNCTION = isfinite, RESTRICT = snowdrift.id_inequality_sel);
CREATE OPERATOR <<< (LEFTARG = anyarray, RIGHTARG = anyarray, FUNCTION = array_lt, RESTRICT = snowdrift.id_inequality_sel);
SELECT condition, estimate_of('SELECT * FROM others WHERE ' || condition) AS rows
FROM (VALUES ('k <<< 3'), ('<<< (''2026-01-01''::date + k)'), ('ARRAY[k] <<< ARRAY[3]'), ('k <<< 3 AND 2 <<< k')) AS conditions(condition);
DROP OPERATOR <<< (int, int), <<< (none, date), <<< (anyarray, anyarray);

DROP TABLE year, ranges, twins, others;
DROP FUNCTION with_bounds, bound, cost_of;
