// Conversions for libpqxx 7.
#pragma once

#include <cstddef>
#include <string_view>

#include "snowdrift/pqxx/ids.hpp"

namespace pqxx {

template <snowdrift::AnyId T>
struct nullness<T> : no_null<T> {};

template <snowdrift::AnyId T>
struct string_traits<T> {
    static constexpr bool converts_to_string = true;
    static constexpr bool converts_from_string = true;

    static T from_string(std::string_view text) { return snowdrift::detail::from_field<T>(text); }

    static zview to_buf(char* begin, char* end, const T& id) {
        return zview{begin, into_buf(begin, end, id) - begin - 1};
    }

    static char* into_buf(char* begin, char* end, const T& id) {
        if (static_cast<size_t>(end - begin) < size_buffer(id))
            throw conversion_overrun{"the buffer is too small for an ID"};
        char* const zero = id.format(begin);
        *zero = '\0';
        return zero + 1;
    }

    static constexpr size_t size_buffer(const T&) noexcept { return T::text_size + 1; }
};

template <snowdrift::AnyId T>
inline constexpr bool is_unquoted_safe<T> = true;

}  // namespace pqxx
