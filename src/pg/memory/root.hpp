// The root of the extension's shared memory: where the slots are, and which structure they have.
//
// When a package is upgraded, sessions of the old library and of the new one use the root at the
// same time. So every library since 1.0 has the same root: its name, its size, its fields and the
// lock that protects them. Nothing in this file or in core/mark_word.hpp ever changes.
#pragma once

#include "pg/support/postgres.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {
#include "storage/dsm.h"
}

namespace snowdrift::slots {

/// The name of the root in the server's shared memory.
inline constexpr const char* root_name = "snowdrift";

/// The structure of slots: its version, the size of a slot, and the fields by which another library
/// finds the marks. Sizes and offsets are in bytes.
struct Structure {
    uint32_t version;     ///< 0: there are no slots
    uint32_t slot_size;   ///< distance between two slots in a chunk
    uint32_t allocation;  ///< offset of a uint64_t; 0 while the slot is free
    uint32_t database;    ///< offset of the database's Oid
    uint32_t kind;        ///< offset of a uint32_t; 0 for a mark
    uint32_t mark_word;   ///< offset of a mark's MarkWord
    uint32_t written_ms;  ///< offset of a uint64_t: the latest mark, in Unix milliseconds, that a
                          ///< session has written, whether or not the word includes it
};

/// Slots in one segment of dynamic shared memory.
struct Chunk {
    dsm_handle handle;
    uint32_t slots;
};
inline constexpr uint32_t max_chunks = 12;

/// The slots of all generators: their structure, and the chunks that they are in.
struct SlotMemory {
    Structure structure;
    uint32_t chunk_count;
    Chunk chunks[max_chunks];
};

/// `memory` is protected by AddinShmemInitLock.
struct Root {
    std::atomic<uint64_t> allocations = 0;  ///< number of slots allocated since the server started
    SlotMemory memory{};
    uint32_t unused[30]{};  ///< 0
};
static_assert(sizeof(Root) == 256 && sizeof(Structure) == 28 && sizeof(Chunk) == 8 &&
                  offsetof(Root, memory) == 8 && offsetof(SlotMemory, chunks) == 32,
              "the same in all libraries");

}  // namespace snowdrift::slots
