// Times of IDs: conversion between std::chrono's times and Unix milliseconds.
#pragma once

#include <chrono>
#include <cstdint>

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

/// The Unix millisecond that contains `time`.
template <typename Duration>
constexpr int64_t unix_ms_floor(std::chrono::sys_time<Duration> time) noexcept {
    return unix_ms_of(std::chrono::floor<std::chrono::milliseconds>(time));
}

/// The first Unix millisecond that does not begin before `time`.
template <typename Duration>
constexpr int64_t unix_ms_ceil(std::chrono::sys_time<Duration> time) noexcept {
    return unix_ms_of(std::chrono::ceil<std::chrono::milliseconds>(time));
}

}  // namespace snowdrift
