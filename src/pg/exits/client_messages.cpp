#include "pg/exits/client_messages.hpp"

#include "pg/support/postgres.hpp"

#include <cstring>

// libpq.h includes headers of these libraries for declarations that are not used here. The
// libraries need not be installed.
#undef ENABLE_GSS
#undef USE_OPENSSL

extern "C" {
#include "lib/stringinfo.h"
#include "libpq/libpq.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
}

#include "pg/exits/guarded.hpp"

namespace snowdrift::client_messages {
namespace {

const PQcommMethods* connection = nullptr;

/// The messages that are held back, each with a header. Messages stay in order, so while any
/// message is held back, all later ones are held back too.
StringInfoData held{};

struct Header {
    size_t length;
    char type;
};

/// The total size, in bytes, from which messages are sent rather than held back: the size of
/// PostgreSQL's own buffer.
constexpr size_t max_held = 8192;

/// Whether messages of this type contain only numbers of rows, and what the client's command
/// determines. For example, they state that a command is complete, or that the server is ready for
/// the next one.
bool is_without_data(char type) { return std::strchr("CZIT123nstGHWc", type) != nullptr; }

/// The type of the last message that was held back.
char last_type = '\0';

/// Whether open() can be called. Signal handlers cannot call it: they hold interrupts, and send at
/// most notices. The error handler also holds interrupts, but can call it.
bool can_open() {
    return CritSectionCount == 0 && MyProc != nullptr &&
           (InterruptHoldoffCount == 0 || last_type == 'E');
}

void hold(char type, const char* body, size_t length) {
    if (held.data == nullptr) {
        auto* const caller = MemoryContextSwitchTo(TopMemoryContext);
        initStringInfo(&held);
        MemoryContextSwitchTo(caller);
    }
    // If memory is used up, raise the error before a part of the message is stored.
    enlargeStringInfo(&held, static_cast<int>(sizeof(Header) + length));
    const Header header{length, type};
    last_type = type;
    appendBinaryStringInfo(&held, reinterpret_cast<const char*>(&header), sizeof(header));
    appendBinaryStringInfo(&held, body, static_cast<int>(length));
}

/// Send the messages that were held back. Return 0, or EOF if the connection is lost.
int release() {
    int result = 0;
    for (int at = 0; at < held.len && result == 0;) {
        Header header;
        std::memcpy(&header, held.data + at, sizeof(header));
        at += static_cast<int>(sizeof(header));
        result = connection->putmessage(header.type, held.data + at, header.length);
        at += static_cast<int>(header.length);
    }
    if (static_cast<size_t>(held.maxlen) > 2 * max_held) {
        pfree(held.data);
        held = {};
    }
    held.len = 0;
    return result;
}

/// Hold back the message if it must not leave yet. Return whether it was held back.
bool hold_if_closed(char type, const char* body, size_t length) {
    if (!exits::is_closed() || (held.len == 0 && is_without_data(type))) return false;
    if (held.len + length >= max_held && type != 'E' && type != 'N' && can_open()) {
        exits::open();
        return false;
    }
    hold(type, body, length);
    return true;
}

int put(char type, const char* body, size_t length) {
    if (hold_if_closed(type, body, length)) return 0;
    const int result = release();
    return result != 0 ? result : connection->putmessage(type, body, length);
}

void put_without_waiting(char type, const char* body, size_t length) {
    if (hold_if_closed(type, body, length)) return;
    (void)release();
    connection->putmessage_noblock(type, body, length);
}

/// Send all messages that were held back. Return false if they must be held back longer, or if the
/// connection is lost.
bool try_release() {
    if (held.len == 0) return true;
    if (exits::is_closed()) {
        if (!can_open()) return false;
        exits::open();
    }
    return release() == 0;
}

int flush() { return try_release() ? connection->flush() : 0; }

int flush_if_writable() { return try_release() ? connection->flush_if_writable() : 0; }

bool is_send_pending() { return held.len > 0 || connection->is_send_pending(); }

void reset() { connection->comm_reset(); }

constexpr PQcommMethods guard = {reset,           flush, flush_if_writable,
                                 is_send_pending, put,   put_without_waiting};

}  // namespace

void install() {
    connection = PqCommMethods;
    PqCommMethods = &guard;
}

bool are_guarded() { return PqCommMethods == &guard && whereToSendOutput == DestRemote; }

}  // namespace snowdrift::client_messages
