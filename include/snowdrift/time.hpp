// Times of IDs: conversion between std::chrono's times and Unix milliseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>

#include "snowdrift/requirements.hpp"

namespace snowdrift {

/// The time of an ID: a time of the system clock, in milliseconds since 1970-01-01T00:00:00Z.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

/// The time `unix_ms`.
constexpr Time time_of(int64_t unix_ms) noexcept {
    return Time{std::chrono::milliseconds{unix_ms}};
}

/// The inverse of time_of().
constexpr int64_t unix_ms_of(Time time) noexcept { return time.time_since_epoch().count(); }

namespace detail {

/// The time itself, or if its conversion to milliseconds could overflow, the nearest time that is
/// at most 2^52 ms from 1970. That is beyond all formats. Integers of shorter units are nearer.
template <typename Duration>
constexpr auto convertible(std::chrono::sys_time<Duration> time) noexcept {
    using Number = typename Duration::rep;
    using Unit = typename Duration::period;
    if constexpr (std::ratio_greater_v<Unit, std::milli> ||
                  std::chrono::treat_as_floating_point_v<Number>) {
        using Wide = std::chrono::duration<std::common_type_t<Number, int64_t>, Unit>;
        constexpr std::chrono::milliseconds limit{int64_t{1} << 52};
        constexpr auto last = std::chrono::duration_cast<Wide>(limit);
        const Wide wide = time.time_since_epoch();
        if (!(wide <= last)) return std::chrono::sys_time<Wide>{last};  // NaN, too
        if (std::is_signed_v<Number> && wide < -last) return std::chrono::sys_time<Wide>{-last};
        return std::chrono::sys_time<Wide>{wide};
    } else {
        static_assert(std::ratio_divide<Unit, std::milli>::num == 1,
                      "1 ms must be a multiple of a time unit that is shorter than 1 ms");
        return time;
    }
}

}  // namespace detail

/// The Unix millisecond that contains `time`. Times beyond all formats may count as nearer ones.
template <typename Duration>
constexpr int64_t unix_ms_floor(std::chrono::sys_time<Duration> time) noexcept {
    return unix_ms_of(std::chrono::floor<std::chrono::milliseconds>(detail::convertible(time)));
}

/// The first Unix millisecond that does not begin before `time`. Times beyond all formats may count
/// as nearer ones.
template <typename Duration>
constexpr int64_t unix_ms_ceil(std::chrono::sys_time<Duration> time) noexcept {
    return unix_ms_of(std::chrono::ceil<std::chrono::milliseconds>(detail::convertible(time)));
}

}  // namespace snowdrift
