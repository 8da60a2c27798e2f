// The statistics that ANALYZE collects for columns of type ulid and sno: the standard ones, with a
// finer histogram for columns of almost unique values, such as primary keys.
#include <algorithm>
#include <iterator>

#include "pg/support/postgres.hpp"

extern "C" {
#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
}

using namespace snowdrift;

namespace {

/// The function that std_typanalyze() selects for a type with a btree operator class.
AnalyzeAttrComputeStatsFunc compute_standard_stats;

bool has_most_common_values(const VacAttrStats* stats) {
    return std::find(std::begin(stats->stakind), std::end(stats->stakind), STATISTIC_KIND_MCV) !=
           std::end(stats->stakind);
}

/// Compute the standard statistics of a sample, with ten times as many histogram bounds if the
/// values are almost unique. The planner interpolates numbers but not IDs, so its estimates are
/// only as fine as the distance between two bounds.
void compute_stats(VacAttrStats* stats, AnalyzeAttrFetchFunc fetch, int rows, double all_rows) {
    compute_standard_stats(stats, fetch, rows, all_rows);
    const bool has_repeated_values = stats->stadistinct >= 0 || has_most_common_values(stats);
    if (!stats->stats_valid || has_repeated_values) return;
    auto& target = statistics_target(*stats);
    constexpr int max_target = 10000;
    const auto configured_target = target;
    target = std::min(10 * configured_target, max_target);
    for (int i = 0; i < STATISTIC_NUM_SLOTS; ++i)
        stats->stakind[i] = 0, stats->numnumbers[i] = 0, stats->numvalues[i] = 0;
    compute_standard_stats(stats, fetch, rows, all_rows);
    target = configured_target;
}

}  // namespace

/// The typanalyze function of ulid and sno
SNOWDRIFT_FUNCTION(id_typanalyze) {
    auto* const stats = reinterpret_cast<VacAttrStats*>(PG_GETARG_POINTER(0));
    if (!std_typanalyze(stats)) PG_RETURN_BOOL(false);
    compute_standard_stats = stats->compute_stats;
    stats->compute_stats = compute_stats;
    PG_RETURN_BOOL(true);
}
