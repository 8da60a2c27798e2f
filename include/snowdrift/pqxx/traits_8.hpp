// Conversions for libpqxx 8.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "snowdrift/pqxx/ids.hpp"

namespace pqxx {

template <snowdrift::AnyId T>
struct nullness<T> : no_null<T> {};

template <snowdrift::AnyId T>
struct string_traits<T> {
    static T from_string(std::string_view text, ctx context = {}) {
        return snowdrift::detail::from_field<T>(text, context.loc);
    }

    static std::string_view to_buf(std::span<char> buffer, const T& id, ctx context = {}) {
        if (buffer.size() < size_buffer(id))
            throw conversion_overrun{"the buffer is too small for an ID", context.loc};
        return {buffer.data(), id.format(buffer.data())};
    }

    static constexpr size_t size_buffer(const T&) noexcept { return T::text_size; }
};

template <snowdrift::AnyId T>
inline constexpr bool is_unquoted_safe<T> = true;

}  // namespace pqxx
