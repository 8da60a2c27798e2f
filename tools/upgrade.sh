# shellcheck shell=bash
# What the tests of upgrades need: a made-up next version of the library. Part of ./dev.

copy_sources() {
    mkdir -p "$1"
    tar -c --exclude='*.o' Makefile snowdrift.control snowdrift--*.sql include src | tar -x -C "$1"
}

# build_next_version: builds the made-up library $work/next/snowdrift.so. It is this checkout's, except that slots
# have another structure and that it has the additional C function made_up().
build_next_version() {
    local next=$work/next
    [ ! -f "$next/snowdrift.so" ] || return 0
    copy_sources "$next"
    edit "$next/src/pg/memory/slots.hpp" 's/(structure_version) = [0-9]+;/\1 = 1000;/'
    edit "$next/src/pg/memory/slots.hpp" 's/^(struct alignas\(64\) Slot \{)/\1 char made_up[64];/'
    edit "$next/src/pg/memory/slots.hpp" '/^static_assert\(sizeof\(Slot\) ==/d'
    cat >"$next/src/pg/made_up.cpp" <<'CPP'
#include "pg/support/postgres.hpp"

SNOWDRIFT_FUNCTION(made_up) { PG_RETURN_INT32(11); }
CPP
    quietly "Building a made-up next version" make -j"$jobs" -C "$next"
}

# edit FILE SED-SCRIPT: fails if the script changes nothing.
edit() {
    sed -E "$2" "$1" >"$1.new"
    ! cmp -s "$1" "$1.new" || die "$2 does not change $1"
    mv "$1.new" "$1"
}
