// The generators of other extensions, which the benchmark measures where they are installed.
#include "bench.hpp"

namespace snowdrift::bench {
namespace {

struct Known {
    const char* project;
    const char* extension;
    const char* schema;     ///< required by the extension, or created for it
    const char* function;   ///< without its schema and arguments
    const char* arguments;  ///< the types, as in a regprocedure
    const char* argument;   ///< NULL::int if the function takes none
    const char* type;       ///< of its IDs; % stands for the schema
    const char* setting;    ///< that the extension requires; empty if none
};

constexpr Known known_peers[] = {
    {"pgx_ulid", "pgx_ulid", "peer_pgx_ulid", "gen_ulid", "", "NULL::int", "%.ulid", ""},
    {"pg-ulid", "ulid", "peer_ulid", "gen_ulid", "", "NULL::int", "%.ulid", ""},
    {"pg_uuidv7", "pg_uuidv7", "peer_uuidv7", "uuid_generate_v7", "", "NULL::int", "uuid", ""},
    {"pgEdge snowflake", "snowflake", "snowflake", "nextval", "regclass",
     "'snowflake.id_seq'::regclass", "bigint", "snowflake.node = 1"},
};

/// Whether the server has the extension's control file. The view pg_available_extensions ignores
/// Debian's extension_destdir.
bool is_installed(pqxx::connection& connection, const std::string& extension) {
    return text(connection,
                "SELECT '" + extension +
                    "' IN (SELECT name FROM pg_available_extensions)"
                    " OR (pg_stat_file(current_setting('extension_destdir', true) || setting ||"
                    " '/extension/" +
                    extension +
                    ".control', true)).size IS NOT NULL"
                    " FROM pg_config WHERE name = 'SHAREDIR'") == "t";
}

}  // namespace

std::vector<Peer> create_peers(pqxx::connection& connection) {
    std::vector<Peer> peers;
    for (const Known& known : known_peers) {
        const std::string extension = known.extension;
        if (!is_installed(connection, extension)) continue;
        const std::string schema = known.schema;
        run(connection, "CREATE SCHEMA " + schema);
        run(connection, "CREATE EXTENSION " + extension + " SCHEMA " + schema);
        if (*known.setting != '\0')
            run(connection,
                "ALTER DATABASE " + std::string{connection.dbname()} + " SET " + known.setting);
        const std::string version = text(
            connection, "SELECT extversion FROM pg_extension WHERE extname = '" + extension + "'");
        const std::string function = schema + "." + known.function;
        peers.push_back({std::string{known.function} + "() of " + known.project,
                         known.project + (" " + version), function + "()",
                         function + "(" + known.arguments + ")", known.argument,
                         filled(known.type, schema)});
    }
    return peers;
}

}  // namespace snowdrift::bench
