#!/usr/bin/env bash
# The Makefile builds in another folder, passes a packager's flags to the compiler, knows the release's version, compiles
# what a changed header requires, and makes equal archives of a commit. Compiles one file.
# usage: makefile.sh PG_CONFIG
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*" >&2; exit 1; }

version=$(sed -n 's/^project(snowdrift VERSION \([0-9.]*\) .*/\1/p' "$source/CMakeLists.txt")

# check_build FOLDER OPTION...: builds one object in the folder.
check_build() {
    mkdir "$work/$1"
    local make=(make --no-print-directory -C "$work/$1" "${@:2}" PG_CONFIG="$pg_config" COPT='-O0 -DPACKAGER')
    "${make[@]}" src/pg/module.o >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    [ -f "$work/$1/src/pg/module.o" ] || fail "$1: module.o is elsewhere"
    local compiled
    compiled=$("${make[@]}" -n | grep -E '(^| )-c( |$)') || fail "$1: nothing to compile"
    ! grep -v -e ' -O0 -DPACKAGER' <<<"$compiled" || fail "$1: COPT is missing"
    ! grep -v -e " -DSNOWDRIFT_VERSION=$version" <<<"$compiled" || fail "$1: the version is missing"

    # module.cpp includes postgres.hpp, but not tables.hpp. Make must not fail if a header no longer exists.
    local header
    header=$(sed -n 's/^\([^ ]*\/postgres\.hpp\):$/\1/p' "$work/$1/src/pg/module.d")
    [ -n "$header" ] || fail "$1: module.d has no line for postgres.hpp alone"
    ! compiles_module -W "${header%/*}/tables.hpp" || fail "$1: an unrelated header causes a compilation"
    compiles_module -W "$header" || fail "$1: a changed header causes no compilation"
    rm "$work/$1/src/pg/module.d"
    compiles_module || fail "$1: an object whose headers are unknown causes no compilation"
}

# compiles_module OPTION...: whether make would compile module.cpp, for the variable make of the caller.
compiles_module() { "${make[@]}" -n src/pg/module.o "$@" | grep -qE '(^| )-c( |$)'; }

pg_config=$1
check_build with_f -f "$source/Makefile"
check_build with_vpath -f "$source/Makefile" VPATH="$source"  # as pg_buildext calls it
check_build with_depend -f "$source/Makefile" autodepend=yes  # as a server that was configured with --enable-depend

git -C "$source" rev-parse HEAD >/dev/null 2>&1 || exit 0  # not a checkout
for copy in first second; do
    mkdir "$work/$copy"
    make -s -C "$work/$copy" -f "$source/Makefile" PG_CONFIG="$pg_config" dist
done
diff -r "$work/first" "$work/second"
[ "$(ls "$work/first" | wc -l)" -eq 2 ] || fail "make dist: $(ls "$work/first")"
