// Lists of names in messages.
#pragma once

#include <algorithm>
#include <cstring>

#include "pg/support/postgres.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
}

namespace snowdrift {

inline int compare_names(const ListCell* a, const ListCell* b) {
    return std::strcmp(static_cast<const char*>(lfirst(a)), static_cast<const char*>(lfirst(b)));
}

/// The quoted names, in order and separated by commas, of which at most ten are shown. Sorts the
/// list, whose elements are C strings.
inline const char* quoted_list(List* names) {
    constexpr int max_shown = 10;
    StringInfoData shown;
    initStringInfo(&shown);
    list_sort(names, compare_names);
    for (int i = 0; i < std::min(list_length(names), max_shown); ++i)
        appendStringInfo(&shown, "%s\"%s\"", i > 0 ? ", " : "",
                         static_cast<const char*>(list_nth(names, i)));
    if (list_length(names) > max_shown)
        appendStringInfo(&shown, ", and %d more", list_length(names) - max_shown);
    return shown.data;
}

}  // namespace snowdrift
