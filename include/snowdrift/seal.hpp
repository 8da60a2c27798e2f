// A sealed ID is a UUID for URLs and APIs that hides a 64-bit ID. It can be made and read only with
// the key, and forgeries are detected.
//
//     tag  = the first 58 bits of HMAC-SHA-256(key, 0x01 | id  | name)
//     body = id XOR the first 64 bits of HMAC-SHA-256(key, 0x02 | tag | name)
//
// This is deterministic authenticated encryption in SIV mode (Rogaway and Shrimpton, 2006; RFC
// 5297), with HMAC-SHA-256 where the RFC has AES-CMAC and AES-CTR. The IDs and tags in the messages
// are numbers of 8 bytes, big-endian. Tag and body are the 122 free bits of a UUID of version 8
// (RFC 9562, section 5.8).
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "snowdrift/endian.hpp"
#include "snowdrift/sha256.hpp"

namespace snowdrift {

/// Seals and unseals IDs with one key and one name. With different names, such as those of tables,
/// the same ID has different sealed IDs.
///
/// | bits of the UUID | content                |
/// | ---------------- | ---------------------- |
/// | 127-80           | bits 57-10 of the tag  |
/// | 79-76            | version: 8             |
/// | 75-66            | bits 9-0 of the tag    |
/// | 65-64            | bits 63-62 of the body |
/// | 63-62            | variant: 10            |
/// | 61-0             | bits 61-0 of the body  |
class Seal {
 public:
    using Key = detail::HmacSha256::Key;  ///< 32 random bytes
    using Uuid = std::array<uint8_t, 16>;

    static constexpr int tag_bits = 58;
    static constexpr size_t max_name_size = 63;

    /// Whether a seal can have this name: 1 to 63 printable ASCII characters, which are the same
    /// bytes in all encodings of PostgreSQL's servers.
    [[nodiscard]] static constexpr bool is_name(std::string_view name) noexcept {
        return !name.empty() && name.size() <= max_name_size &&
               std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
    }

    /// Precondition: is_name(name).
    constexpr Seal(const Key& key, std::string_view name) noexcept
        : hmac_{key}, size_{name.size()} {
        assert(is_name(name));
        std::copy(name.begin(), name.end(), name_.begin());
    }

    /// The sealed ID: a UUID of version 8, always the same.
    [[nodiscard]] constexpr Uuid seal(int64_t id) const noexcept {
        const auto number = static_cast<uint64_t>(id);
        const uint64_t tag = tag_of(number);
        const uint64_t body = number ^ mac(body_label, tag);
        Uuid uuid{};
        store_big_endian(tag >> 10 << 16 | version | (tag & 0x3ff) << 2 | body >> 62, &uuid[0]);
        store_big_endian(variant | (body & ~variant_mask), &uuid[8]);
        return uuid;
    }

    /// The ID, or nothing if the UUID was not made with this key and name. A forgery is accepted
    /// with a probability of 2^-58.
    [[nodiscard]] constexpr std::optional<int64_t> unseal(const Uuid& uuid) const noexcept {
        const uint64_t high = load_big_endian(&uuid[0]);
        const uint64_t low = load_big_endian(&uuid[8]);
        const uint64_t tag = high >> 16 << 10 | (high >> 2 & 0x3ff);
        const uint64_t body = high << 62 | (low & ~variant_mask);
        const uint64_t id = body ^ mac(body_label, tag);
        const uint64_t difference = (tag_of(id) ^ tag) | ((high & version_mask) ^ version) |
                                    ((low & variant_mask) ^ variant);
        if (difference != 0) return std::nullopt;
        return static_cast<int64_t>(id);
    }

 private:
    static constexpr uint8_t tag_label = 1;
    static constexpr uint8_t body_label = 2;
    static constexpr uint64_t version = 0x8000;
    static constexpr uint64_t version_mask = 0xf000;
    static constexpr uint64_t variant = uint64_t{2} << 62;
    static constexpr uint64_t variant_mask = uint64_t{3} << 62;

    constexpr uint64_t tag_of(uint64_t id) const noexcept {
        return mac(tag_label, id) >> (64 - tag_bits);
    }

    /// The first 64 bits of the HMAC.
    constexpr uint64_t mac(uint8_t label, uint64_t number) const noexcept {
        std::array<uint8_t, 9 + max_name_size> message{};
        message[0] = label;
        store_big_endian(number, &message[1]);
        std::copy_n(name_.begin(), size_, message.begin() + 9);
        return load_big_endian(hmac_(std::span{message}.first(9 + size_)).data());
    }

    detail::HmacSha256 hmac_;
    std::array<char, max_name_size> name_{};
    size_t size_;
};

}  // namespace snowdrift
