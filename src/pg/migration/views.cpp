#include "pg/migration/views.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
}

namespace snowdrift {
namespace {

// The queries run with a search path on which only pg_catalog has functions and operators. Their
// argument $1 is the view. With this path, PostgreSQL qualifies all other names in the results.

// The properties that are not restored: those that only another role can give to a view, and rare
// ones of the objects that a view consists of. A trigger, a rule or a default of a view is not a
// property, but an object that depends on it.
// The last two would be found by name again, perhaps as another object: PostgreSQL prints JOIN
// USING, CASE, NULLIF and IS DISTINCT FROM without their operators, and the types of arguments
// change.
constexpr const char* obstacle_query = R"(
WITH used AS (  -- apart from PostgreSQL's own objects
    SELECT refclassid, refobjid FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
    WHERE classid = 'pg_rewrite'::regclass AND ev_class = $1 AND rulename = '_RETURN'
)
SELECT CASE
    WHEN pg_get_userbyid(relowner) <> current_user THEN format('belongs to role %s', relowner::regrole)
    WHEN relpersistence = 't' THEN 'temporary'
    WHEN EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
        THEN 'belongs to an extension'
    WHEN NOT has_schema_privilege(relowner, relnamespace, 'CREATE')
        THEN format('its owner may not create it in schema %s', relnamespace::regnamespace)
    WHEN EXISTS (SELECT FROM aclexplode(relacl) WHERE grantor <> relowner)
        OR EXISTS (SELECT FROM pg_attribute, aclexplode(attacl) WHERE attrelid = c.oid AND grantor <> relowner)
        THEN 'has privileges that another role granted'
    WHEN EXISTS (SELECT FROM pg_type WHERE oid = reltype AND typacl IS NOT NULL)
        THEN 'its row type has privileges'
    WHEN EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = c.oid)
        OR EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
        THEN 'has a security label'
    WHEN EXISTS (SELECT FROM pg_description WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
        THEN 'its row type has a comment'
    WHEN EXISTS (SELECT FROM pg_description JOIN pg_rewrite AS r ON objoid = r.oid
            WHERE classoid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN')
        THEN 'its rule has a comment'
    WHEN EXISTS (SELECT FROM used WHERE refclassid = 'pg_operator'::regclass)
        THEN 'uses an operator that is not PostgreSQL''s own, which its definition may not show'
    WHEN EXISTS (SELECT FROM used JOIN pg_proc AS p ON refobjid = p.oid JOIN pg_proc AS other USING (pronamespace, proname)
            WHERE refclassid = 'pg_proc'::regclass AND other.oid <> p.oid)
        THEN 'uses a function that has variants with other arguments'
    END
FROM pg_class AS c WHERE oid = $1)";

// The schemas of a view and of all that it uses.
constexpr const char* schemas_query = R"(
SELECT nspname::text FROM pg_namespace JOIN pg_class AS c ON relnamespace = pg_namespace.oid WHERE c.oid = $1
UNION SELECT (parse_ident(schema))[1] FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid, pg_identify_object(refclassid, refobjid, 0)
WHERE classid = 'pg_rewrite'::regclass AND ev_class = $1 AND schema IS NOT NULL)";

// A new view has the default privileges of its owner, so they are revoked first. Privileges of
// columns and of the view are restored separately.
constexpr const char* create_query = R"(
WITH view AS (
    SELECT *, oid::regclass AS name FROM pg_class WHERE oid = $1
), default_acl AS (
    SELECT defaclacl FROM pg_default_acl JOIN view ON defaclrole = relowner
    WHERE defaclobjtype = 'r' AND defaclnamespace IN (0, relnamespace)
), view_acl AS (
    SELECT oid, name, relowner, coalesce(relacl, acldefault('r', relowner)) AS acl FROM view
    WHERE relacl IS NOT NULL OR EXISTS (SELECT FROM default_acl)
), revoked AS (
    SELECT relowner AS grantee FROM view_acl
    UNION SELECT grantee FROM default_acl, aclexplode(defaclacl)
), granted AS (
    SELECT grantee, is_grantable, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS privileges
    FROM view_acl, aclexplode(acl) GROUP BY grantee, is_grantable
    UNION ALL
    SELECT grantee, is_grantable,
        string_agg(format('%s (%I)', privilege_type, attname), ', ' ORDER BY attnum, privilege_type)
    FROM pg_attribute, aclexplode(attacl) WHERE attrelid = $1 GROUP BY grantee, is_grantable
), statements(step, subject, statement) AS (
    SELECT 1, 0::oid, format(E'CREATE VIEW %s%s AS\n%s', name,
        (SELECT format(' WITH (%s)', string_agg(format('%I = %L', option_name, option_value), ', '))
            FROM pg_options_to_table(reloptions) HAVING count(*) > 0),
        rtrim(pg_get_viewdef(oid), ';')) FROM view
    UNION ALL
    SELECT 2, 0::oid, format('ALTER VIEW %s OWNER TO %s', name, relowner::regrole) FROM view
    UNION ALL
    SELECT 3, 0::oid, format('REVOKE ALL ON %s FROM %s', name, (SELECT string_agg(
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, ', ' ORDER BY grantee) FROM revoked))
    FROM view_acl
    UNION ALL
    SELECT 4, grantee, format('GRANT %s ON %s TO %s%s', privileges, name,
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
    FROM granted, view
    UNION ALL
    SELECT 5, objsubid::oid, format('COMMENT ON %s IS %L', CASE objsubid WHEN 0 THEN format('VIEW %s', name) ELSE
        format('COLUMN %s.%I', name, (SELECT attname FROM pg_attribute WHERE attrelid = oid AND attnum = objsubid)) END,
        description)
    FROM pg_description JOIN view ON objoid = oid WHERE classoid = 'pg_class'::regclass
)
SELECT statement FROM statements ORDER BY step, subject, statement)";

// The settings of pg_dump, with which definitions contain exact constants that mean the same with
// any settings.
constexpr const char* settings[][2] = {{"search_path", "pg_catalog, pg_temp"},
                                       {"datestyle", "ISO"},
                                       {"intervalstyle", "postgres"},
                                       {"extra_float_digits", "3"}};

/// The strings in the first column of a query's result, null for nulls, as a List of char *. Reads
/// the current catalogs, also if the transaction's snapshot is older.
List* query(const char* text, Oid view) {
    const int level = NewGUCNestLevel();
    for (const auto& [name, value] : settings)
        (void)set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                                false);
    Oid type = OIDOID;
    Datum argument = ObjectIdGetDatum(view);
    SPIPlanPtr plan = SPI_prepare(text, 1, &type);
    if (plan == nullptr || SPI_execute_snapshot(plan, &argument, nullptr, GetLatestSnapshot(),
                                                InvalidSnapshot, true, false, 0) != SPI_OK_SELECT)
        elog(ERROR, "could not read the properties of view \"%s\"", get_rel_name(view));
    List* results = NIL;
    for (uint64 i = 0; i < SPI_processed; ++i)
        results = lappend(results, SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1));
    AtEOXact_GUC(true, level);
    return results;
}

}  // namespace

const char* obstacle_to_create(const ObjectAddress& object) {
    if (object.classId != RelationRelationId || object.objectSubId != 0 ||
        get_rel_relkind(object.objectId) != RELKIND_VIEW)
        return "";
    return static_cast<const char*>(linitial(query(obstacle_query, object.objectId)));
}

List* schemas_in(Oid view) { return query(schemas_query, view); }

List* statements_to_create(Oid view) { return query(create_query, view); }

}  // namespace snowdrift
