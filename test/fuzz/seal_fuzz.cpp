// Fuzz target: seals. Each seal opens to its ID, and a UUID that opens is the seal of its ID.
#include "snowdrift/seal.hpp"

#include "fuzz/check.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

namespace {

/// Ensures that the UUID is refused, or is what `seal` makes.
void check_unseal(const Seal& seal, const Seal::Uuid& uuid) {
    const auto id = seal.unseal(uuid);
    REQUIRE(!id || seal.seal(*id) == uuid);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input{data, size};
    const auto key = input.bytes<32>();
    std::string name;
    for (size_t length = 1 + input.below(Seal::max_name_size); length > 0; --length)
        name += static_cast<char>(' ' + input.below(95));
    const Exact copy{name};
    REQUIRE(Seal::is_name(copy));
    const Seal seal{key, copy};

    const auto id = static_cast<int64_t>(input.number());
    Seal::Uuid uuid = seal.seal(id);
    REQUIRE(seal.unseal(uuid) == id);
    REQUIRE(uuid[6] >> 4 == 8 && uuid[8] >> 6 == 2);

    const size_t bit = input.below(128);
    uuid[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    REQUIRE(!seal.unseal(uuid));
    check_unseal(seal, input.bytes<16>());

    const Exact rest{input.rest()};
    if (Seal::is_name(rest) && std::string_view{rest} != name)
        REQUIRE(!(Seal{key, rest}.unseal(seal.seal(id))));
    return 0;
}
