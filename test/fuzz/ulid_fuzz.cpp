// Fuzz target: ULIDs, their text forms and their times.
#include "snowdrift/ulid.hpp"

#include "fuzz/check.hpp"
#include "unit/id_sums.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using Check = IdCheck<Ulid, model::Ulid>;
    Input input{data, size};
    Check::parse(input.rest());

    const Ulid id{input.bytes<Ulid::size>()};
    const Bits bits = bits_of_id(id);
    Check::texts(id, input);
    Check::times(id, input);
    Check::order(id, Ulid{input.bytes<Ulid::size>()});

    REQUIRE(id.high() == model::field(bits, 0, 64) && id.low() == model::field(bits, 64, 64));
    REQUIRE(model::bits_of(id.ordinal(), 128) == bits);
    REQUIRE(Ulid::from_ordinal(id.ordinal()) == id);
    REQUIRE(model::bits_of_bytes(id.randomness()) == bits.substr(48));
    REQUIRE(Ulid::compose(id.time(), id.randomness()) == id);
    const uint64_t count = input.byte();
    const Bits sum = model::plus(bits, count);
    if (sum >= bits) REQUIRE(bits_of_id(id + count) == sum);
    return 0;
}
