#include "chaos/client.hpp"

#include <sys/socket.h>

#include <stdexcept>
#include <string_view>

#include "chaos/process.hpp"

namespace snowdrift::chaos {
Client::Client(Run& run, const Endpoint& endpoint, const std::string& kind, uint32_t number)
    : name{kind + " " + std::to_string(number)},
      run_{run},
      endpoint_{endpoint},
      random_{run.random(name)},
      guard_{run, endpoint.lineage},
      recorder_{run.paths.history(), number, endpoint.lineage},
      number_{number} {
    thread_ = std::thread{[this, step = step_of(kind)] { work(step); }};
}

Client::~Client() {
    stop();
    await_end();
    for (size_t i = 0; i < format_count; ++i)
        run_.count_ids(static_cast<Format>(i), recorder_.received(static_cast<Format>(i)));
    for (const Finding& finding : recorder_.findings()) run_.add(finding);
}

std::string Client::last_error() const {
    const std::lock_guard lock{mutex_};
    return last_error_;
}

bool Client::chance(unsigned percent) { return chaos::draw(random_, 1U, 100U) <= percent; }

// ---- sessions

void Client::work(Step step) {
    while (!is_stopped_ && !interrupted) {
        const Time begin = run_.now();
        try {
            if (!session_) connect();
            guard_.begin(connection_->backendpid());
            (this->*step)();
        } catch (const pqxx::deadlock_detected& error) {
            fail(begin, "40P01", error.what());
        } catch (const pqxx::serialization_failure& error) {
            fail(begin, "40001", error.what());
        } catch (const pqxx::sql_error& error) {
            fail(begin, error.sqlstate(), error.what());
        } catch (const pqxx::broken_connection& error) {
            fail(begin, "", error.what());
        } catch (const std::exception& error) {
            run_.complain(name, error.what());
            fail(begin, "", error.what());
        }
    }
    disconnect();
    is_ended_ = true;
}

/// Wait until the thread has ended. Its session is ended in time, unless the server hangs.
void Client::await_end() {
    const Time patience = run_.now() + Time{60} * 1'000'000'000;
    while (!is_ended_ && run_.now() < patience && run_.pause(std::chrono::milliseconds{1})) {
    }
    if (!is_ended_) {
        const std::lock_guard lock{mutex_};
        if (connection_) {
            run_.complain(name, "no answer from " + describe(connection_->backendpid()));
            (void)::shutdown(connection_->sock(), SHUT_RDWR);
        }
    }
    thread_.join();
}

void Client::disconnect() {
    guard_.disconnect();
    session_.reset();
    const std::lock_guard lock{mutex_};
    connection_.reset();
}

void Client::connect() {
    // Half of the sessions accept IDs far ahead of the clock, the others raise an error.
    const char* const limit = chance(50) ? "1h" : "60s";
    const std::string application = name.substr(0, name.rfind(' '));
    auto connection = std::make_unique<pqxx::connection>(
        endpoint_.conninfo() + " application_name='" + application +
        "' options='-c client_min_messages=error -c snowdrift.max_clock_lead=" + limit + "'");
    {
        const std::lock_guard lock{mutex_};
        connection_ = std::move(connection);
    }
    session_ = std::make_unique<pqxx::nontransaction>(*connection_);
    if (application == "asynchronous") session_->exec("SET synchronous_commit = off");
    if (application == "prepared") prepare();
}

void Client::fail(Time begin, const std::string& state, const std::string& message) {
    run_.add(Failure{begin, run_.now(), endpoint_.lineage, state, one_line(message)});
    {
        const std::lock_guard lock{mutex_};
        last_error_ = state + " " + one_line(message);
    }
    recorder_.end_transaction();
    if (prepared_.empty()) (void)endpoint_.transactions.remove(number_);
    is_in_block_ = false;
    disconnect();
    const std::chrono::milliseconds rest{chaos::draw(random_, 20, 300)};
    (void)run_.pause(rest);  // the server may be down
}

Id Client::require_id(size_t source, std::string_view text) {
    const auto id = parse_id(sources[source].format, text);
    if (!id) throw std::runtime_error{"not an ID: " + std::string{text}};
    return *id;
}

pqxx::result Client::draw(const std::string& statement, const std::vector<size_t>& columns) {
    const Time begin = run_.now();
    pqxx::result result = session_->exec(statement);
    keep(result, columns, begin);
    return result;
}

void Client::keep(const pqxx::result& result, const std::vector<size_t>& columns, Time begin) {
    const Time end = run_.now();
    for (size_t column = 0; column < columns.size(); ++column) {
        std::vector<Id> ids;
        ids.reserve(static_cast<size_t>(result.size()));
        for (const auto& row : result) {
            const std::string_view text = row[static_cast<int>(column)].c_str();
            ids.push_back(require_id(columns[column], text));
        }
        recorder_.receive(columns[column], begin, end, ids);
    }
    if (!is_in_block_) recorder_.end_transaction();
    if (!result.empty()) last_success_ = end;
}

void Client::begin(const char* statement) {
    session_->exec(statement);
    is_in_block_ = true;
}

void Client::end(const std::string& statement) {
    session_->exec(statement);
    is_in_block_ = false;
    recorder_.end_transaction();
}

}  // namespace snowdrift::chaos
