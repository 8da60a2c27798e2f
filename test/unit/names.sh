#!/usr/bin/env bash
# tools/check_names.sh refuses names that two headers declare in one namespace, and local functions with the name of a
# function of a header. Works on made-up files, and then on this checkout.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/tools/check_names.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/include/snowdrift" "$work/src/pg"
cd "$work"

fail() { echo "$*" >&2; exit 1; }

# header NAMESPACE LINE..., unit NAMESPACE LINE...: a second header, or a .cpp file, with these lines in the namespace.
header() { in_namespace "$@" >src/pg/clock.hpp; }
unit() { in_namespace "$@" >src/pg/clock.cpp; }
in_namespace() { printf '%s\n' "namespace $1 {" "${@:2}" "}  // namespace $1"; }

accepted() { "$check" "$work" 2>output || fail "not accepted: $(cat output)"; }

# refused LINE: the check fails and prints only the line.
refused() {
    ! "$check" "$work" 2>output || fail "not refused: $1"
    [ "$(cat output)" = "$1" ] || fail "expected '$1', but the output is: $(cat output)"
}

in_namespace snowdrift \
    'constexpr int64_t floor(Time time) noexcept { return time.count(); }' \
    'template <typename Duration>' \
    'constexpr int64_t floor(std::chrono::sys_time<Duration> time) noexcept;' \
    'bool operator==(Time a, Time b);' \
    'class Clock;  // used by Traits' \
    'class Clock {' \
    ' public:' \
    '    int64_t now();' \
    '};' \
    'template <typename T>' \
    'struct Traits {};' \
    'enum class Verdict : uint8_t { issued };' \
    'template <typename T>' \
    'concept AnyId = is_id<T>;' \
    'inline constexpr std::array<Field, 3> fields = {};' >include/snowdrift/time.hpp
accepted

# clash LINE NAME: a header with the line in the same namespace is refused because of the name.
clash() {
    header snowdrift "$1"
    refused "src/pg/clock.hpp:2: include/snowdrift/time.hpp also declares snowdrift::$2"
}
clash 'int64_t floor(TimestampTz time);' floor
clash '[[nodiscard]] inline std::optional<std::pair<Oid, Oid>> floor(' floor
clash 'std::function<void(int)> floor(TimestampTz time) {' floor
clash 'const char* floor(TimestampTz time) {' floor
clash 'using Clock = std::chrono::system_clock;' Clock
clash 'struct alignas(64) Clock : Base<Clock> {' Clock
clash 'class Traits final {' Traits
clash 'enum Verdict { issued };' Verdict
clash 'struct AnyId {' AnyId
clash 'extern int fields[3];' fields
header snowdrift 'std::optional<std::pair<Oid, Oid>>' 'floor(TimestampTz time);'
refused 'src/pg/clock.hpp:3: include/snowdrift/time.hpp also declares snowdrift::floor'

# Another namespace, members, specializations and forward declarations
header snowdrift::clock 'int64_t floor(TimestampTz time);' 'class Clock {};'
accepted
header snowdrift 'class Clock;  // of time.hpp' 'struct Reading {' '    int64_t floor(TimestampTz time);' '};' \
    'template <>' 'struct Traits<Clock> {};' 'int64_t Clock::floor() { return now(); }' \
    'template <typename Clock = int,' '          typename T = int>' 'struct Other {};' \
    'bool operator==(Clock a, Clock b);' '// Clock floor(Verdict)'
accepted

# Local functions
header snowdrift::clock 'int64_t now_ms();'
clashes='also declares snowdrift'
unit snowdrift::clock 'namespace {' 'int64_t now_ms(Clock clock) { return 0; }' '}  // namespace'
refused "src/pg/clock.cpp:3: src/pg/clock.hpp $clashes::clock::now_ms"
unit snowdrift::clock 'namespace {' 'int64_t floor(int64_t ms) { return ms; }' '}  // namespace'
refused "src/pg/clock.cpp:3: include/snowdrift/time.hpp $clashes::floor"
printf '%s\n' 'using namespace snowdrift;' 'namespace {' 'int64_t floor(int64_t ms);' '}  // namespace' >src/pg/clock.cpp
refused "src/pg/clock.cpp:3: include/snowdrift/time.hpp $clashes::floor"
unit snowdrift 'namespace {' 'int64_t now_ms();' '}  // namespace' 'int64_t floor(Time time) { return 0; }'
accepted

"$check"
