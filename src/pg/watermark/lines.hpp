// The holds in shared memory: a line for each process, and for each prepared transaction.
// src/protocol/watermark.hpp describes holds.
#pragma once

#include "pg/support/postgres.hpp"

#include <atomic>
#include <cstdint>
#include <span>

#include "protocol/watermark.hpp"

extern "C" {
#include "storage/spin.h"
}

namespace snowdrift::watermark {

/// The holds of a process, or of a prepared transaction. A new line is all zero.
struct alignas(64) Line {
    slock_t lock;  ///< for changes, and for reads of what is not atomic
    Oid database;  ///< of `unix_ms` and `generators`
    int64_t unix_ms;
    std::atomic<Generators> generators;  ///< 0 if nothing is held
    /// 0 if the transaction has not ended. Otherwise, its full transaction ID: it has ended, or is
    /// prepared, and its hold counts for snapshots that take it to be in progress.
    std::atomic<uint64_t> transaction;
    std::atomic<uint64_t> latest;  ///< the greatest value that `transaction` had
    History history;               ///< of earlier transactions, which ended before this one began
    /// An earlier transaction whose hold has the time unknown_ms. It is not in the history, which
    /// would merge it with later ones, and make their holds unknown, too.
    Ended unknown;
};

/// Maps the memory, and creates it if this is the first call since the server started. Raises 53200
/// if the server has no free shared memory.
void map_lines();

/// Reserves, in a shmem_request_hook, the shared memory in which sessions find the lines.
void reserve();

/// The time of the hold of a transaction that was prepared before the memory was created. It holds
/// the watermarks of all generators.
inline constexpr int64_t unknown_ms = INT64_MIN;

// Precondition of the following functions: map_lines() has returned.

/// The lines of all processes and prepared transactions.
std::span<Line> lines();

Line& line_of(const PGPROC* process);

/// The next full transaction ID when the memory was created. Snapshots after it know no transaction
/// in progress that ended before the memory existed.
uint64_t first_transaction();

/// The full transaction ID of a transaction that is not far from the present.
uint64_t full_transaction_id(TransactionId transaction);

}  // namespace snowdrift::watermark
