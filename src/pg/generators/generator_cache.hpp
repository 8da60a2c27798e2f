// A session's cache of the named generators of one kind, looked up by name.
#pragma once

#include <array>
#include <concepts>
#include <cstring>
#include <new>

#include "pg/generators/definitions.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/hsearch.h"
#include "utils/memutils.h"
}

namespace snowdrift {

/// A session's view of a generator that a definition describes.
template <typename T>
concept NamedSession = requires(T session, const Definition& definition, const char* name) {
    { T::kind } -> std::convertible_to<slots::Kind>;
    { session.define(definition, name) } -> std::same_as<void>;
};

template <NamedSession Session>
class GeneratorCache {
 public:
    /// The generator `name`. Locks it until the transaction ends. Raises 42704 if there is none,
    /// 42809 if it is of another kind.
    Session& get(const text* name) {
        const char* const bytes = VARDATA_ANY(name);
        const size_t length = VARSIZE_ANY_EXHDR(name);
        // The common case: the same name as in a recent call.
        Entry*& recent = recent_[bucket_of(bytes, length)];
        if (unlikely(recent == nullptr || recent->transaction != current_transaction() ||
                     recent->version != definitions::version || length != recent->length ||
                     std::memcmp(bytes, recent->name, length) != 0))
            recent = lookup(bytes, length);
        return recent->session;
    }

 private:
    struct Entry {
        char name[NAMEDATALEN];  // the hash table's key
        size_t length;
        uint64_t version;                // definitions::version when the definition was read
        LocalTransactionId transaction;  // the last one that locked the generator
        Oid table;                       // table of the definition
        uint32_t id;                     // id of the generator
        Session session;
    };

    static constexpr size_t buckets = 512;

    /// The bucket of `recent_` for a name. A bucket holds the entry that was used last.
    static size_t bucket_of(const char* bytes, size_t length) {
        size_t mixed = length;
        for (size_t i = 0; i < length; ++i) mixed = 33 * mixed + static_cast<uint8_t>(bytes[i]);
        return mixed % buckets;
    }

    /// Find or read the entry of a name, and lock the generator.
    Entry* lookup(const char* bytes, size_t length) {
        char* const name = pnstrdup(bytes, length);
        if (length > definitions::max_name_length) definitions::report_undefined(name);
        if (table_ == nullptr) table_ = make_table();
        auto* entry = static_cast<Entry*>(hash_search(table_, name, HASH_FIND, nullptr));
        if (entry == nullptr || !lock(*entry)) entry = read(name, length);
        entry->transaction = current_transaction();
        pfree(name);
        return entry;
    }

    /// Lock the generator of an entry. Return false if the entry is outdated.
    static bool lock(Entry& entry) {
        if (entry.version != definitions::version) return false;
        if (entry.transaction != current_transaction())
            generator_lock::share({entry.table, entry.id});
        return entry.version == definitions::version;
    }

    /// Lock the generator, and read its definition into an entry.
    Entry* read(const char* name, size_t length) {
        // Read the version first, so that a concurrent change makes the next call read again. This
        // call can use the definition it reads, because it holds the lock.
        const uint64_t version = definitions::version;
        const Definition definition = definitions::lock(name);
        if (definition.kind != Session::kind) report_wrong_kind(name);

        bool found;
        auto* entry = static_cast<Entry*>(hash_search(table_, name, HASH_ENTER, &found));
        if (!found) {
            entry->length = length;
            new (&entry->session) Session{};
        }
        entry->version = version;
        entry->table = definition.table;
        entry->id = definition.id;
        entry->session.define(definition, entry->name);
        return entry;
    }

    static HTAB* make_table() {
        HASHCTL control{};
        control.keysize = NAMEDATALEN;
        control.entrysize = sizeof(Entry);
        control.hcxt = TopMemoryContext;
        return hash_create("snowdrift generators", 16, &control,
                           HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
    }

    [[noreturn]] static void report_wrong_kind(const char* name) {
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("ID generator \"%s\" does not generate %s", name,
                               Session::kind == slots::Kind::sno ? "snos" : "Snowflake IDs")));
    }

    HTAB* table_ = nullptr;
    std::array<Entry*, buckets> recent_{};
};

}  // namespace snowdrift
