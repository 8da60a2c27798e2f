# shellcheck shell=bash
# Servers that are built once in $SNOWDRIFT_CACHE: of ./dev test --assertions, --sanitizers and --valgrind, which all have
# assertions, from the distribution's sources; and one from the archive that SNOWDRIFT_POSTGRESQL_16_SOURCE names.
# Part of ./dev, which defines the functions used here.

# build_server KIND: KIND is plain, assertions, sanitizers or valgrind. Sets PG_CONFIG, and pg_source: the folder in which
# the server was built.
build_server() {
    local archive= name
    [ -n "${PG_CONFIG:-}" ] || archive=${SNOWDRIFT_POSTGRESQL_16_SOURCE:-}
    if [ -n "$archive" ]; then
        [ -f "$archive" ] || die "SNOWDRIFT_POSTGRESQL_16_SOURCE is not a file: $archive"
        name=16-$(cksum <"$archive" | tr ' ' -)
    else
        find_postgres
        name=$pg_version
    fi
    # postgresql-common creates the server's user.
    need gcc g++ make bison flex perl xz-utils bzip2 postgresql-common
    [ "$1" != plain ] || need libipc-run-perl
    [ "$1" != valgrind ] || need valgrind
    # The programs, including those that the build runs, exit without freeing their memory.
    [ "$1" != sanitizers ] || export ASAN_OPTIONS=detect_leaks=0
    local folder=${SNOWDRIFT_CACHE:-/var/cache/snowdrift}/$1-$name
    if [ ! -f "$folder/.complete" ]; then
        as_root rm -rf "$folder"
        as_root mkdir -p "$folder"
        as_root chown "$(id -u)" "$folder"
        if [ -n "$archive" ]; then quietly "Unpacking $archive" unpack_sources "$folder" "$archive"
        else quietly "Fetching the sources of PostgreSQL $name" fetch_sources "$folder"
        fi
        quietly "Building PostgreSQL ${name%%-*}, $1" "build_$1" "$folder"
        touch "$folder/.complete"
    fi
    pg_source=$folder/source
    PG_CONFIG=$folder/root/bin/pg_config
    pg_version=
    find_postgres
    [ -z "$archive" ] || [ "$pg_version" = 16 ] || die "$archive contains PostgreSQL $pg_version"
}

# fetch_sources FOLDER: fetches the sources into FOLDER/source. Uses separate package lists, so the machine's
# lists do not change.
fetch_sources() {
    local folder=$1 list=$1/sources.list suite
    require_mirror || return  # set -e is off here
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")
    grep -q /sid /etc/debian_version && suite=sid
    echo "deb-src $(mirror) $suite main" >"$list"
    mkdir -p "$folder/lists/partial"
    local options=(-o "Dir::Etc::SourceList=$list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$folder/lists"
        -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update || return
    (cd "$folder" && apt-get "${options[@]}" source --download-only "postgresql-$pg_version") || return
    unpack_sources "$folder" "$folder"/postgresql-"$pg_version"_*.orig.tar.*
}

# unpack_sources FOLDER ARCHIVE: unpacks the archive into FOLDER/source.
unpack_sources() {
    mkdir "$1/source" &&
        tar -x --no-same-owner --no-same-permissions --strip-components 1 -C "$1/source" -f "$2"
}

# Also builds what the TAP tests need.
build_plain() {
    build_sources "$1" --disable-cassert --enable-tap-tests CFLAGS=-O2 && make -C contrib -j"$jobs" install
}

build_assertions() { build_sources "$1" CFLAGS=-O1; }

# PostgreSQL's client requests tell Valgrind which memory the server may access. The catalog caches free an entry when
# it is released, so that later accesses to it are found.
checked="-DUSE_VALGRIND -DCATCACHE_FORCE_RELEASE"

# The server has AddressSanitizer. The extension, which PGXS builds with the same flags for C++ and shared libraries,
# also has UndefinedBehaviorSanitizer, with -fno-wrapv, because PostgreSQL's -fwrapv defines the overflow of signed
# numbers. memcheck.h passes the client requests to AddressSanitizer, whether or not Valgrind is installed. The relation
# cache frees closed relations; Valgrind is too slow for that.
build_sanitizers() {
    local header
    mkdir "$1/source/src/include/valgrind" || return
    for header in memcheck valgrind; do cp tools/memcheck.h "$1/source/src/include/valgrind/$header.h" || return; done
    build_sources "$1" CPPFLAGS="$checked -DRELCACHE_FORCE_RELEASE" CFLAGS="-O1 -fsanitize=address" \
        CXXFLAGS="-O1 -fno-wrapv -fsanitize=address,undefined -fno-sanitize-recover=all" \
        LDFLAGS_SL=-fsanitize=address,undefined
}

build_valgrind() { build_sources "$1" CPPFLAGS="$checked" CFLAGS=-O1 CXXFLAGS=-O1; }

# build_sources FOLDER CONFIGURE-ARGUMENT...
build_sources() {
    cd "$1/source" || return
    ./configure --prefix="$1/root" --enable-cassert --enable-debug --without-icu --without-readline \
        --without-zlib "${@:2}" &&
        make -j"$jobs" && make install && make -C src/test/isolation install && make -C src/test/regress
}
