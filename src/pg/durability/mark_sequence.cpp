#include "pg/durability/mark_sequence.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
}

#include "pg/support/extension.hpp"

namespace snowdrift::mark_sequence {
namespace {

constexpr const char* sequence_name = "mark";

// The sequence's last_value consists of the mark and 16 check bits, which detect a value that was
// set by hand. Its log_cnt is the writer.
constexpr int check_bits = 16;
static_assert(max_unix_ms == INT64_MAX >> check_bits);

constexpr int64 encode(int64_t unix_ms) {
    const uint64_t mixed = (static_cast<uint64_t>(unix_ms) + 1) * 0x9e3779b97f4a7c15;
    return static_cast<int64>(static_cast<uint64_t>(unix_ms) << check_bits |
                              mixed >> (64 - check_bits));
}
static_assert(encode(0) == 40503, "snowdrift--1.0.sql initializes the sequence with this value");

Value decode(const FormData_pg_sequence_data& data) {
    const int64_t unix_ms = data.last_value >> check_bits;
    const bool is_valid = data.is_called && encode(unix_ms) == data.last_value;
    const auto writer = static_cast<Writer>(data.log_cnt);
    const bool is_known = writer == Writer::generators || writer == Writer::uncommitted;
    return {is_valid ? unix_ms : -1, is_known ? writer : Writer::outside};
}

FormData_pg_sequence_data& data_on(Page page) {
    ItemIdData* const item = PageGetItemId(page, FirstOffsetNumber);
    auto* tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    return *reinterpret_cast<FormData_pg_sequence_data*>(reinterpret_cast<char*>(tuple) +
                                                         tuple->t_hoff);
}

/// Open and lock the extension's sequence. Retry if it was dropped or replaced while this session
/// waited for the lock.
Relation lock_relation(LOCKMODE lock) {
    for (;;) {
        const Oid oid = extension::find_relation(sequence_name);
        if (!OidIsValid(oid)) report_unusable("is missing");
        Relation sequence = try_relation_open(oid, lock);
        if (sequence == nullptr) continue;
        if (extension::find_relation(sequence_name) == oid) return sequence;
        relation_close(sequence, lock);
    }
}

Oid last_opened = InvalidOid;

}  // namespace

Relation open(LOCKMODE lock) {
    Relation sequence = lock_relation(lock);
    const Oid oid = RelationGetRelid(sequence);
    if (sequence->rd_rel->relkind != RELKIND_SEQUENCE ||
        getExtensionOfObject(RelationRelationId, oid) != get_extension_oid("snowdrift", true))
        report_unusable("does not belong to extension snowdrift");
    if (sequence->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
        report_unusable("is not crash-safe");
    last_opened = oid;
    return sequence;
}

bool is_affected_by(Oid relation) { return relation == last_opened || !OidIsValid(relation); }

uint64_t file_of(Relation sequence) {
#if PG_VERSION_NUM >= 160000
    return sequence->rd_locator.relNumber;
#else
    return sequence->rd_node.relNode;
#endif
}

Writer writer_for(Relation sequence) {
#if PG_VERSION_NUM >= 160000
    const bool has_new_file = sequence->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
    const bool has_new_file = sequence->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
    const bool is_new = sequence->rd_createSubid != InvalidSubTransactionId;
    return is_new || has_new_file ? Writer::uncommitted : Writer::generators;
}

Value read(Relation sequence) {
    const Buffer buffer = ReadBuffer(sequence, 0);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Value value = decode(data_on(BufferGetPage(buffer)));
    UnlockReleaseBuffer(buffer);
    return value;
}

LockedPage lock_page(Relation sequence) {
    const Buffer buffer = ReadBuffer(sequence, 0);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    return {buffer, BufferGetLSNAtomic(buffer), decode(data_on(BufferGetPage(buffer)))};
}

void write(Relation sequence, LockedPage& page, const Value& value) {
    wal::require_writable();
    GenericXLogState* const change = GenericXLogStart(sequence);
    FormData_pg_sequence_data& data = data_on(GenericXLogRegisterBuffer(change, page.buffer, 0));
    data.last_value = encode(value.unix_ms);
    data.log_cnt = static_cast<int64>(value.writer);
    data.is_called = true;
    page.position = GenericXLogFinish(change);
}

void unlock_page(const LockedPage& page) { UnlockReleaseBuffer(page.buffer); }

void report_unusable(const char* problem) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence snowdrift.%s %s", sequence_name, problem),
                    errdetail("The sequence holds the time after which no ID was ever issued."),
                    errhint("If no later IDs can exist, a superuser can call "
                            "snowdrift.reset_clock(). To restore a missing sequence, drop the "
                            "extension and create it again.")));
}

}  // namespace snowdrift::mark_sequence
