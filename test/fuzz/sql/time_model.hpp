// Times as the server has them: microseconds, or infinite.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fuzz/input.hpp"
#include "fuzz/model.hpp"
#include "fuzz/sql/session.hpp"

namespace snowdrift::fuzz {

using model::Wide;

inline constexpr Wide infinity = Wide{1} << 100;

/// A timestamptz.
struct Time {
    int64_t wire;  ///< in the binary form: microseconds since 2000-01-01

    bool is_finite() const { return wire != INT64_MIN && wire != INT64_MAX; }

    /// Microseconds since 1970-01-01.
    Wide micros() const {
        if (!is_finite()) return wire > 0 ? infinity : -infinity;
        return Wide{wire} + Wide{946'684'800} * 1'000'000;
    }

    Parameter parameter() const { return binary(wire); }
};

/// The Unix millisecond that contains a time.
inline Wide floor_ms(Wide micros) {
    Wide ms = micros / 1000;
    while (ms * 1000 > micros) --ms;
    return ms;
}

/// The first Unix millisecond that does not begin before a time.
inline Wide ceil_ms(Wide micros) {
    Wide ms = micros / 1000;
    while (ms * 1000 < micros) ++ms;
    return ms;
}

/// The first and the last finite time, in the binary form.
inline constexpr int64_t min_wire = -211'813'488'000'000'000;   // 4714-11-24 BC
inline constexpr int64_t max_wire = 9'223'371'331'199'999'999;  // the year 294276

/// A time, often near the first or the last one of a format, in Unix milliseconds, or near a bound
/// of the type timestamptz.
inline Time any_time(Input& input, int64_t first_ms, int64_t last_ms) {
    constexpr int64_t offsets[] = {0, 1, 499, 500, 501, 999, 1000, 1001, 1999, 3999, 4000, 4001};
    const auto wire = [&](int64_t unix_ms) { return (Wide{unix_ms} - 946'684'800'000) * 1000; };
    const auto offset = [&] {
        const int64_t each =
            input.flag() ? input.pick(offsets) : input.between(-70'000'000, 70'000'000);
        return input.flag() ? each : -each;
    };
    Wide time = 0;
    switch (input.below(8)) {
        case 0:
            return {input.flag() ? INT64_MAX : INT64_MIN};
        case 1:
            time = input.flag() ? min_wire : max_wire;
            time += offset();
            break;
        case 2:
            time = wire(0) + offset();
            break;
        case 3:
            time = wire(first_ms) + offset();
            break;
        case 4:
            time = wire(last_ms) + offset();
            break;
        case 5:
            time = input.between(min_wire, max_wire);
            break;
        default:
            time = wire(input.between(first_ms, last_ms));
            time += offset();
    }
    return {static_cast<int64_t>(std::clamp(time, Wide{min_wire}, Wide{max_wire}))};
}

}  // namespace snowdrift::fuzz
