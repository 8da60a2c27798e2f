// The ID types as values of C++ programs: times, text forms, hashes, streams, std::format, and what
// is constexpr.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <ratio>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "snowdrift/parse.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/snowflake_id.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"
#include "unit/id_sums.hpp"

namespace snowdrift {
namespace {

using namespace std::chrono_literals;
using TwitterId = SnowflakeOf<presets::twitter>;
using SonyflakeId = SnowflakeOf<presets::sonyflake>;

constexpr std::chrono::sys_days new_year{std::chrono::year{2026} / 1 / 1};

// One ID of each type, in constant expressions.
constexpr Ulid ulid = parse<Ulid>("01KDVDNA00041061050R3GG28A");
constexpr Uuidv7 uuid = parse<Uuidv7>("019b76da-a800-7001-8002-000000000003");
constexpr Sno sno = parse<Sno>("brpk4q72xwf2m63l");
constexpr Snowflake snowflake = parse<Snowflake>("661343385600086019");

static_assert(ulid.time() == new_year && uuid.time() == new_year);
static_assert(TwitterId::boundary(new_year).time() == new_year);
static_assert(hash_value(ulid) != hash_value(ulid + 1));
static_assert(sno.text().size() == Sno::text_size && hash_value(sno) != hash_value(Sno{}));
static_assert(hash_value(sno) != hash_value(sno.with_sequence(sno.sequence() ^ 1)));
static_assert(hash_value(sno) != hash_value(sno.with_sequence(sno.sequence() ^ 0x8000)));
static_assert(snowflake.value() == 661343385600086019 && static_cast<int64_t>(snowflake) > 0);
static_assert(!std::is_convertible_v<int64_t, Snowflake>);
static_assert(!std::is_convertible_v<Snowflake, int64_t>);
static_assert(!std::is_constructible_v<Snowflake, TwitterId>);
static_assert(std::is_trivially_copyable_v<TwitterId> && sizeof(TwitterId) == 8);

// Which functions accept a `Given` as a time.
template <typename T, typename Given>
concept HasBoundary = requires(const T& of, Given time) {
    of.boundary(time);
};
template <typename T, typename Given>
concept HasLastBefore = requires(const T& of, Given time) {
    of.last_before(time);
};
template <typename T, typename Given>
concept ContainsTime = requires(const T& of, Given time) {
    of.contains_time(time);
};
template <typename T, typename Given>
concept Composes = requires(const T& of, Given time) {
    of.compose(time, {});
};
template <typename T, typename Given>
concept ComposesParts = requires(const T& of, Given time) {
    of.compose({.time = time});
};

template <typename T, typename Given>
constexpr bool takes = HasBoundary<T, Given> || HasLastBefore<T, Given> || ContainsTime<T, Given> ||
                       Composes<T, Given> || ComposesParts<T, Given>;

/// Numbers have no unit, so seconds could pass as milliseconds.
template <typename T>
constexpr bool takes_only_times =
    takes<T, std::chrono::sys_seconds> && !takes<T, std::chrono::seconds> && !takes<T, int64_t> &&
    !takes<T, int>;
static_assert(takes_only_times<SnowflakeLayout>);
static_assert(!std::is_invocable_v<decltype(Sno::units_at), int64_t>);

template <typename T>
class IdValues : public testing::Test {
    static_assert(takes_only_times<T>);
};

/// Two IDs of a type, the second one greater.
template <typename T>
constexpr std::pair<T, T> two = {T::boundary(new_year), T::boundary(new_year + 20ms)};

using Types = testing::Types<Ulid, Uuidv7, Sno, Snowflake, TwitterId, SonyflakeId>;
TYPED_TEST_SUITE(IdValues, Types);

TYPED_TEST(IdValues, HaveTheOrderOfTheirTimes) {
    const auto [first, second] = two<TypeParam>;
    EXPECT_LT(first, second);
    EXPECT_LT(first.time(), second.time());
    EXPECT_EQ(first <=> second, std::strong_ordering::less);
    EXPECT_EQ((std::set<TypeParam>{second, first, second}.size()), 2U);
}

TYPED_TEST(IdValues, HaveTheBoundaryOfTheFirstMillisecondThatDoesNotBeginBeforeATime) {
    const auto boundary = TypeParam::boundary(new_year + 60ms);
    EXPECT_EQ(boundary.time(), new_year + 60ms);
    EXPECT_EQ(TypeParam::boundary(new_year + 59'999'999ns), boundary);
    EXPECT_GT(TypeParam::boundary(new_year + 60'000'001ns), boundary);
    EXPECT_EQ(TypeParam::boundary(boundary.time()), boundary);
    // Coarser units
    EXPECT_EQ(TypeParam::boundary(new_year).time(), new_year);
    EXPECT_EQ(TypeParam::boundary(std::chrono::sys_seconds{1767225601s}).time(), new_year + 1s);
}

TYPED_TEST(IdValues, HaveALastIdBeforeATime) {
    for (const auto time : {new_year + 60'000'000ns, new_year + 59'999'999ns}) {
        EXPECT_LT(TypeParam::last_before(time), TypeParam::boundary(time));
        EXPECT_LT(TypeParam::last_before(time).time(), new_year + 60ms);
        EXPECT_GE(TypeParam::last_before(time).time(), new_year + 50ms);
    }
    EXPECT_GE(TypeParam::last_before(new_year + 60'000'001ns),
              TypeParam::boundary(new_year + 60ms));
}

TEST(IdsOfATime, HaveTheMillisecondThatContainsIt) {
    EXPECT_EQ(Ulid::compose(new_year + 999'999ns, {}), Ulid::boundary(new_year));
    EXPECT_EQ(Uuidv7::compose(new_year + 999'999ns, {}), Uuidv7::boundary(new_year));
    EXPECT_EQ(Ulid::compose(new_year + 1s, {}).time(), new_year + 1s);
    EXPECT_EQ(Sno::compose({.units = Sno::units_at(new_year)}), Sno::boundary(new_year));
    EXPECT_EQ(Snowflake::compose({.time = new_year}), Snowflake::boundary(new_year));
}

TYPED_TEST(IdValues, KnowWhichTimesTheyCanHave) {
    EXPECT_TRUE(TypeParam::contains_time(new_year));
    const Time epoch = time_of(TypeParam::epoch_unix_ms);
    const Time last = time_of(TypeParam::max_timestamp_ms);
    EXPECT_TRUE(TypeParam::contains_time(epoch));
    EXPECT_FALSE(TypeParam::contains_time(epoch - 1us));
    EXPECT_TRUE(TypeParam::contains_time(last + 999us));
    EXPECT_FALSE(TypeParam::contains_time(last + 1ms));
}

/// Whether a type has neither the first nor the last time of a unit. (A constant expression does
/// not overflow.)
template <typename T, typename Unit>
constexpr bool excludes_extremes = !T::contains_time(std::chrono::sys_time<Unit>::min()) &&
                                   !T::contains_time(std::chrono::sys_time<Unit>::max());

TYPED_TEST(IdValues, DoNotHaveTheFirstAndLastTimesOfUnits) {
    using namespace std::chrono;
    static_assert(excludes_extremes<TypeParam, years>);
    static_assert(excludes_extremes<TypeParam, days>);
    static_assert(excludes_extremes<TypeParam, duration<int32_t, std::ratio<86400>>>);
    static_assert(excludes_extremes<TypeParam, seconds>);
    static_assert(excludes_extremes<TypeParam, duration<int64_t, std::ratio<1, 60>>>);
    static_assert(excludes_extremes<TypeParam, duration<double>>);
    static_assert(excludes_extremes<TypeParam, duration<double, std::nano>>);
    static_assert(!TypeParam::contains_time(
        sys_time<duration<double>>{duration<double>{std::numeric_limits<double>::quiet_NaN()}}));
    static_assert(excludes_extremes<TypeParam, milliseconds>);
    static_assert(excludes_extremes<TypeParam, microseconds>);
    static_assert(!TypeParam::contains_time(sys_time<duration<uint64_t>>::max()));
    static_assert(
        TypeParam::contains_time(sys_time<duration<uint64_t>>{duration<uint64_t>{1767225600}}));
    // The nanoseconds of a number of 64 bits are the years 1677 to 2262.
    static_assert(!TypeParam::contains_time(sys_time<nanoseconds>::min()));
    static_assert(TypeParam::contains_time(sys_time<nanoseconds>::max()) ==
                  (TypeParam::max_timestamp_ms >= 9223372036854));
    // Each unit's last time within the format is one of its times.
    const Time end = time_of(TypeParam::max_timestamp_ms);
    EXPECT_TRUE(TypeParam::contains_time(floor<days>(end)));
    EXPECT_FALSE(TypeParam::contains_time(floor<days>(end) + days{1}));
}

TYPED_TEST(IdValues, ArePrintedAsTheTextThatIsParsed) {
    for (const auto& id : {two<TypeParam>.first, two<TypeParam>.second, TypeParam{}}) {
        const std::string text = to_string(id);
        EXPECT_EQ(parse<TypeParam>(text), id);
        std::ostringstream out;
        out << id << '|' << std::setw(40) << std::left << std::setfill('.') << id;
        EXPECT_EQ(out.str(), text + "|" + text + std::string(40 - text.size(), '.'));
    }
}

#ifdef __cpp_lib_format
TYPED_TEST(IdValues, AreFormattedAsStrings) {
    const TypeParam id = two<TypeParam>.first;
    EXPECT_EQ(std::format("{}", id), to_string(id));
    EXPECT_EQ(std::format("{:>40}|", id), std::format("{:>40}|", to_string(id)));
}
#endif

TYPED_TEST(IdValues, HaveHashesWhoseLowerBitsDifferForIdsOfOneSecond) {
    constexpr size_t buckets = 1024;
    std::unordered_set<TypeParam> ids;
    std::vector<int> filled(buckets);
    for (int i = 0; ids.size() < buckets; ++i) {
        const auto id = TypeParam::boundary(new_year + 20ms * i);
        if (ids.insert(id).second) ++filled[std::hash<TypeParam>{}(id) % buckets];
    }
    EXPECT_TRUE(ids.contains(two<TypeParam>.first));
    // Random hashes fill 63 % of the buckets; the most IDs in one of them are about 6.
    EXPECT_GT(buckets - static_cast<size_t>(std::count(filled.begin(), filled.end(), 0)), 500U);
    EXPECT_LT(*std::max_element(filled.begin(), filled.end()), 20);
}

template <typename T>
std::string reason(std::string_view text) {
    try {
        (void)parse<T>(text);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "valid";
}

TEST(ParseIds, ThrowsTheReason) {
    EXPECT_EQ(reason<Ulid>("01J"), "invalid ULID \"01J\": 3 characters instead of 26");
    EXPECT_EQ(reason<Ulid>("01KDVDNA000410U1050R3GG28A"),
              "invalid ULID \"01KDVDNA000410U1050R3GG28A\": character 15 is not allowed");
    EXPECT_EQ(reason<Ulid>("81KDVDNE000410U1050R3GG28A"),
              "invalid ULID \"81KDVDNE000410U1050R3GG28A\": the number is too large");
    EXPECT_EQ(reason<Sno>("BRPK4Q72XWF2M63L"),
              "invalid sno \"BRPK4Q72XWF2M63L\": character 1 is not allowed");
    EXPECT_EQ(reason<Uuidv7>("019b76da-a800-4001-8002-000000000003"),
              "invalid UUID of version 7 \"019b76da-a800-4001-8002-000000000003\": character 15 is "
              "not allowed, because it is the version, 7");
    EXPECT_EQ(reason<Uuidv7>("019b76da-a800-7001-c002-000000000003"),
              "invalid UUID of version 7 \"019b76da-a800-7001-c002-000000000003\": character 20 is "
              "not allowed, because it is the variant, 8, 9, a or b");
    EXPECT_EQ(reason<Snowflake>(""), "invalid Snowflake \"\": 0 characters instead of 1 to 19");
    EXPECT_EQ(reason<Snowflake>("-1"), "invalid Snowflake \"-1\": character 1 is not allowed");
    EXPECT_EQ(reason<Snowflake>("9223372036854775807"), "valid");
    EXPECT_EQ(reason<Snowflake>("9223372036854775808"),
              "invalid Snowflake \"9223372036854775808\": the number is too large");
    EXPECT_EQ(reason<SnowflakeOf<presets::si>>("9007199254740992"),
              "invalid Snowflake \"9007199254740992\": the number is too large");
    EXPECT_EQ(reason<Sno>(std::string(65, 'x')), "invalid sno: 65 characters instead of 16");
}

TEST(SnowflakeIds, HaveTheFieldsOfTheirLayout) {
    const auto id = parse<TwitterId>("1888944671579078978");
    EXPECT_EQ(id.split(), presets::twitter.split(1888944671579078978));
    EXPECT_EQ(id.time(), presets::twitter.split(1888944671579078978).time);
    const SnowflakeParts parts{.time = new_year, .datacenter = 3, .worker = 7, .sequence = 9};
    const auto composed = Snowflake::compose(parts);
    EXPECT_EQ(composed.datacenter(), 3U);
    EXPECT_EQ(composed.worker(), 7U);
    EXPECT_EQ(composed.sequence(), 9U);
    EXPECT_EQ(composed.time(), new_year);
    EXPECT_GT(composed, Snowflake::last_before(new_year));
}

}  // namespace
}  // namespace snowdrift
