// A session's cache of its handles of the named generators of one kind, looked up by name.
#pragma once

#include <cstring>
#include <new>

#include "pg/named/definition_table.hpp"
#include "pg/named/definitions.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/hsearch.h"
#include "utils/memutils.h"
}

namespace snowdrift {

/// The cache. An entry stays until the session ends. `Handle`: of a generator of the kind
/// Handle::kind, which define(definition, name) describes. The first use in a transaction calls
/// Handle::begin_transaction().
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
        char name[NAMEDATALEN];
        uint64_t version;                // definitions::version when the definition was read
        LocalTransactionId transaction;  // the last one that locked the generator
        GeneratorId generator;
        Handle handle;

        bool has_name(const char* bytes, size_t length) const {
            return length < NAMEDATALEN && std::memcmp(name, bytes, length) == 0 &&
                   name[length] == '\0';
        }
    };

    /// The entry of a name; null if there is none.
    pg_noinline Entry* find(const char* bytes, size_t length) const {
        if (entries_ == nullptr || length >= NAMEDATALEN) return nullptr;
        char name[NAMEDATALEN];
        std::memcpy(name, bytes, length);
        name[length] = '\0';
        return static_cast<Entry*>(hash_search(entries_, name, HASH_FIND, nullptr));
    }

    /// Lock the generator of an entry, or of a new one (null), and read its definition unless the
    /// entry has it.
    pg_noinline Entry* renew(Entry* entry, char* name) {
        if (entry == nullptr || !lock(*entry)) entry = read(name);
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

    /// Lock the generator, and read its definition into its entry.
    Entry* read(const char* name) {
        if (std::strlen(name) > definitions::max_name_length) definitions::report_undefined(name);
        // Read the version first, so that a concurrent change makes the next call read again. This
        // call can use the definition it reads, because it holds the lock.
        const uint64_t version = definitions::version;
        const Definition definition = definitions::lock(name);
        if (definition.kind != Handle::kind) definitions::report_wrong_kind(name, Handle::kind);
        Entry* const entry = enter(name);
        entry->version = version;
        entry->generator = definition.generator();
        entry->handle.define(definition, entry->name);
        return entry;
    }

    /// The entry of a name, which is added if there is none.
    Entry* enter(const char* name) {
        if (entries_ == nullptr) {
            HASHCTL control{};
            control.keysize = NAMEDATALEN;
            control.entrysize = sizeof(Entry);
            control.hcxt = TopMemoryContext;
            entries_ = hash_create("snowdrift generators", 64, &control,
                                   HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
        }
        bool is_found;
        auto* const entry = static_cast<Entry*>(hash_search(entries_, name, HASH_ENTER, &is_found));
        if (!is_found) {
            entry->transaction = InvalidLocalTransactionId;
            new (&entry->handle) Handle{};
        }
        return entry;
    }

    HTAB* entries_ = nullptr;
    Entry* last_ = nullptr;  // most statements use one generator
};

}  // namespace snowdrift
