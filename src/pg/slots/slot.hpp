// A slot of shared memory: the state of a generator, or of the mark, and the counters and times
// that are kept beside it. The folder that uses a part declares it. slots.hpp finds and allocates
// slots.
#pragma once

#include "pg/support/postgres.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {
#include "storage/spin.h"
}

#include "pg/slots/waiting.hpp"
#include "protocol/generators.hpp"
#include "protocol/mark_state.hpp"
#include "protocol/overflow.hpp"
#include "protocol/watermark.hpp"
#include "snowdrift/snowflake.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"

namespace snowdrift::slots {

/// The kind of state in a slot.
enum class Kind : uint32_t { mark, snowflake, ulid, sno, uuidv7 };

/// The kinds of generators, in the order of the views.
inline constexpr Kind generator_kinds[] = {Kind::snowflake, Kind::sno, Kind::ulid, Kind::uuidv7};

/// The name of a kind of generator in SQL.
constexpr const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::snowflake:
            return "snowflake";
        case Kind::ulid:
            return "ulid";
        case Kind::sno:
            return "sno";
        case Kind::uuidv7:
            return "uuidv7";
        case Kind::mark:
            break;
    }
    pg_unreachable();
}

/// Lookup key of a slot: identifies the generator and the parameters that its state depends on.
struct SlotKey {
    Oid database;
    Kind kind;
    Oid definitions = InvalidOid;  ///< table of the definition; InvalidOid for a default generator
    uint32_t id = 0;               ///< the generator's id in that table
    uint32_t sequence_min = 0;
    uint32_t sequence_max = 0;
    SnowflakeLayout layout{};

    /// Whether this is the key of the mark, or of a default generator.
    bool is_default() const { return !OidIsValid(definitions); }

    friend bool operator==(const SlotKey&, const SlotKey&) = default;
};

/// State of a Snowflake generator.
struct SnowflakeState {
    std::atomic<uint64_t> word;         ///< see core/snowflake_generator.hpp
    std::atomic<uint64_t> regressions;  ///< see regressions.hpp
};

/// One state, on its own cache line so that generators do not slow each other down. What follows on
/// the next lines is used more rarely.
struct alignas(64) Slot {
    /// Unique number of this allocation; 0 while the slot is free. Compare it before each use: the
    /// slot may have been allocated for another generator.
    std::atomic<uint64_t> allocation = 0;
    slock_t lock;  ///< protects `ulid` and `uuidv7`; the other states are lock-free
    union {
        MarkState mark;
        SnowflakeState snowflake;
        BlockGenerator<Ulid> ulid;
        BlockGenerator<Uuidv7> uuidv7;
        SnoState sno;
        std::atomic<uint64_t> words[6];  ///< any state, for clearing
    };
    alignas(64) watermark::Returned returned{};
    overflow::State overflow{};
    waiting::Counter waiting = 0;  ///< calls that wait for the clock; for the mark, for the disk
    std::atomic<uint32_t> is_noticed = 0;  ///< for a message that is logged once: see first_time()
    SlotKey key{};  ///< protected by Lock; meaningless while the slot is free

    Slot() : words{} { SpinLockInit(&lock); }

    /// Whether this is the first call since the slot was allocated.
    bool first_time() { return is_noticed.exchange(1) == 0; }
};
static_assert(sizeof(Slot) == 192, "another size is another structure_version");
static_assert(sizeof(Slot::snowflake) <= sizeof(Slot::words) &&
              sizeof(Slot::ulid) <= sizeof(Slot::words) &&
              sizeof(Slot::uuidv7) <= sizeof(Slot::words) &&
              sizeof(Slot::mark) <= sizeof(Slot::words) &&
              sizeof(Slot::sno) <= sizeof(Slot::words));
static_assert(std::atomic<uint64_t>::is_always_lock_free, "states are shared between processes");

}  // namespace snowdrift::slots
