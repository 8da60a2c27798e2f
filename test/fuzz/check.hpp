// Checks of the fuzz targets: a failed one aborts, which libFuzzer and the replay of a corpus
// report.
#pragma once

#include <compare>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/model.hpp"
#include "snowdrift/base32.hpp"
#include "snowdrift/time.hpp"

#define REQUIRE(condition) \
    ((condition) ? (void)0 : snowdrift::fuzz::disagree(__FILE__, __LINE__, #condition))

namespace snowdrift::fuzz {

using model::Bits;

[[noreturn]] inline void disagree(const char* file, int line, const char* condition) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    std::abort();
}

/// A copy of a text that ends where its memory ends, so that AddressSanitizer finds reads past its
/// end.
class Exact {
 public:
    explicit Exact(std::string_view text) : text_(text.begin(), text.end()) {}

    operator std::string_view() const { return {text_.data(), text_.size()}; }

 private:
    std::vector<char> text_;
};

/// What format(char*), which returns the end of the text, writes into exactly `size` characters.
template <typename Format>
std::string written(size_t size, Format format) {
    std::vector<char> text(size);
    return {text.data(), format(text.data())};
}

/// Whether an error is the one that the model has found.
inline bool is_same(ParseError error, const model::Decoded& expected) {
    using Reason = ParseError::Reason;
    constexpr Reason reasons[] = {Reason::none, Reason::length, Reason::character,
                                  Reason::overflow};
    return error == ParseError{reasons[static_cast<size_t>(expected.fault)], expected.index};
}

template <typename Id>
Bits bits_of_id(const Id& id) {
    return model::bits_of_bytes(id.bytes());
}

/// An ID class of the library, and its model.
template <typename Id, typename Model>
struct IdCheck {
    static constexpr int64_t first_ms = Model::epoch;
    static inline const int64_t last_ms = model::unix_ms<Model>(Model::of(UINT64_MAX, '1'));

    static void parse(std::string_view text) {
        const model::Decoded expected = Model::parse(text);
        Id id = Id::max();
        const ParseError error = Id::parse(Exact{text}, id);
        REQUIRE(is_same(error, expected));
        REQUIRE(bits_of_id(id) == (error ? bits_of_id(Id::max()) : expected.bits));
    }

    static void texts(const Id& id, Input& input) {
        const std::string text = Model::text(bits_of_id(id));
        REQUIRE(written(Id::text_size, [&](char* to) { return id.format(to); }) == text);
        REQUIRE((std::string_view{id.text().data(), Id::text_size} == text));
        parse(text);
        parse(model::mapped(text, model::lower));
        parse(model::mapped(text, model::upper));
        parse(input.mutated(text));
    }

    static void order(const Id& a, const Id& b) {
        const auto expected = bits_of_id(a) <=> bits_of_id(b);
        REQUIRE((a <=> b) == expected);
        REQUIRE((a == b) == (expected == 0));
        REQUIRE((Model::text(bits_of_id(a)) <=> Model::text(bits_of_id(b))) == expected);
    }

    static void times(const Id& id, Input& input) {
        const auto any = static_cast<int64_t>(input.number());
        const int64_t within = input.between(first_ms, last_ms);  // a time of the format
        REQUIRE(id.timestamp_ms() == model::unix_ms<Model>(bits_of_id(id)));
        REQUIRE(Id::epoch_unix_ms == first_ms && Id::max_timestamp_ms == last_ms);
        REQUIRE(Id::contains_time(time_of(any)) == (any >= first_ms && any <= last_ms));

        const uint64_t count =
            model::field(Model::of(UINT64_MAX, '1'), 0, Model::timestamp_width) + 1;
        const uint64_t unit = model::first_unit(count, first_ms, Model::unit, within);
        REQUIRE(bits_of_id(Id::boundary(time_of(within))) == Model::of(unit, '0'));
        const uint64_t next = model::first_unit(count, first_ms, Model::unit, Wide{within} + 1);
        REQUIRE(bits_of_id(Id::last_before(time_of(within + 1))) == Model::of(next - 1, '1'));
    }

 private:
    using Wide = model::Wide;
};

}  // namespace snowdrift::fuzz
