// Fuzz target: UUIDs of version 7, their text forms and their times.
#include "snowdrift/uuidv7.hpp"

#include "fuzz/check.hpp"
#include "unit/id_sums.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using Check = IdCheck<Uuidv7, model::Uuidv7>;
    Input input{data, size};
    Check::parse(input.rest());

    auto bytes = input.bytes<Uuidv7::size>();
    const Bits any = model::bits_of_bytes(bytes);
    REQUIRE(Uuidv7::is_version_7(bytes) == model::Uuidv7::is_version_7(any));
    Check::parse(model::Uuidv7::text(any));

    const Bits bits = model::Uuidv7::with_version_7(any);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(model::field(bits, 8 * i, 8));
    const Uuidv7 id{bytes};
    Check::texts(id, input);
    Check::times(id, input);
    Uuidv7 other = Uuidv7::max();
    (void)Uuidv7::parse(input.mutated(model::Uuidv7::text(bits)), other);
    Check::order(id, other);

    const Bits ordinal = model::Uuidv7::ordinal(bits);
    REQUIRE(id.high() == model::field(bits, 0, 64) && id.low() == model::field(bits, 64, 64));
    REQUIRE(id.rand_a() == model::field(bits, 52, 12) && id.rand_b() == model::field(bits, 66, 62));
    REQUIRE(model::bits_of(id.ordinal(), 128) == Bits(6, '0') + ordinal);
    REQUIRE(Uuidv7::from_ordinal(id.ordinal()) == id);
    REQUIRE(model::bits_of_bytes(id.randomness()) ==
            Bits(6, '0') + model::Uuidv7::randomness(bits));
    REQUIRE(Uuidv7::is_valid(id.randomness()));
    REQUIRE(Uuidv7::compose(id.time(), id.randomness()) == id);
    const auto randomness = input.bytes<10>();
    REQUIRE(Uuidv7::is_valid(randomness) ==
            (model::bits_of_bytes(randomness).substr(0, 6) == "000000"));
    const uint64_t count = input.byte();
    const Bits sum = model::plus(ordinal, count);
    if (sum >= ordinal) REQUIRE(model::bits_of((id + count).ordinal(), ordinal.size()) == sum);
    return 0;
}
