// Feeds: tables whose rows a poller reads in the order of their IDs, up to the watermark. Each kind
// of generator that has a watermark fills one, and a sequence fills one that is watched.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chaos/history.hpp"
#include "chaos/ids.hpp"

namespace snowdrift::chaos {

/// A table with one column `id`. Its type is one of PostgreSQL's own, so that rows stay when the
/// extension is dropped.
struct Feed {
    const char* table;
    std::optional<size_t> source;  ///< of the IDs, in `sources`; nothing for an identity column
    const char* type;              ///< of the source's IDs
    const char* column;            ///< the type of the column
    const char* watermark;         ///< a call that returns the source's watermark, if there is one

    /// Numbers of sequences are parsed and compared as Snowflakes are.
    Format format() const { return source ? sources[*source].format : Format::snowflake; }
    /// The column as an ID of the source, in a query that calls the table "f".
    std::string id() const { return std::string{"f.id::"} + type; }
    /// The ID of a text that a server has sent. Throws if it is not one.
    Id require_id(const char* text) const;
    /// An expression of the source's type, as a value of the column.
    std::string value(const std::string& expression) const {
        return expression + "::" + type + "::" + column;
    }
};

inline constexpr std::array<Feed, 5> feeds{{
    {"feed_snowflake", 0, "bigint", "bigint", "snowflake_watermark()"},
    {"feed_own", 1, "bigint", "bigint", "snowflake_watermark('own')"},
    {"feed_ulid", 5, "ulid", "uuid", "ulid_watermark()"},
    {"feed_uuidv7", 6, "uuid", "uuid", "uuidv7_watermark()"},
    {"feed_serial", std::nullopt, "bigint", "bigint", nullptr},
}};

/// The statements that create the tables, and the table in which pollers store positions; and those
/// that restore the defaults and the watch after DROP EXTENSION.
std::string create_feeds();
std::string restore_feeds();

/// Compares the watermarks that a poller receives with the transactions that are open meanwhile.
/// Each of them has drawn IDs before the poller's statement, and ends after it, so the watermark
/// must not be above its IDs. This finds errors that cost no row, too: the transaction may be
/// rolled back.
class OpenTransactions {
 public:
    /// A client has received `lowest` in its transaction at `now`, and maybe later IDs.
    void add(uint32_t client, size_t feed, const Id& lowest, Time now);
    /// A statement or a transaction that began at `begin` has returned the watermark, or a row
    /// below it whose ID is `watermark`.
    void compare(size_t feed, const Id& watermark, Time begin);
    /// The client's transaction is about to end. Returns a watermark above one of its IDs,
    /// described. That is an error if the transaction then ends as the client wishes: otherwise, a
    /// fault may have ended it before.
    std::optional<std::string> remove(uint32_t client);

 private:
    struct Drawn {
        Id lowest;
        Time time;
    };
    struct Transaction {
        std::array<std::optional<Drawn>, feeds.size()> drawn;
        std::optional<std::string> error;
    };

    std::mutex mutex_;
    std::map<uint32_t, Transaction> transactions_;
};

/// A row that a poller has read.
struct ReadRow {
    Id id;
    Time time;
};

/// Descriptions of the rows of a table that were not read, or read twice or out of order. `stored`:
/// all IDs in the table, after the last row was read. Rows that were read but are not in the table
/// are no error: a fault can end the wait of a commit for the synchronous standby, and the primary
/// shows the row, which a failover may then lose.
std::vector<std::string> describe_misread(const Feed& feed, const std::vector<ReadRow>& read,
                                          std::vector<Id> stored);

}  // namespace snowdrift::chaos
