-- The extension, and helper functions of the tests
CREATE EXTENSION snowdrift;

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
