// A session's generators of one kind, found by the name that a call brings.
#pragma once

#include <array>
#include <cstring>
#include <new>

#include "pg/generators/definitions.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/hsearch.h"
#include "utils/memutils.h"
}

namespace snowdrift {

/// Generators of type Session, which has `kind` and define(const Definition&, const char* name).
template <typename Session>
class NamedSessions {
 public:
    /// Raises 42704 if there is no generator of that name, 42809 if it is of another kind.
    Session& find(const text* name) {
        const char* const bytes = VARDATA_ANY(name);
        const size_t length = VARSIZE_ANY_EXHDR(name);
        // Callers ask for the same few again and again.
        Entry*& recent = recent_[place_of(bytes, length)];
        if (unlikely(recent == nullptr || recent->transaction != current_transaction() ||
                     recent->version != definitions::version || length != recent->length ||
                     std::memcmp(bytes, recent->name, length) != 0))
            recent = look_up(bytes, length);
        return recent->session;
    }

 private:
    struct Entry {
        char name[NAMEDATALEN];  // the hash table's key
        size_t length;
        uint64_t version;                // of the definitions, when this one was read
        LocalTransactionId transaction;  // that holds the generator
        Oid table;                       // of the definition
        uint32_t id;                     // the generator's
        Session session;
    };

    static constexpr size_t places = 512;

    /// Where the entry of a name is found again without a search, if no other one has taken it.
    static size_t place_of(const char* bytes, size_t length) {
        size_t mixed = length;
        for (size_t i = 0; i < length; ++i) mixed = 33 * mixed + static_cast<uint8_t>(bytes[i]);
        return mixed % places;
    }

    /// The entry of a generator, which is locked from now on.
    Entry* look_up(const char* bytes, size_t length) {
        char* const name = pnstrdup(bytes, length);
        if (length > definitions::max_name_length) report_undefined(name);
        if (table_ == nullptr) table_ = make_table();
        auto* entry = static_cast<Entry*>(hash_search(table_, name, HASH_FIND, nullptr));
        if (entry == nullptr || !hold(*entry)) entry = read(name, length);
        entry->transaction = current_transaction();
        pfree(name);
        return entry;
    }

    /// Lock the generator of an entry that is up to date; false if it no longer is.
    static bool hold(Entry& entry) {
        if (entry.version != definitions::version) return false;
        if (entry.transaction != current_transaction()) definitions::hold(entry.table, entry.id);
        return entry.version == definitions::version;
    }

    Entry* read(const char* name, size_t length) {
        // Read the version first, so that a concurrent change makes the next call read again. This
        // call can use what it reads, because it holds the generator.
        const uint64_t version = definitions::version;
        const Definition definition = definitions::hold(name);
        if (definition.kind != Session::kind) report_wrong_kind(name, definition.kind);

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

    [[noreturn]] static void report_undefined(const char* name) {
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("ID generator \"%s\" does not exist", name)));
    }

    [[noreturn]] static void report_wrong_kind(const char* name, GeneratorKind kind) {
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("ID generator \"%s\" makes %s", name,
                               kind == GeneratorKind::sno ? "snos" : "Snowflake IDs")));
    }

    HTAB* table_ = nullptr;
    std::array<Entry*, places> recent_{};
};

}  // namespace snowdrift
