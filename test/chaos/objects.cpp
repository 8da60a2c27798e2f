// The objects in the databases of the clients.
#include "chaos/client.hpp"

namespace snowdrift::chaos {

std::vector<Generator> generators_of(unsigned number) {
    // The named generators of a server have a node of their own. The two Snowflake generators share
    // it by dividing the sequence; the narrow one makes calls wait.
    const std::string datacenter = std::to_string(16 + number / 32);
    const std::string worker = std::to_string(number % 32);
    const std::string node = "datacenter => " + datacenter + ", worker => " + worker;
    const auto generator = [](const char* name, const std::string& arguments) {
        return Generator{
            name, std::string{"SELECT snowdrift.create_generator('"} + name + "', " + arguments +
                      ") WHERE NOT EXISTS (SELECT FROM snowdrift_tables.generator WHERE name = '" +
                      name + "');\n"};
    };
    return {
        generator("own", "'snowflake', " + node + ", sequence_min => 4, sequence_max => 4095"),
        generator("narrow", "'snowflake', " + node + ", sequence_min => 0, sequence_max => 3"),
        generator("own sno", "'sno', partition => " + std::to_string(512 + number)),
    };
}

namespace {

std::string create_extension(unsigned number) {
    std::string statements = "CREATE EXTENSION snowdrift;\n";
    for (const Generator& generator : generators_of(number)) statements += generator.create;
    return statements +
           "CREATE TABLE rows (batch bigint, snowflake bigint DEFAULT next_snowflake(),"
           " own bigint DEFAULT next_snowflake('own'), sno sno DEFAULT next_sno(),"
           " own_sno sno DEFAULT next_sno('own sno'), ulid ulid DEFAULT next_ulid(),"
           " uuid uuid DEFAULT next_uuidv7());\n"
           "CREATE INDEX ON rows (batch) WHERE batch IS NOT NULL;\n";
}

}  // namespace

std::string create_objects(unsigned number) {
    return create_extension(number) +
           "SELECT snowdrift.create_seal('posts');\n"
           "CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), sealed uuid NOT "
           "NULL,"
           " server integer NOT NULL DEFAULT " +
           std::to_string(number) + ");\n" + create_feeds();
}

std::string recreate_objects(unsigned number) {
    // Of the sessions of a deadlock, the first whose wait takes this long gets the error.
    return "SET LOCAL deadlock_timeout = '10s';\n"
           "CREATE TEMPORARY TABLE kept_key ON COMMIT DROP AS TABLE snowdrift_tables.seal_key;\n"
           "DROP TABLE rows;\nDROP EXTENSION snowdrift CASCADE;\n" +
           create_extension(number) +
           "INSERT INTO snowdrift_tables.seal_key TABLE kept_key;\n"
           "ALTER TABLE posts ALTER id SET DEFAULT next_snowflake();\n" +
           restore_feeds();
}

}  // namespace snowdrift::chaos
