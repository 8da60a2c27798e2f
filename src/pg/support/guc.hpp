// The record of a configuration setting, which tells its source.
#pragma once

#include <cstring>

#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/guc.h"
#include "utils/guc_tables.h"
}

namespace snowdrift {

/// Returns the record of the setting. Precondition: there is a setting of that name.
inline const config_generic& setting_record(const char* name) {
#if PG_VERSION_NUM >= 160000
    return *find_option(name, false, false, ERROR);
#else
    config_generic** record = get_guc_variables();
    while (std::strcmp((*record)->name, name) != 0) ++record;
    return **record;
#endif
}

}  // namespace snowdrift
