// Rows as results of SQL-callable functions.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/tuplestore.h"
}

namespace snowdrift {

/// The columns of a row, as PostgreSQL's functions take them. A column without a value is null.
template <size_t size>
struct RowValues {
    explicit RowValues(const std::optional<Datum> (&columns)[size]) {
        for (size_t i = 0; i < size; ++i) {
            values[i] = columns[i].value_or(Datum{0});
            is_null[i] = !columns[i].has_value();
        }
    }

    Datum values[size];
    bool is_null[size];
};

/// Returns a row of the called function's result type.
template <size_t size>
Datum make_row(FunctionCallInfo fcinfo, const std::optional<Datum> (&columns)[size]) {
    TupleDesc row;
    if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE || row->natts != size)
        elog(ERROR, "return type must be a row type of %zu columns", size);
    RowValues of{columns};
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), of.values, of.is_null));
}

/// Adds a row to the result of the called set-returning function. Precondition:
/// InitMaterializedSRF() was called.
template <size_t size>
void add_row(FunctionCallInfo fcinfo, const std::optional<Datum> (&columns)[size]) {
    const auto* const result = reinterpret_cast<const ReturnSetInfo*>(fcinfo->resultinfo);
    Assert(result->setResult != nullptr);
    if (result->setDesc->natts != size)  // of the SQL objects of another version
        elog(ERROR, "result must have %zu columns", size);
    RowValues of{columns};
    tuplestore_putvalues(result->setResult, result->setDesc, of.values, of.is_null);
}

}  // namespace snowdrift
