// The ID types as libpqxx values, on the server that PGHOST names, with the libpqxx that is
// installed.
#include <gtest/gtest.h>

#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "sessions.hpp"
#include "snowdrift/pqxx.hpp"

namespace snowdrift::test {
namespace {

/// Runs a statement with parameters, in the way of each version of libpqxx.
template <typename... Parameters>
pqxx::result run_with(pqxx::transaction_base& transaction, const std::string& statement,
                      const Parameters&... parameters) {
#if PQXX_VERSION_MAJOR >= 7
    return transaction.exec(statement, pqxx::params{parameters...});
#else
    return transaction.exec_params(statement, parameters...);
#endif
}

/// The IDs in a field that is an array, in the way of each version.
template <typename T, typename Field>
std::vector<T> array_of(const Field& field) {
#if PQXX_VERSION_MAJOR >= 8
    const auto array = field.template as<pqxx::array<T>>();
    return {array.cbegin(), array.cend()};
#elif PQXX_VERSION_MAJOR == 7
    const auto array = field.template as_sql_array<T>();
    return {array.cbegin(), array.cend()};
#else
    return field.template as<std::vector<T>>();
#endif
}

using SiId = SnowflakeOf<presets::si>;

template <typename T>
const char* sql_type;
template <>
const char* sql_type<Ulid> = "ulid";
template <>
const char* sql_type<Uuidv7> = "uuid";
template <>
const char* sql_type<Sno> = "sno";
template <>
const char* sql_type<Snowflake> = "bigint";
template <>
const char* sql_type<SiId> = "bigint";

/// A table with IDs, and a transaction that is rolled back.
template <typename T>
class PqxxValues : public Server {
 protected:
    void SetUp() override {
        transaction.exec(std::string{"CREATE TEMPORARY TABLE items (id "} + sql_type<T> +
                         ", body text)");
    }

    pqxx::connection connection;
    pqxx::work transaction{connection};
    const std::string type = sql_type<T>;
    const T first = T::boundary(time_of(1767225600000));
    const T second = T::boundary(time_of(1767225660000));
};

using Types = testing::Types<Ulid, Uuidv7, Sno, Snowflake, SiId>;
TYPED_TEST_SUITE(PqxxValues, Types);

TYPED_TEST(PqxxValues, AreParametersAndResults) {
    const auto result =
        run_with(this->transaction, "INSERT INTO items VALUES ($1, 'a'), ($2, 'b') RETURNING id",
                 this->first, this->second);
    EXPECT_EQ(result[0][0].template as<TypeParam>(), this->first);
    EXPECT_EQ(result[1][0].template as<TypeParam>(), this->second);
    const auto found =
        run_with(this->transaction, "SELECT body FROM items WHERE id > $1", this->first);
    EXPECT_EQ(found.size(), 1);
    EXPECT_EQ(found[0][0].template as<std::string>(), "b");
}

TYPED_TEST(PqxxValues, AreNullAsOptionals) {
    const std::optional<TypeParam> none;
    const auto result =
        run_with(this->transaction, "SELECT $1::" + this->type + ", $2::" + this->type, none,
                 std::optional{this->first});
    EXPECT_EQ(result[0][0].template as<std::optional<TypeParam>>(), none);
    EXPECT_EQ(result[0][1].template as<std::optional<TypeParam>>(), this->first);
    EXPECT_EQ(result[0][0].template as<TypeParam>(this->second), this->second);
    EXPECT_ANY_THROW((void)result[0][0].template as<TypeParam>());
}

TYPED_TEST(PqxxValues, AreElementsOfArrays) {
    const std::vector<TypeParam> ids{this->first, this->second};
    const auto result = run_with(
        this->transaction, "SELECT $1::" + this->type + "[], $2 = ANY ($1::" + this->type + "[])",
        ids, this->second);
    EXPECT_EQ(array_of<TypeParam>(result[0][0]), ids);
    EXPECT_TRUE(result[0][1].template as<bool>());
    const auto none =
        run_with(this->transaction, "SELECT $1::" + this->type + "[]", std::vector<TypeParam>{});
    EXPECT_EQ(array_of<TypeParam>(none[0][0]), std::vector<TypeParam>{});
}

TYPED_TEST(PqxxValues, AreCopiedByStreamTo) {
    const std::optional<TypeParam> none;
#if PQXX_VERSION_MAJOR >= 7
    auto stream = pqxx::stream_to::table(this->transaction, {"items"}, {"id", "body"});
    stream.write_values(this->first, "a");
    stream << std::make_tuple(this->second, "b");
    stream.write_values(none, "c");
#else
    pqxx::stream_to stream{this->transaction, "items", std::vector<std::string>{"id", "body"}};
    stream << std::make_tuple(this->first, "a") << std::make_tuple(this->second, "b")
           << std::make_tuple(none, "c");
#endif
    stream.complete();
    const auto rows = this->transaction.exec("SELECT id FROM items ORDER BY body");
    ASSERT_EQ(rows.size(), 3);
    EXPECT_EQ(rows[0][0].template as<TypeParam>(), this->first);
    EXPECT_EQ(rows[1][0].template as<TypeParam>(), this->second);
    EXPECT_TRUE(rows[2][0].is_null());
}

TYPED_TEST(PqxxValues, AreReadByStreams) {
    using Row = std::tuple<TypeParam, std::optional<TypeParam>, std::string>;
    run_with(this->transaction, "INSERT INTO items VALUES ($1, 'a'), ($2, 'b')", this->first,
             this->second);
    std::vector<Row> rows;
#if PQXX_VERSION_MAJOR >= 7
    for (const auto& [id, other, body] :
         this->transaction.template stream<TypeParam, std::optional<TypeParam>, std::string_view>(
             "SELECT id, nullif(id, '" + to_string(this->first) +
             "'), body FROM items ORDER BY id"))
        rows.emplace_back(id, other, body);
#else
    this->transaction.exec("CREATE TEMPORARY TABLE others AS SELECT id, nullif(id, '" +
                           to_string(this->first) + "') AS other, body FROM items ORDER BY id");
    pqxx::stream_from stream{this->transaction, "others"};
    for (Row row; stream >> row;) rows.push_back(row);
    stream.complete();
#endif
    EXPECT_EQ(rows, (std::vector<Row>{{this->first, std::nullopt, "a"},
                                      {this->second, this->second, "b"}}));
}

#if PQXX_VERSION_MAJOR >= 7
TYPED_TEST(PqxxValues, AreReadByQueriesWithTypes) {
    run_with(this->transaction, "INSERT INTO items VALUES ($1, 'a'), ($2, 'b')", this->first,
             this->second);
    std::vector<std::pair<TypeParam, std::string>> rows;
    for (auto [id, body] : this->transaction.template query<TypeParam, std::string>(
             "SELECT id, body FROM items ORDER BY id"))
        rows.emplace_back(id, body);
    EXPECT_EQ(rows, (std::vector<std::pair<TypeParam, std::string>>{{this->first, "a"},
                                                                    {this->second, "b"}}));
}
#endif

// ---- errors, and IDs of the extension

class PqxxIds : public Server {
 protected:
    pqxx::connection connection;
    pqxx::work transaction{connection};

    /// The conversion_error of a value as a `T`.
    template <typename T>
    std::string error(const std::string& value) {
        const auto result = transaction.exec("SELECT " + value);
        try {
            (void)result[0][0].as<T>();
        } catch (const pqxx::conversion_error& error) {
            return error.what();
        }
        return "none";
    }
};

TEST_F(PqxxIds, ThrowConversionErrorsWithTheReason) {
    EXPECT_NE(error<Ulid>("'01J'").find("invalid ULID \"01J\": 3 characters instead of 26"),
              std::string::npos);
    EXPECT_NE(error<Snowflake>("-1").find("invalid Snowflake \"-1\": character 1 is not allowed"),
              std::string::npos);
    EXPECT_NE(error<SiId>("9007199254740992").find("the number is too large"), std::string::npos);
    EXPECT_NE(error<Uuidv7>("'f47ac10b-58cc-4372-a567-0e02b2c3d479'::uuid").find("the version, 7"),
              std::string::npos);
#if PQXX_VERSION_MAJOR < 7
    const auto array = transaction.exec("SELECT array[NULL, 1]");
    EXPECT_THROW((void)array[0][0].as<std::vector<Snowflake>>(), pqxx::conversion_error);
#endif
}

TEST_F(PqxxIds, OfTheExtensionHaveItsTimesAndFields) {
    const pqxx::result result = transaction.exec(
        "SELECT ulid_at(t), uuidv7_at(t), sno_at(t, 7), make_snowflake(t, 3, 9, 1) "
        "FROM (VALUES (timestamptz '2026-01-01T00:00:00Z')) AS times (t)");
    const auto row = result[0];
    const Time new_year = time_of(1767225600000);
    EXPECT_EQ(row[0].as<Ulid>().time(), new_year);
    EXPECT_EQ(row[1].as<Uuidv7>().time(), new_year);
    EXPECT_EQ(row[2].as<Sno>().time(), new_year);
    EXPECT_EQ(row[2].as<Sno>().metabyte(), 7);
    EXPECT_EQ(row[3].as<Snowflake>().split(), (SnowflakeParts{time_of(1767225600000), 3, 9, 1}));
}

}  // namespace
}  // namespace snowdrift::test
