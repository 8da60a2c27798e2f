#!/usr/bin/env bash
# Installs the client library in a temporary folder, and compiles and runs the examples that need no server: with the
# command in their first comment, with pkg-config, with find_package(), and with FetchContent. Compiles and runs the code
# without libpqxx in docs/cpp.md. Checks what does not compile, and the messages.
# usage: client_library.sh CMAKE CXX
set -euo pipefail
cmake=$1 cxx=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$source/test/page_code.sh"
cd "$work"

fail() { echo "$*" >&2; exit 1; }

# check FOLDER: runs the examples in the folder, and checks what they print.
check() {
    "$1/decode_ids" 01KDVDNA00041061050R3GG28A 661720242585638912 | diff - <(
        echo "ULID 01KDVDNA00041061050R3GG28A: 2026-01-01T00:00:00Z"
        echo "Snowflake 661720242585638912: 2026-01-01T00:00:00Z, datacenter 0, worker 9, sequence 2048")
    ! "$1/decode_ids" 01KDVDNA00041061050R3GG28 2>errors || fail "decode_ids accepts an ID that is too short"
    "$1/generate_ids" 67 >output
    grep -q '^40000 distinct Snowflakes of node 67, ' output || fail "$(cat output)"
    tail -n 3 output | LC_ALL=C sort -cu
    ! "$1/generate_ids" 1024 2>errors || fail "generate_ids accepts node 1024"
    grep -q 'node 1024 is out of range' errors
}

# The library without the tests neither looks for PostgreSQL nor for what only the tests need.
"$cmake" -S "$source" -B build -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_INSTALL_PREFIX="$work/prefix" >log ||
    fail "$(cat log)"
! grep -E '^(PG_CONFIG|GTest_DIR|PKG_CONFIG_EXECUTABLE|benchmark_DIR)\b' build/CMakeCache.txt ||
    fail "the client library looks for what only the tests need"
"$cmake" --install build >log
for file in include/snowdrift/pqxx.hpp share/cmake/snowdrift/snowdrift-config.cmake share/pkgconfig/snowdrift.pc; do
    [ -f "prefix/$file" ] || fail "not installed: $file"
done

echo "the commands in the first comments"
ln -s "$source/include" "$source/examples" .
for example in decode_ids generate_ids; do
    command=$(sed -n '1s/^\/\/ //p' "examples/$example.cpp")
    bash -ec "${command/g++/"$cxx"}" >output || fail "failed: $command"
done
check .

echo "pkg-config"
mkdir by_pkg_config
for example in decode_ids generate_ids; do
    # shellcheck disable=SC2046
    "$cxx" -std=c++20 "$source/examples/$example.cpp" -o "by_pkg_config/$example" \
        $(PKG_CONFIG_PATH=prefix/share/pkgconfig pkg-config --cflags --libs snowdrift)
done
check by_pkg_config

# by_cmake FOLDER OPTION...: builds the examples' project in the folder.
by_cmake() {
    "$cmake" -S "$source/examples" -B "$1" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON \
        "${@:2}" >log 2>&1 || fail "$(cat log)"
    "$cmake" --build "$1" >log 2>&1 || fail "$(cat log)"
    check "$1"
}

echo "find_package()"
by_cmake by_package -DCMAKE_PREFIX_PATH="$work/prefix"
grep -q "^snowdrift_DIR:PATH=$work/prefix/share/cmake/snowdrift$" by_package/CMakeCache.txt

echo "FetchContent"
by_cmake by_fetch -DCMAKE_DISABLE_FIND_PACKAGE_snowdrift=ON
[ -d by_fetch/_deps/snowdrift-build ] || fail "FetchContent was not used"

echo "docs/cpp.md"
page_programs "$source/docs/cpp.md" page
programs=$(grep -L pqxx page/*.cpp)
for program in $programs; do
    "$cxx" -std=c++20 -pthread -I include "$program" -o "${program%.cpp}"
    "${program%.cpp}" >output
done

echo "older standards"
for compiler in "$cxx" clang++; do
    command -v "$compiler" >/dev/null || continue
    for header in include/snowdrift/*.hpp include/snowdrift/core/*.hpp; do
        ! "$compiler" -std=c++17 -I include -fsyntax-only -x c++ "$header" 2>errors || fail "compiled as C++17: $header"
        if [ "$(grep -c 'error: ' errors)" -ne 1 ] || ! grep -q 'fatal error: .*Snowdrift requires C++20' errors; then
            fail "$(cat errors)"
        fi
    done
done

echo "results that are ignored"
statements=(
    'parse<Ulid>("")'
    'Ulid::parse("", ulid)'
    'SnowflakeText::parse("", number)'
    'TypeId::parse("", type_id)'
    'TypeId::check_prefix("")'
    'parse_layout("", layout)'
    'make_layout({}, layout)'
    'parse_utc("", number)'
    'sno.with_metabyte(1)'
    'sno.with_partition(1)'
    'sno.with_sequence(1)'
    'Ulid::contains_time(ulid.time())'
    'Snowflake::contains_time(ulid.time())'
    'layout.contains_time(ulid.time())'
    'Snowflake::contains_id(number)'
    'layout.contains_id(number)'
    'is_valid(layout)'
    'Uuidv7::is_version_7({})'
    'Uuidv7::is_valid(Uuidv7{}.randomness())'
)
cat >ignored.cpp <<CODE
#include <snowdrift/parse.hpp>
#include <snowdrift/sno.hpp>
#include <snowdrift/snowflake_id.hpp>
#include <snowdrift/snowflake_text.hpp>
#include <snowdrift/typeid.hpp>
#include <snowdrift/ulid.hpp>
using namespace snowdrift;
void ignore(Ulid ulid, Sno sno, SnowflakeLayout layout, TypeId type_id, int64_t number) {
    (void)ulid, (void)sno, (void)layout, (void)type_id, (void)number;
$(printf '    %s;\n' "${statements[@]}")
}
CODE
"$cxx" -std=c++20 -I include -fsyntax-only ignored.cpp 2>errors
! "$cxx" -std=c++20 -Werror=unused-result -I include -fsyntax-only ignored.cpp 2>errors || fail "no error"
[ "$(grep -c '^ignored.cpp:.* error: ignoring return' errors)" -eq ${#statements[@]} ] || fail "$(cat errors)"

echo "layouts that do not compile"
cat >layouts.cpp <<'CODE'
#include <snowdrift/generators.hpp>
using namespace snowdrift;
#ifdef WITHOUT_EPOCH
SnowflakeOf<SnowflakeLayout{.timestamp_bits = 41, .worker_bits = 10, .sequence_bits = 12}> id;
#else
using Id = SnowflakeOf<SnowflakeLayout{.epoch_unix_ms = 0, .timestamp_bits = 41, .sequence_bits = SEQUENCE_BITS}>;
SnowflakeGeneratorOf<Id::layout> generator{0};
#endif
CODE
"$cxx" -std=c++20 -I include -fsyntax-only -DSEQUENCE_BITS=2 layouts.cpp
# does_not_compile MESSAGE OPTION: layouts.cpp with the option has an error with this message.
does_not_compile() {
    ! "$cxx" -std=c++20 -I include -fsyntax-only "$2" layouts.cpp 2>errors || fail "compiled: $2"
    grep -q "error: static.*$1" errors || fail "$(cat errors)"
}
does_not_compile "not a layout that make_layout() returns" -DWITHOUT_EPOCH
for bits in 0 1; do
    does_not_compile "a generator needs at least 4 sequence numbers" -DSEQUENCE_BITS=$bits
done

echo "libpqxx in any order of includes"
cat >code.cpp <<'CODE'
std::optional<snowdrift::Ulid> read(const pqxx::field& field) {
    return field.as<std::optional<snowdrift::Ulid>>();
}
CODE
cat <(echo '#include <pqxx/pqxx>'; echo '#include <snowdrift/pqxx.hpp>') code.cpp >libpqxx_first.cpp
cat <(echo '#include <snowdrift/pqxx.hpp>'; echo '#include <pqxx/pqxx>') code.cpp >libpqxx_last.cpp
for program in libpqxx_first libpqxx_last; do
    # shellcheck disable=SC2046
    "$cxx" -std=c++20 -I include $(pkg-config --cflags libpqxx) -fsyntax-only $program.cpp
done
