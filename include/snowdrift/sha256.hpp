// SHA-256 (FIPS 180-4) of short messages, and HMAC-SHA-256 (RFC 2104) with keys of 32 bytes, for
// seal.hpp. No branch and no address depends on the bytes of a message or a key.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "snowdrift/endian.hpp"

namespace snowdrift::detail {

/// SHA-256 after some blocks of 64 bytes.
class Sha256 {
 public:
    static constexpr size_t block_size = 64;
    using Block = std::array<uint8_t, block_size>;
    using Digest = std::array<uint8_t, 32>;

    /// The longest rest that finish() accepts: with a byte of padding and the length, two blocks.
    static constexpr size_t max_rest_size = 2 * block_size - 9;

    constexpr void add(const uint8_t* block) noexcept {
        std::array<uint32_t, 64> schedule{};
        for (size_t i = 0; i < 16; i += 2) {
            const uint64_t pair = load_big_endian(block + 4 * i);
            schedule[i] = static_cast<uint32_t>(pair >> 32);
            schedule[i + 1] = static_cast<uint32_t>(pair);
        }
        for (size_t i = 16; i < schedule.size(); ++i) {
            const uint32_t early = schedule[i - 15];
            const uint32_t late = schedule[i - 2];
            schedule[i] = schedule[i - 16] + schedule[i - 7] +
                          (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) +
                          (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
        }
        auto [a, b, c, d, e, f, g, h] = words_;
        for (size_t i = 0; i < schedule.size(); ++i) {
            const uint32_t choice = (e & f) ^ (~e & g);
            const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
            const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                   choice + constants[i] + schedule[i];
            const uint32_t second =
                (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
            h = g;
            g = f;
            f = e;
            e = d + first;
            d = c;
            c = b;
            b = a;
            a = first + second;
        }
        const std::array<uint32_t, 8> added{a, b, c, d, e, f, g, h};
        for (size_t i = 0; i < words_.size(); ++i) words_[i] += added[i];
    }

    /// The digest of the blocks, which have `size_before` bytes, and a rest. Precondition: the rest
    /// has at most max_rest_size bytes.
    constexpr Digest finish(size_t size_before, std::span<const uint8_t> rest) const noexcept {
        assert(size_before % block_size == 0 && rest.size() <= max_rest_size);
        std::array<uint8_t, 2 * block_size> last{};
        std::copy(rest.begin(), rest.end(), last.begin());
        last[rest.size()] = 0x80;
        const size_t end = rest.size() + 9 <= block_size ? block_size : last.size();
        store_big_endian(uint64_t{8} * (size_before + rest.size()), &last[end - 8]);
        Sha256 all = *this;
        for (size_t i = 0; i < end; i += block_size) all.add(&last[i]);
        Digest digest{};
        for (size_t i = 0; i < digest.size(); i += 8)
            store_big_endian(uint64_t{all.words_[i / 4]} << 32 | all.words_[i / 4 + 1], &digest[i]);
        return digest;
    }

 private:
    static constexpr std::array<uint32_t, 64> constants{
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};

    std::array<uint32_t, 8> words_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

/// HMAC-SHA-256 with one key.
class HmacSha256 {
 public:
    using Key = std::array<uint8_t, 32>;

    constexpr explicit HmacSha256(const Key& key) noexcept
        : inner_{begin(key, 0x36)}, outer_{begin(key, 0x5c)} {}

    /// The MAC of a message. Precondition: it has at most Sha256::max_rest_size bytes.
    constexpr Sha256::Digest operator()(std::span<const uint8_t> message) const noexcept {
        return outer_.finish(Sha256::block_size, inner_.finish(Sha256::block_size, message));
    }

 private:
    /// The hash after the key with this padding.
    static constexpr Sha256 begin(const Key& key, uint8_t padding) noexcept {
        Sha256::Block block{};
        std::copy(key.begin(), key.end(), block.begin());
        for (uint8_t& byte : block) byte ^= padding;
        Sha256 hash;
        hash.add(block.data());
        return hash;
    }

    Sha256 inner_;
    Sha256 outer_;
};

}  // namespace snowdrift::detail
