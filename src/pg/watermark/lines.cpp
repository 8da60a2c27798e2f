#include "pg/watermark/lines.hpp"

#include <cstring>

#include "pg/slots/slots.hpp"

extern "C" {
#include "access/transam.h"
#include "access/twophase.h"
#include "storage/dsm.h"
#include "storage/procarray.h"
}

namespace snowdrift::watermark {
namespace {

/// The memory: this, and then the lines.
struct alignas(Line) Memory {
    uint64_t first_transaction;

    Line* lines() { return reinterpret_cast<Line*>(this + 1); }
};

Memory* memory = nullptr;

/// Where sessions find the memory.
struct Root {
    dsm_handle segment = DSM_HANDLE_INVALID;
};

/// The root, which slots::Lock protects. Call this before you take the lock.
Root& root() {
    static Root* mapped = nullptr;
    if (mapped == nullptr) mapped = slots::map_root<Root>("snowdrift watermarks");
    return *mapped;
}

/// The processes are followed by the prepared transactions, which `allProcCount` does not include.
size_t line_count() { return ProcGlobal->allProcCount + static_cast<size_t>(max_prepared_xacts); }

/// The segment; DSM_HANDLE_INVALID if there is none.
dsm_handle find_segment() {
    const Root& found = root();
    const slots::Lock lock{LW_SHARED};
    return found.segment;
}

/// The line of a transaction that was prepared before the memory was created, if `process` is the
/// entry of one: it may have drawn from any generator.
void add_unknown_hold(Line& line, const PGPROC& process) {
    if (!TransactionIdIsValid(process.xid) || !TransactionIdIsInProgress(process.xid)) return;
    line.database = process.databaseId;
    line.unix_ms = unknown_ms;
    line.generators = ~Generators{0};
    line.transaction = line.latest = full_transaction_id(process.xid);
}

void create_segment() {
    const size_t size = sizeof(Memory) + line_count() * sizeof(Line);
    dsm_segment* const segment = dsm_create(size, 0);
    const dsm_handle handle = dsm_segment_handle(segment);
    dsm_pin_segment(segment);
    std::memset(dsm_segment_address(segment), 0, size);
    auto* const added = static_cast<Memory*>(dsm_segment_address(segment));
    const std::span created{added->lines(), line_count()};
    for (Line& line : created) SpinLockInit(&line.lock);
    for (size_t i = ProcGlobal->allProcCount; i < line_count(); ++i)
        add_unknown_hold(created[i], ProcGlobal->allProcs[i]);
    added->first_transaction = U64FromFullTransactionId(ReadNextFullTransactionId());
    Root& shared = root();
    bool is_added;
    {
        const slots::Lock lock{LW_EXCLUSIVE};
        is_added = shared.segment == DSM_HANDLE_INVALID;
        if (is_added) shared.segment = handle;
    }
    if (!is_added) dsm_unpin_segment(handle);
    dsm_detach(segment);
}

}  // namespace

void map_lines() {
    if (memory != nullptr) return;
    if (find_segment() == DSM_HANDLE_INVALID) create_segment();
    dsm_segment* const segment = dsm_attach(find_segment());
    if (segment == nullptr)
        elog(ERROR, "could not attach to the dynamic shared memory segment of ID watermarks");
    dsm_pin_mapping(segment);
    memory = static_cast<Memory*>(dsm_segment_address(segment));
}

std::span<Line> lines() {
    Assert(memory != nullptr);
    return {memory->lines(), line_count()};
}

uint64_t first_transaction() { return memory->first_transaction; }

Line& line_of(const PGPROC* process) {
    const auto index = static_cast<size_t>(process - ProcGlobal->allProcs);
    Assert(index < line_count());
    return lines()[index];
}

uint64_t full_transaction_id(TransactionId transaction) {
    const FullTransactionId next = ReadNextFullTransactionId();
    const uint32 epoch = EpochFromFullTransactionId(next);
    const bool is_of_epoch = transaction <= XidFromFullTransactionId(next);
    return U64FromFullTransactionId(
        FullTransactionIdFromEpochAndXid(is_of_epoch ? epoch : epoch - 1, transaction));
}

void reserve() { request_named_memory(sizeof(Root)); }

}  // namespace snowdrift::watermark
