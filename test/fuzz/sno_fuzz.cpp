// Fuzz target: sno values, their fields, text forms and times.
#include "snowdrift/sno.hpp"

#include "fuzz/check.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using Check = IdCheck<Sno, model::Sno>;
    Input input{data, size};
    Check::parse(input.rest());

    const Sno id{input.bytes<Sno::size>()};
    const Bits bits = bits_of_id(id);
    Check::texts(id, input);
    Check::times(id, input);
    Check::order(id, Sno{input.bytes<Sno::size>()});

    const SnoParts parts = id.split();
    REQUIRE(parts.units == model::field(bits, 0, 39) && id.units() == parts.units);
    REQUIRE(parts.tick == (bits[39] == '1') && id.tick() == parts.tick);
    REQUIRE(parts.metabyte == model::field(bits, 40, 8) && id.metabyte() == parts.metabyte);
    REQUIRE(parts.partition == model::field(bits, 48, 16) && id.partition() == parts.partition);
    REQUIRE(parts.sequence == model::field(bits, 64, 16) && id.sequence() == parts.sequence);
    REQUIRE(id.high() == model::field(bits, 0, 64));
    REQUIRE(Sno::compose(parts) == id);

    // Replaces the digits of a field.
    const auto with = [&](size_t first, size_t width, uint64_t value) {
        return bits.substr(0, first) + model::bits_of(value, width) + bits.substr(first + width);
    };
    const uint8_t metabyte = input.byte();
    REQUIRE(bits_of_id(id.with_metabyte(metabyte)) == with(40, 8, metabyte));
    const auto number = static_cast<uint16_t>(input.number());
    REQUIRE(bits_of_id(id.with_partition(number)) == with(48, 16, number));
    REQUIRE(bits_of_id(id.with_sequence(number)) == with(64, 16, number));
    return 0;
}
