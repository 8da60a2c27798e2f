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

-- ten bytes that look random, and are the same in every run
CREATE FUNCTION noise(n bigint) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(decode(md5(n::text), 'hex'), 1, 10);
