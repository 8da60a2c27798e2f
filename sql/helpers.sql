-- Helper functions of the tests

-- error_of(QUERY): the error that the query raises
CREATE FUNCTION error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text;
BEGIN
    EXECUTE query;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', sqlstate || ': ' || message, 'DETAIL: ' || nullif(detail, ''),
        'HINT: ' || nullif(hint, ''));
END $$;

-- soft_error_of(INPUT, TYPE): the error of invalid input for a type; a soft error from PostgreSQL 16 on
CREATE FUNCTION soft_error_of(input text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE error text;
BEGIN
    IF current_setting('server_version_num')::int < 160000 THEN
        RETURN error_of(format('SELECT %L::%s', input, type));
    END IF;
    EXECUTE $query$
        SELECT concat_ws(E'\n', sql_error_code || ': ' || message, 'DETAIL: ' || detail,
            'HINT: ' || hint) FROM pg_input_error_info($1, $2)
    $query$ INTO error USING input, type;
    RETURN coalesce(nullif(error, ''), 'no error');
END $$;

-- plan_of(QUERY): the nodes of the plan from the top down, in the same words on all versions
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (SELECT string_agg(concat(nullif(node->>'Strategy', 'Plain') || ' ', node->>'Node Type',
            ' on ' || coalesce(node->>'Index Name', node->>'Relation Name')), ', ' ORDER BY n)
        FROM jsonb_path_query(plan, 'strict $.** ? (exists (@."Node Type"))')
            WITH ORDINALITY AS nodes(node, n));
END $$;

-- explain(QUERY): the output of EXPLAIN, without the lines that PostgreSQL 18 adds for disabled nodes, and
-- PostgreSQL 19 for what a Result replaces
CREATE FUNCTION explain(query text) RETURNS TABLE (plan text) LANGUAGE plpgsql AS $$
BEGIN
    FOR plan IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF plan !~ '^ *(Disabled: true$|Replaces: )' THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- scans_of(QUERY): the tables in the query's plan, and whether it reads them
CREATE FUNCTION scans_of(query text) RETURNS TABLE (relation text, is_executed boolean) LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN QUERY SELECT node->>'Relation Name', (node->'Actual Loops')::float > 0
    FROM jsonb_path_query(plan, 'strict $.** ? (exists (@."Relation Name"))') AS node ORDER BY 1;
END $$;

-- estimate_of(QUERY): the rows that the planner expects, or another number of its plan
CREATE FUNCTION estimate_of(query text, number text DEFAULT 'Plan Rows') RETURNS float LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->number;
END $$;

-- noise(N): ten pseudorandom bytes, the same in every run
CREATE FUNCTION noise(n bigint) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(decode(md5(n::text), 'hex'), 1, 10);

-- moments(): times at the limits of the formats, and around them
CREATE FUNCTION moments() RETURNS SETOF timestamptz LANGUAGE sql BEGIN ATOMIC
    SELECT base + delta FROM
        (VALUES ('1970-01-01Z'::timestamptz), ('2010-01-01Z'), ('2021-01-01Z'),
            ('2026-11-21 12:00:00.004Z'), ('2079-09-07 15:47:35.548Z'), ('2090-09-07 15:47:35.551Z'),
            ('10889-08-02 05:31:50.655Z')) AS bases(base),
        (VALUES (interval '-4 ms'), ('-1 us'), ('0'), ('1 us'), ('999 us'), ('4 ms')) AS deltas(delta)
    UNION ALL VALUES ('-infinity'::timestamptz), ('infinity'), ('4714-11-24 00:00Z BC'), ('294276-12-31Z'), (NULL);
END;

-- ranges(): all ranges of these times
CREATE FUNCTION ranges() RETURNS SETOF tstzrange LANGUAGE sql BEGIN ATOMIC
    SELECT tstzrange(a, b, bounds)
    FROM moments() AS a, moments() AS b, (VALUES ('[)'), ('[]'), ('()'), ('(]')) AS kinds(bounds)
    WHERE a <= b OR a IS NULL OR b IS NULL
    UNION ALL VALUES ('empty'::tstzrange), (NULL);
END;

-- disagreements(TABLE, PREDICATE, EXPECTED, SCAN): for how many random ranges the predicate does not find the same number
-- of rows as the expected condition does
CREATE FUNCTION disagreements(source text, predicate text, expected text, scan text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE range tstzrange; found bigint; meant bigint; wrong bigint = 0;
BEGIN
    PERFORM setseed(0.5);
    -- Thousands of queries: don't start parallel workers for each, even if the test run forces parallel mode.
    PERFORM set_config(name, 'off', true) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
    PERFORM set_config('enable_seqscan', (scan = 'seq')::text, true),
        set_config('enable_indexscan', (scan = 'index')::text, true),
        set_config('enable_indexonlyscan', (scan = 'index')::text, true),
        set_config('enable_bitmapscan', 'off', true);
    FOR range IN
        SELECT tstzrange(least(a, b), greatest(a, b), ('{[],[),(],()}'::text[])[1 + trunc(4 * random())])
        FROM (SELECT CASE WHEN random() < 0.95 THEN moment + random() * interval '140 ms' END AS a,
                CASE WHEN random() < 0.95 THEN moment + random() * interval '140 ms' END AS b
            FROM (VALUES ('2025-12-31 23:59:59.99Z'::timestamptz)) AS moments(moment),
                generate_series(1, 2000) OFFSET 0) AS pairs
    LOOP
        EXECUTE format('SELECT count(*) FROM %I WHERE %s', source, predicate) INTO found USING range;
        EXECUTE format('SELECT count(*) FROM %I WHERE %s', source, expected) INTO meant USING range;
        wrong = wrong + (found <> meant)::int;
    END LOOP;
    RETURN wrong;
END $$;
