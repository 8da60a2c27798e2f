// Chunks: the memory that the slots are in, and the replacement of a structure of slots by that of
// another library. slots.hpp finds and allocates slots in them.
//
// Libraries whose slots have the same structure share the slots. The first session of a library
// with a newer structure *retires* the previous one: it changes the tag of every mark, so that
// sessions of the previous library discard the IDs that they draw, attach again, and raise an
// error. They can never attach again, because the root has another version.
#pragma once

#include "pg/memory/root.hpp"

namespace snowdrift::slots {

/// Holds the lock that protects allocation, release, and changes of several words of a state. Code
/// that holds it must not raise errors.
class AllocationLock {
 public:
    AllocationLock();
    ~AllocationLock();
    AllocationLock(const AllocationLock&) = delete;
    AllocationLock& operator=(const AllocationLock&) = delete;
};

/// Holds the same lock, shared: no slot is allocated or released, and no structure retired.
class SearchLock {
 public:
    SearchLock();
    ~SearchLock();
    SearchLock(const SearchLock&) = delete;
    SearchLock& operator=(const SearchLock&) = delete;
};

/// Ensures that the slots have this library's structure. Retires the structure of an older library.
/// Raises 55000 if a newer library has retired this library's, 53200 if the server has no free
/// shared memory.
void require_structure();

/// Whether a newer library has retired this library's structure. Precondition: require_structure()
/// has returned once, and the caller holds AllocationLock or SearchLock.
bool is_retired();

/// The root. Precondition: require_structure() has returned once.
Root& root();

/// Adds a chunk after the first `known` ones, unless another session has done so. Raises 53200 if
/// the server has no free shared memory.
void add_chunk(uint32_t known);

/// Reserves shared memory for the root. Called if the library is preloaded. Otherwise, the first
/// use takes the memory from the server's spare shared memory.
void reserve();

}  // namespace snowdrift::slots
