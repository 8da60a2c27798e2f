// The input of a fuzz target: bytes, from which it draws numbers and strings. After the last byte,
// all further ones are 0. Each draw is in a statement of its own, because compilers evaluate the
// operands of an expression in different orders, and an input must mean the same for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace snowdrift::fuzz {

class Input {
 public:
    Input(const uint8_t* data, size_t size) : data_{data}, size_{size} {}

    uint8_t byte() {
        if (size_ == 0) return 0;
        --size_;
        return *data_++;
    }

    bool flag() { return byte() % 2 != 0; }

    /// A number from 0 to count - 1. `count` is at most 256.
    size_t below(size_t count) { return byte() % count; }

    template <typename Values>
    const auto& pick(const Values& values) {
        return values[below(std::size(values))];
    }

    template <size_t size>
    std::array<uint8_t, size> bytes() {
        std::array<uint8_t, size> result;
        for (uint8_t& each : result) each = byte();
        return result;
    }

    uint64_t number() {
        uint64_t result = 0;
        for (const uint8_t each : bytes<8>()) result = result << 8 | each;
        return result;
    }

    /// A number from min to max, often near one of them.
    int64_t between(int64_t min, int64_t max) {
        const uint64_t span = static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
        const size_t kind = below(4);
        const uint64_t near = std::min<uint64_t>(kind < 2 ? byte() : 0, span);
        const uint64_t any = kind < 2 ? 0 : number();
        return static_cast<int64_t>(static_cast<uint64_t>(min) + (kind == 0   ? near
                                                                  : kind == 1 ? span - near
                                                                  : span == UINT64_MAX
                                                                      ? any
                                                                      : any % (span + 1)));
    }

    /// The remaining bytes.
    std::string_view rest() const { return {reinterpret_cast<const char*>(data_), size_}; }

    /// `text` after up to three changes.
    std::string mutated(std::string text) {
        for (size_t changes = below(4); changes > 0; --changes) {
            const size_t at = below(std::min<size_t>(text.size() + 1, 256));
            switch (below(6)) {
                case 0:
                    text.insert(at, 1, character());
                    break;
                case 1:
                    text.erase(at, 1 + below(3));
                    break;
                case 2:
                    text.insert(at, text.substr(0, below(64)));
                    break;
                case 3:
                    text.resize(at);
                    break;
                case 4:
                    if (at < text.size()) text[at] = character();
                    break;
                default:
                    if (at < text.size()) text[at] ^= ' ';  // the other case of a letter
            }
        }
        return text;
    }

 private:
    char character() {
        constexpr std::string_view notable = "0178 9ahilouzAHILOUZ_-=.:\t\n\x7f\xc3\xa9\xff";
        return flag() ? pick(notable) : static_cast<char>(byte());
    }

    const uint8_t* data_;
    size_t size_;
};

}  // namespace snowdrift::fuzz
