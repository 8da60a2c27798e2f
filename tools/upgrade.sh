# shellcheck shell=bash
# What the tests of upgrades need: a made-up next version of the library, and a server of an earlier major version of
# PostgreSQL. Part of ./dev.

# copy_sources FOLDER: without objects.
copy_sources() {
    mkdir -p "$1"
    tar -c --exclude='*.[do]' Makefile META.json snowdrift.control snowdrift--*.sql include src | tar -x -C "$1"
}

# build_next_version: builds the made-up library $work/next/snowdrift.so. It is this checkout's, except that slots
# have another structure and that it has the additional C function made_up().
build_next_version() {
    local next=$work/next
    [ ! -f "$next/snowdrift.so" ] || return 0
    copy_sources "$next"
    # Joined sources compile in a fifth of the time. Those of a copy by ./dev matrix may be joined already.
    if compgen -G "src/pg/*/*.cpp" >/dev/null; then
        rm "$next"/src/pg/{,*/}*.cpp
        join_sources "$next/src/pg"
    fi
    edit "$next/src/pg/slots/slots.hpp" 's/(structure_version) = [0-9]+;/\1 = 1000;/'
    edit "$next/src/pg/slots/slot.hpp" 's/^(struct alignas\(64\) Slot \{)/\1 char made_up[64];/'
    edit "$next/src/pg/slots/slot.hpp" '/^static_assert\(sizeof\(Slot\) ==/d'
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

previous_bindir=  # of the previous version of PostgreSQL, if stage_for_previous has found it

# previous_version: prints the newest version before this one that Debian has; nothing if there is none.
previous_version() { debian_versions | awk -v this="$pg_version" '$1 < this' | tail -n 1; }

# stage_for_previous: stages the extension for previous_version too, and writes $work/previous.conf, if Debian's
# packages of that version are installed. Installs them in the chroots of ./dev matrix. Other machines are not
# changed: SNOWDRIFT_EXPECT is set only in a chroot.
stage_for_previous() {
    local version config
    version=$(previous_version)
    config=/usr/lib/postgresql/$version/bin/pg_config
    [ -n "$version" ] || return 0
    [ "$bindir" = "/usr/lib/postgresql/$pg_version/bin" ] || return 0
    [ -z "${SNOWDRIFT_EXPECT:-}" ] || install_previous "$version"
    [ -x "${config%pg_config}postgres" ] && [ -f "$("$config" --pgxs)" ] || return 0
    copy_sources "$work/previous"
    quietly "Building the extension for PostgreSQL $version" \
        make -j"$jobs" -C "$work/previous" install DESTDIR="$work/root" PG_CONFIG="$config"
    # pg_upgrade looks for the library as the catalog names it. PostgreSQL 18 and later find a staged library only by
    # its simple name.
    edit "$work/root$("$config" --sharedir)/extension/snowdrift.control" 's/\$libdir\///'
    extension_conf "$config" "$work/root" >"$work/previous.conf"
    previous_bindir=${config%/pg_config}
}

# install_previous VERSION: installs a server, from the Debian suite that contains it if this one doesn't.
install_previous() {
    local suite
    suite=$(debian_suite "$1" 2>/dev/null) || return 0
    if ! apt-cache show "postgresql-$1" >/dev/null 2>&1; then
        echo "deb $(mirror) $suite main" | as_root tee "/etc/apt/sources.list.d/snowdrift-$suite.list"
        printf 'Package: *\nPin: release n=%s\nPin-Priority: 1\n' "$suite" |
            as_root tee "/etc/apt/preferences.d/snowdrift-$suite"
        package_lists_fresh=
    fi >/dev/null
    need_server "postgresql-$1" "postgresql-server-dev-$1"
}
