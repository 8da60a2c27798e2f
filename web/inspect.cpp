// The inspector of the page: the formats of include/snowdrift, compiled to WebAssembly. The module
// imports nothing.
//
// JavaScript writes a text to buffer(), calls a function with its length, and reads the answer
// there, whose length the function returns. Answers are JSON. Whether a time is plausible,
// JavaScript decides: here is no clock.
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "snowdrift/sno.hpp"
#include "snowdrift/snowflake_layout.hpp"
#include "snowdrift/snowflake_presets.hpp"
#include "snowdrift/snowflake_text.hpp"
#include "snowdrift/typeid.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/utc.hpp"
#include "snowdrift/uuidv7.hpp"

using namespace snowdrift;

namespace {

constexpr size_t max_text = 256;
std::array<char, 16384> memory;

/// Writes an answer. A candidate has at most 800 characters, and there are at most 20.
class Json {
 public:
    Json& operator<<(std::string_view text) {
        for (const char c : text) *end_++ = c;
        return *this;
    }

    Json& operator<<(int64_t number) {
        if (number < 0) *this << "-";
        end_ = detail::format_digits(number < 0 ? -number : number, 1, end_);
        return *this;
    }

    /// A text without characters that JSON escapes.
    Json& quoted(std::string_view text) { return *this << "\"" << text << "\""; }

    /// Separates the elements of an array or object.
    Json& next() {
        if (end_[-1] != '[' && end_[-1] != '{') *this << ",";
        return *this;
    }

    size_t size() const { return static_cast<size_t>(end_ - memory.data()); }

 private:
    char* end_ = memory.data();
};

/// The text that JavaScript has written. A copy, because the answer is written to the same memory.
struct Input {
    std::array<char, max_text> text;
    size_t size;

    explicit Input(size_t n) : size{n < max_text ? n : max_text} {
        for (size_t i = 0; i < size; ++i) text[i] = memory[i];
    }

    operator std::string_view() const { return {text.data(), size}; }
};

/// Your own layout, after the presets.
SnowflakeLayout own_layout;
bool has_own_layout = false;

/// Calls visit(name, layout) for each layout.
template <typename Visit>
void for_each_layout(Visit visit) {
    if (has_own_layout) visit(std::string_view{"own"}, own_layout);
    for (const auto& [name, layout] : layout_presets) visit(std::string_view{name}, layout);
}

/// ["name",bits,"value"], from the most significant bits down
void put_field(Json& json, std::string_view name, int bits, int64_t value) {
    json.next() << "[";
    json.quoted(name) << "," << int64_t{bits} << ",\"" << value << "\"]";
}

template <typename Bytes>
void put_hex(Json& json, const Bytes& bytes) {
    for (const uint8_t byte : bytes) {
        const char digits[] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
        json << std::string_view{digits, 2};
    }
}

void put_uuid(Json& json, const std::array<uint8_t, 16>& bytes) {
    Uuidv7 id{bytes};
    const auto text = id.text();
    json.quoted({text.data(), text.size()});
}

/// The members that all candidates have, and the beginning of the fields
void begin(Json& json, std::string_view kind, int64_t unix_ms) {
    json.next() << "{\"kind\":";
    json.quoted(kind) << ",\"ms\":" << unix_ms << ",";
}

template <typename Id>
void put_bytes(Json& json, const Id& id) {
    json << "\"hex\":\"";
    put_hex(json, id.bytes());
    json << "\",\"fields\":[";
}

void put_snowflake(Json& json, std::string_view name, const SnowflakeLayout& layout, int64_t id) {
    if (!layout.contains_id(id)) return;
    const SnowflakeParts parts = layout.split(id);
    begin(json, "snowflake", unix_ms_of(parts.time));
    json << "\"layout\":";
    json.quoted(name) << ",\"number\":\"" << id << "\",\"fields\":[";
    const int unused = 64 - layout.timestamp_bits - layout.timestamp_shift();
    if (unused > 0) put_field(json, "unused", unused, 0);
    put_field(json, "timestamp", layout.timestamp_bits,
              static_cast<int64_t>(layout.units_at(unix_ms_of(parts.time))));
    for (const SnowflakeField field : layout.fields())
        if (layout.bits(field) > 0)
            put_field(json, layout_field_name(layout_field_of(field)), layout.bits(field),
                      parts.value(field));
    json << "]}";
}

void put_snowflakes(Json& json, int64_t id) {
    for_each_layout([&](std::string_view name, const SnowflakeLayout& layout) {
        put_snowflake(json, name, layout, id);
    });
}

void put_ulid(Json& json, const Ulid& id) {
    begin(json, "ulid", id.timestamp_ms());
    const auto text = id.text();
    json << "\"text\":";
    json.quoted({text.data(), text.size()}) << ",\"uuid\":";
    put_uuid(json, id.bytes());
    json << ",";
    put_bytes(json, id);
    put_field(json, "timestamp", 48, id.timestamp_ms());
    json.next() << "[\"randomness\",80,\"0x";
    put_hex(json, id.randomness());
    json << "\"]]}";
}

void put_uuidv7(Json& json, const Uuidv7& id) {
    begin(json, "uuidv7", id.timestamp_ms());
    json << "\"uuid\":";
    put_uuid(json, id.bytes());
    json << ",";
    put_bytes(json, id);
    put_field(json, "timestamp", 48, id.timestamp_ms());
    put_field(json, "version", 4, 7);
    put_field(json, "rand_a", 12, id.rand_a());
    put_field(json, "variant", 2, 2);
    put_field(json, "rand_b", 62, static_cast<int64_t>(id.rand_b()));
    json << "]}";
}

void put_sno(Json& json, const Sno& id) {
    const SnoParts parts = id.split();
    begin(json, "sno", id.timestamp_ms());
    const auto text = id.text();
    json << "\"text\":";
    json.quoted({text.data(), text.size()}) << ",";
    put_bytes(json, id);
    put_field(json, "timestamp", 39, static_cast<int64_t>(parts.units));
    put_field(json, "tick", 1, parts.tick);
    put_field(json, "metabyte", 8, parts.metabyte);
    put_field(json, "partition", 16, parts.partition);
    put_field(json, "sequence", 16, parts.sequence);
    json << "]}";
}

/// A UUID is one of version 7, or could be a ULID as PostgreSQL's type uuid shows it.
void put_uuid_candidates(Json& json, const std::array<uint8_t, 16>& bytes) {
    if (Uuidv7::is_version_7(bytes))
        put_uuidv7(json, Uuidv7{bytes});
    else
        put_ulid(json, Ulid{bytes});
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// 32 hexadecimal digits, with hyphens as in a UUID or without
bool parse_uuid(std::string_view text, std::array<uint8_t, 16>& bytes) {
    const bool has_hyphens = text.size() == 36;
    if (!has_hyphens && text.size() != 32) return false;
    size_t digits = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (has_hyphens && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (text[i] != '-') return false;
            continue;
        }
        const int digit = digit_of(text[i]);
        if (digit < 0) return false;
        uint8_t& byte = bytes[digits++ / 2];
        byte = static_cast<uint8_t>(byte << 4 | digit);
    }
    return true;
}

/// A decimal number that a bigint can have, without a sign
bool parse_number(std::string_view text, int64_t& number) {
    if (text.empty() || text.size() > 19) return false;
    uint64_t sum = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
        sum = sum * 10 + static_cast<uint64_t>(c - '0');
    }
    number = static_cast<int64_t>(sum);
    return number >= 0;
}

template <typename Id>
void put_boundary(Json& json, std::string_view kind, int64_t unix_ms) {
    json.next() << "{\"kind\":";
    json.quoted(kind) << ",\"id\":";
    if (!Id::contains_time(time_of(unix_ms))) {
        json << "null}";
        return;
    }
    const auto text = Id::boundary(time_of(unix_ms)).text();
    json.quoted({text.data(), text.size()}) << "}";
}

}  // namespace

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

/// The place of texts: max_text bytes for JavaScript to write.
EXPORT(buffer) char* buffer() { return memory.data(); }

/// [{"name", "first", "last": the times of the layout in Unix milliseconds, "unit": its time unit
/// in milliseconds}]
EXPORT(layouts) size_t layouts() {
    Json json;
    json << "[";
    for_each_layout([&](std::string_view name, const SnowflakeLayout& layout) {
        json.next() << "{\"name\":";
        json.quoted(name) << ",\"first\":" << layout.epoch_unix_ms
                          << ",\"last\":" << layout.max_unix_ms()
                          << ",\"unit\":" << int64_t{layout.unit_ms} << "}";
    });
    json << "]";
    return json.size();
}

/// Reads your own layout. Returns 1 if the text is one, else 0; then, and for an empty text, there
/// is none.
EXPORT(set_layout) int set_layout(size_t n) {
    has_own_layout = n > 0 && !parse_layout(Input{n}, own_layout);
    return has_own_layout ? 1 : 0;
}

/// All IDs that the text can be. A text can be of several kinds: 2222222222222222 is a number and a
/// sno.
EXPORT(inspect) size_t inspect(size_t n) {
    const Input text{n};
    Json json;
    json << "[";
    int64_t number = 0;
    if (parse_number(text, number)) put_snowflakes(json, number);
    if (!SnowflakeText::parse(text, number)) put_snowflakes(json, number);
    if (Ulid ulid; !Ulid::parse(text, ulid)) put_ulid(json, ulid);
    if (Sno sno; !Sno::parse(text, sno)) put_sno(json, sno);
    std::array<uint8_t, 16> uuid{};
    if (parse_uuid(text, uuid)) put_uuid_candidates(json, uuid);
    // Without a prefix, a TypeID is a ULID in lower case.
    if (TypeId type_id; !TypeId::parse(text, type_id) && !type_id.prefix.empty())
        put_uuid_candidates(json, type_id.uuid);
    json << "]";
    return json.size();
}

/// [{"kind", "layout", "id": the smallest ID at or after a time, or null}]
EXPORT(boundaries) size_t boundaries(int64_t unix_ms) {
    Json json;
    json << "[";
    for_each_layout([&](std::string_view name, const SnowflakeLayout& layout) {
        json.next() << "{\"kind\":\"snowflake\",\"layout\":";
        json.quoted(name) << ",\"id\":";
        const bool has_unit = layout.contains_time(time_of(unix_ms)) &&
                              layout.contains_time(time_of(unix_ms + layout.unit_ms - 1));
        if (has_unit)
            json << "\"" << layout.boundary(time_of(unix_ms)) << "\"}";
        else
            json << "null}";
    });
    put_boundary<Ulid>(json, "ulid", unix_ms);
    put_boundary<Uuidv7>(json, "uuidv7", unix_ms);
    put_boundary<Sno>(json, "sno", unix_ms);
    json << "]";
    return json.size();
}
