// Conversions for libpqxx 6. It has none for arrays, so this file also converts arrays of IDs in
// parameters and results, as std::vector. Its conversion of std::optional is incomplete unless it
// is configured for C++17, which Debian's is not, so this file also converts optional IDs.
#pragma once

#include <optional>
#include <pqxx/array>
#include <pqxx/result>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "snowdrift/pqxx/ids.hpp"

namespace pqxx {

template <snowdrift::AnyId T>
struct string_traits<T> {
    static constexpr const char* name() noexcept { return T::name.data(); }
    static constexpr bool has_null() noexcept { return false; }
    static bool is_null(const T&) { return false; }
    [[noreturn]] static T null() { internal::throw_null_conversion(name()); }

    static void from_string(const char text[], T& id) {
        id = snowdrift::detail::from_field<T>(text);
    }
    static std::string to_string(const T& id) { return snowdrift::to_string(id); }
};

/// Excludes optional IDs from libpqxx's conversion of types that are like std::optional.
template <snowdrift::AnyId T>
struct internal::is_derefable<std::optional<T>> : std::false_type {};

/// An ID or null.
template <snowdrift::AnyId T>
struct string_traits<std::optional<T>> {
    static constexpr const char* name() noexcept { return T::name.data(); }
    static constexpr bool has_null() noexcept { return true; }
    static bool is_null(const std::optional<T>& id) { return !id; }
    static std::optional<T> null() { return std::nullopt; }

    static void from_string(const char text[], std::optional<T>& id) {
        id = snowdrift::detail::from_field<T>(text);
    }
    static std::string to_string(const std::optional<T>& id) {
        return snowdrift::to_string(id.value());
    }
};

/// An array of IDs with one dimension and without nulls.
template <snowdrift::AnyId T>
struct string_traits<std::vector<T>> {
    static constexpr const char* name() noexcept { return "array of IDs"; }
    static constexpr bool has_null() noexcept { return false; }
    static bool is_null(const std::vector<T>&) { return false; }
    [[noreturn]] static std::vector<T> null() { internal::throw_null_conversion(name()); }

    static void from_string(const char text[], std::vector<T>& ids) {
        std::vector<T> result;
        int dimensions = 0;
        array_parser parser{text};
        for (auto part = parser.get_next(); part.first != array_parser::done;
             part = parser.get_next()) {
            if (part.first == array_parser::string_value)
                result.push_back(snowdrift::detail::from_field<T>(part.second));
            else if (part.first == array_parser::null_value)
                throw conversion_error{"an array of IDs has a null"};
            else if (part.first == array_parser::row_start && ++dimensions > 1)
                throw conversion_error{"an array of IDs has more than one dimension"};
        }
        ids = std::move(result);
    }

    static std::string to_string(const std::vector<T>& ids) {
        std::string text = "{";
        for (const T& id : ids) {
            if (text.size() > 1) text += ',';
            text += snowdrift::to_string(id);
        }
        return text + '}';
    }
};

}  // namespace pqxx
