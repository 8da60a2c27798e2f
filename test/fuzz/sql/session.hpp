// A connection to the server that PGHOST names. Uses libpq, because libpqxx has no binary COPY.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace snowdrift::fuzz {

/// What a statement has returned.
struct Outcome {
    std::string sqlstate{};  ///< of the error; empty if there is none
    std::string message{};
    std::string detail{};
    std::string hint{};
    std::vector<std::vector<std::optional<std::string>>> rows{};

    bool operator==(const Outcome&) const = default;

    bool is_error() const { return !sqlstate.empty(); }

    /// The values of the first row; "null" for null.
    std::vector<std::string> first() const {
        std::vector<std::string> values;
        if (!rows.empty())
            for (const auto& value : rows.front()) values.push_back(value.value_or("null"));
        return values;
    }
};

/// A parameter of a statement, in the text or the binary form of its type.
struct Parameter {
    std::optional<std::string> value;
    bool is_binary = false;
};

/// A number as the binary form of a type: big-endian.
inline Parameter binary(int64_t number, size_t size = 8) {
    std::string bytes;
    for (size_t i = size; i-- > 0;)
        bytes += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i) & 0xff);
    return {bytes, true};
}

class Session {
 public:
    /// `options`: of the connection, as libpq has them.
    explicit Session(const std::string& options = "")
        : connection_{PQconnectdb(options.c_str()), PQfinish} {
        check_connection();
    }

    int version() const { return PQserverVersion(connection_.get()) / 10'000; }

    /// Makes run() compare the extension with the SQL edition, which it installs in a new database.
    void add_sql_edition(const std::string& database);

    /// The session of the SQL edition; null if there is none.
    Session* sql_edition() { return sql_edition_.get(); }

    /// Runs one statement in a transaction of its own. If the SQL edition has been added, and has
    /// what the statement names, the outcome there must be the same.
    Outcome run(const std::string& statement, const std::vector<Parameter>& parameters = {});

    /// Runs one statement in a transaction of its own, in this session alone.
    Outcome run_alone(const std::string& statement, const std::vector<Parameter>& parameters = {}) {
        std::vector<const char*> values;
        std::vector<int> lengths;
        std::vector<int> formats;
        for (const Parameter& each : parameters) {
            values.push_back(each.value ? each.value->c_str() : nullptr);
            lengths.push_back(each.value ? static_cast<int>(each.value->size()) : 0);
            formats.push_back(each.is_binary ? 1 : 0);
        }
        return outcome(PQexecParams(connection_.get(), statement.c_str(),
                                    static_cast<int>(values.size()), nullptr, values.data(),
                                    lengths.data(), formats.data(), 0));
    }

    /// Runs COPY ... FROM STDIN with this data.
    Outcome copy_in(const std::string& statement, const std::string& data) {
        Outcome result = outcome(PQexec(connection_.get(), statement.c_str()));
        if (result.is_error()) return result;
        PQputCopyData(connection_.get(), data.data(), static_cast<int>(data.size()));
        PQputCopyEnd(connection_.get(), nullptr);
        while (PGresult* const next = PQgetResult(connection_.get()))
            if (const Outcome each = outcome(next); each.is_error()) result = each;
        return result;
    }

    /// The data that COPY ... TO STDOUT returns.
    std::string copy_out(const std::string& statement) {
        (void)outcome(PQexec(connection_.get(), statement.c_str()));
        std::string data;
        char* chunk = nullptr;
        for (int size; (size = PQgetCopyData(connection_.get(), &chunk, 0)) > 0;) {
            data.append(chunk, static_cast<size_t>(size));
            PQfreemem(chunk);
        }
        while (PGresult* const next = PQgetResult(connection_.get())) (void)outcome(next);
        return data;
    }

 private:
    /// Throws if the server has ended the connection.
    void check_connection() const {
        if (PQstatus(connection_.get()) != CONNECTION_OK)
            throw std::runtime_error{PQerrorMessage(connection_.get())};
    }

    /// Runs statements without parameters. Throws if one fails.
    void run_all(const std::string& statements) {
        const Outcome result = outcome(PQexec(connection_.get(), statements.c_str()));
        if (result.is_error()) throw std::runtime_error{result.message};
    }

    Outcome outcome(PGresult* owned) const {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result{owned, PQclear};
        check_connection();
        Outcome outcome;
        const auto field = [&](int code) {
            const char* const text = PQresultErrorField(result.get(), code);
            return std::string{text == nullptr ? "" : text};
        };
        outcome.sqlstate = field(PG_DIAG_SQLSTATE);
        outcome.message = field(PG_DIAG_MESSAGE_PRIMARY);
        outcome.detail = field(PG_DIAG_MESSAGE_DETAIL);
        outcome.hint = field(PG_DIAG_MESSAGE_HINT);
        for (int row = 0; row < PQntuples(result.get()); ++row) {
            auto& values = outcome.rows.emplace_back();
            for (int column = 0; column < PQnfields(result.get()); ++column) {
                if (PQgetisnull(result.get(), row, column) != 0)
                    values.emplace_back();
                else
                    values.emplace_back(
                        std::in_place, PQgetvalue(result.get(), row, column),
                        static_cast<size_t>(PQgetlength(result.get(), row, column)));
            }
        }
        return outcome;
    }

    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
    std::unique_ptr<Session> sql_edition_{};
};

}  // namespace snowdrift::fuzz
