// Fuzz target: base32 in each alphabet, and big-endian numbers.
#include "snowdrift/base32.hpp"

#include <utility>

#include "fuzz/check.hpp"
#include "snowdrift/endian.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/typeid.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

namespace {

template <typename Alphabet>
class Check {
 public:
    Check(std::string_view characters, bool either_case)
        : characters_{characters}, either_case_{either_case} {}

    void run(Input input) const {
        for (int c = 0; c < 256; ++c) {
            const char character = static_cast<char>(c);
            const model::Decoded expected = decode({&character, 1});
            REQUIRE(Codec::value(character) ==
                    (has_fault(expected) ? -1 : static_cast<int>(model::number_of(expected.bits))));
        }
        numbers(input, std::make_index_sequence<12>{});

        const auto bytes = input.bytes<16>();
        const std::string text = model::encode(model::bits_of_bytes(bytes), characters_);
        REQUIRE(written(Codec::size_of_128_bits,
                        [&](char* to) { return Codec::encode_128(bytes, to); }) == text);
        std::string mutated = input.mutated(text);
        mutated.resize(Codec::size_of_128_bits, 'a');
        for (const std::string& each : {text, mutated}) {
            const model::Decoded expected = model::decode(each, 128, characters_, either_case_);
            auto decoded = bytes;
            const ParseError error = Codec::decode_128(std::string_view{Exact{each}}, decoded);
            REQUIRE(is_same(error, expected));
            REQUIRE(model::bits_of_bytes(decoded) ==
                    (error ? model::bits_of_bytes(bytes) : expected.bits));
        }
    }

 private:
    using Codec = Base32<Alphabet>;

    static bool has_fault(const model::Decoded& decoded) {
        return decoded.fault != model::Fault::none;
    }

    model::Decoded decode(std::string_view text) const {
        return model::decode(text, 5 * text.size(), characters_, either_case_);
    }

    template <size_t... indexes>
    void numbers(Input& input, std::index_sequence<indexes...>) const {
        (number<indexes + 1>(input), ...);
    }

    template <size_t length>
    void number(Input& input) const {
        const uint64_t number = input.number();
        const std::string text = model::encode(model::bits_of(number, 5 * length), characters_);
        if constexpr (length % 2 == 0)
            REQUIRE(written(length, [&](char* to) {
                        Codec::template encode<length>(number, to);
                        return to + length;
                    }) == text);
        std::string mutated = input.mutated(text);
        mutated.resize(length, '9');
        for (const std::string& each : {text, mutated}) {
            const model::Decoded expected = decode(each);
            const Exact copy{each};
            const char* const characters = std::string_view{copy}.data();
            const int64_t decoded = Codec::template decode<length>(characters);
            REQUIRE((decoded < 0) == has_fault(expected));
            if (decoded >= 0)
                REQUIRE(static_cast<uint64_t>(decoded) == model::number_of(expected.bits));
            REQUIRE(Codec::find_wrong(characters, length) ==
                    (has_fault(expected) ? expected.index : length));
        }
    }

    std::string_view characters_;
    bool either_case_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input{data, size};
    const auto bytes = input.bytes<8>();
    const uint64_t number = load_big_endian(bytes.data());
    REQUIRE(model::bits_of(number, 64) == model::bits_of_bytes(bytes));
    auto stored = decltype(bytes){};
    store_big_endian(number, stored.data());
    REQUIRE(stored == bytes);
    store_big_endian(static_cast<uint16_t>(number), stored.data());
    REQUIRE(stored[0] == bytes[6] && stored[1] == bytes[7] && stored[2] == bytes[2]);

    switch (input.below(3)) {
        case 0:
            Check<CrockfordAlphabet>{model::crockford, true}.run(input);
            break;
        case 1:
            Check<TypeIdAlphabet>{model::crockford_lower, false}.run(input);
            break;
        default:
            Check<SnoAlphabet>{model::sno_alphabet, false}.run(input);
    }
    return 0;
}
