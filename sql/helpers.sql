-- What the tests share

-- the error that a statement ends with
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

-- the same for a text that a type does not take: softly, from PostgreSQL 16 on
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

-- the nodes of a plan from the top down, in words that all versions share
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (SELECT string_agg(concat(nullif(node->>'Strategy', 'Plain') || ' ', node->>'Node Type',
            ' on ' || coalesce(node->>'Index Name', node->>'Relation Name')), ', ' ORDER BY n)
        FROM jsonb_path_query(plan, 'strict $.** ? (exists (@."Node Type"))')
            WITH ORDINALITY AS nodes(node, n));
END $$;

-- what EXPLAIN shows, but for the remark of PostgreSQL 18 that a node is of a kind that is disabled
CREATE FUNCTION explain(query text) RETURNS TABLE (plan text) LANGUAGE plpgsql AS $$
BEGIN
    FOR plan IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF plan !~ '^ *Disabled: true$' THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- ten bytes that look random, and are the same in every run
CREATE FUNCTION noise(n bigint) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(decode(md5(n::text), 'hex'), 1, 10);
