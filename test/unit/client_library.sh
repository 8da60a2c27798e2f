#!/usr/bin/env bash
# Installs the client library in a temporary folder, and compiles and runs the examples that need no server: with the
# command in their first comment, with pkg-config, with find_package(), and with FetchContent.
# usage: client_library.sh CMAKE CXX
set -euo pipefail
cmake=$1 cxx=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
