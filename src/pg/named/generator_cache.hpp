// A session's cache of its handles of the named generators of one kind, looked up by name. With
// PostgreSQL's dynahash instead of the buckets, an INSERT that draws from two generators would take
// a third longer for each ID, and this file would not be shorter.
#pragma once

#include <array>
#include <cstring>
#include <new>

#include "pg/named/definition_table.hpp"
#include "pg/named/definitions.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace snowdrift {

/// The cache. An entry stays until the session ends. `Handle`: a handle of a generator of the kind
/// Handle::kind; define(definition, name) makes it that of a named one. The first use in a
/// transaction calls Handle::begin_transaction().
template <typename Handle>
class GeneratorCache {
 public:
    /// The generator `name`. Locks it until the transaction ends. Raises 42704 if there is none,
    /// 42809 if it is of another kind.
    Handle& get(const text* name) {
        const char* const bytes = VARDATA_ANY(name);
        const size_t length = VARSIZE_ANY_EXHDR(name);
        Entry* entry = last_;
        if (unlikely(entry == nullptr || !entry->has_name(bytes, length)))
            entry = find(bytes, length);
        if (unlikely(entry == nullptr || entry->transaction != current_transaction() ||
                     entry->version != definitions::version))
            entry = renew(entry, pnstrdup(bytes, length));
        last_ = entry;
        Assert(generator_lock::is_locked(entry->generator, AccessShareLock));
        return entry->handle;
    }

 private:
    struct Entry {
        Entry* next;  // in the same bucket
        size_t length;
        char name[NAMEDATALEN];
        uint64_t version;                // definitions::version when the definition was read
        LocalTransactionId transaction;  // the last one that locked the generator
        GeneratorId generator;
        Handle handle;

        bool has_name(const char* bytes, size_t size) const {
            return length == size && std::memcmp(name, bytes, size) == 0;
        }
    };

    static constexpr size_t bucket_count = 512;

    static size_t bucket_of(const char* bytes, size_t length) {
        size_t mixed = length;
        for (size_t i = 0; i < length; ++i) mixed = 33 * mixed + static_cast<uint8_t>(bytes[i]);
        return mixed % bucket_count;
    }

    /// The entry of a name, or null.
    pg_noinline Entry* find(const char* bytes, size_t length) const {
        Entry* entry = buckets_[bucket_of(bytes, length)];
        while (entry != nullptr && !entry->has_name(bytes, length)) entry = entry->next;
        return entry;
    }

    /// Lock the generator of an entry, or of a new one (null), and read its definition unless the
    /// entry has it.
    pg_noinline Entry* renew(Entry* entry, char* name) {
        if (entry == nullptr || !lock(*entry)) entry = read(entry, name);
        entry->transaction = current_transaction();
        entry->handle.begin_transaction();
        pfree(name);
        return entry;
    }

    /// Lock the generator of an entry. Return false if the entry is outdated.
    static bool lock(Entry& entry) {
        if (entry.version != definitions::version) return false;
        generator_lock::share(entry.generator);
        return entry.version == definitions::version;
    }

    /// Lock the generator, and read its definition into an entry.
    Entry* read(Entry* entry, const char* name) {
        if (std::strlen(name) > definitions::max_name_length) definitions::report_undefined(name);
        // Read the version first, so that a concurrent change makes the next call read again. This
        // call can use the definition it reads, because it holds the lock.
        const uint64_t version = definitions::version;
        const Definition definition = definitions::lock(name);
        if (definition.kind != Handle::kind) definitions::report_wrong_kind(name, Handle::kind);
        if (entry == nullptr) {
            Entry*& first = buckets_[bucket_of(name, std::strlen(name))];
            entry = new (MemoryContextAlloc(TopMemoryContext, sizeof(Entry)))
                Entry{first, std::strlen(name), {}, 0, InvalidLocalTransactionId, {}, {}};
            strlcpy(entry->name, name, sizeof entry->name);
            first = entry;
        }
        entry->version = version;
        entry->generator = definition.generator();
        entry->handle.define(definition, entry->name);
        return entry;
    }

    Entry* last_ = nullptr;  // most statements use one generator
    std::array<Entry*, bucket_count> buckets_{};
};

}  // namespace snowdrift
