// Reading a generator's watermark: see src/protocol/watermark.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "pg/mark/mark.hpp"
#include "pg/slots/slot.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/support/time.hpp"
#include "pg/watermark/holds.hpp"
#include "pg/watermark/statement_value.hpp"
#include "protocol/generators.hpp"
#include "protocol/watermark.hpp"

namespace snowdrift::watermark {

/// The lowest time of a hold on the generator by a transaction of this database that is in progress
/// for the active snapshot; INT64_MAX if there is none. Raises 55000 if the hold of such a
/// transaction is unknown: it was prepared before the server started, or the snapshot was taken
/// during recovery.
int64_t lowest_hold(Generators generator);

/// Maps the memory for lowest_hold(). Raises 25000 in a parallel worker, and 53200 if the server
/// has no free shared memory. Precondition: the server is not a standby.
void prepare_to_read();

/// On a standby: what the primary has published, for the active snapshot, as the result of the SQL
/// function that is called. `generator`: its name; empty for the default one. Raises 55000 if there
/// is nothing.
Datum read_published(FunctionCallInfo call, slots::Kind kind, const char* generator);

/// PostgreSQL as the environment of src/protocol/watermark.hpp. `Handle`: that of a generator whose
/// state is attached.
template <typename Handle>
class Environment {
 public:
    explicit Environment(Handle& handle) : handle_{handle} {}

    int64_t begin_unit() { return handle_.begin_unit(); }
    int64_t begin_read() {
        const int64_t begin = handle_.begin_unit();
        const int64_t now = clock::now_ms();
        return begin - now > settings::max_clock_lead ? std::max(now, handle_.earliest_unix_ms())
                                                      : begin;
    }
    void publish(int64_t unix_ms) { watermark::publish(handle_.generator(), unix_ms); }
    int64_t lowest_hold() { return handle_.truncate(watermark::lowest_hold(handle_.generator())); }
    void record_returned(int64_t unix_ms) { handle_.slot().returned.raise(unix_ms); }
    int64_t returned() { return handle_.slot().returned.load(); }
    void make_durable(int64_t unix_ms) { mark::cover_watermark(unix_ms); }
    void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

 private:
    Handle& handle_;
};

/// Holds the generator's watermark for a row whose ID may not have been drawn in this transaction;
/// `unix_ms` is the ID's time. Returns the time up to which watermarks may have been read if it is
/// after the ID's. Raises the errors of Handle::prepare() and mark::require_structure().
template <typename Handle>
std::optional<TimestampTz> check_row(Handle& handle, int64_t unix_ms) {
    if (!is_held(handle.generator())) mark::require_structure();
    if (!handle.is_prepared()) handle.prepare();
    Environment<Handle> environment{handle};
    if (hold_row(environment, unix_ms)) return std::nullopt;
    return timestamp_from_unix_ms(environment.returned());
}

/// The generator's watermark for the statement that calls the SQL function, in Unix milliseconds.
/// Raises the errors of prepare_to_read(), Handle::prepare() and mark::cover_watermark().
template <typename Handle>
int64_t read_for_statement(Handle& handle) {
    prepare_to_read();
    if (!handle.is_prepared()) handle.prepare();
    std::optional<int64_t>& value = find_statement_value(handle.slot());
    if (!value) {
        Environment<Handle> environment{handle};
        value = read(environment);
    }
    return *value;
}

}  // namespace snowdrift::watermark
