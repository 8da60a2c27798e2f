# shellcheck shell=bash
# ./dev test --assertions, --sanitizers and --valgrind: for each, a PostgreSQL that is built once, from the
# distribution's sources, in $SNOWDRIFT_CACHE. All of them have assertions. Part of ./dev, which defines the functions
# used here.

# build_server KIND: KIND is assertions, sanitizers or valgrind. Sets PG_CONFIG, and pg_source: the folder in which the
# server was built.
build_server() {
    find_postgres
    need gcc g++ make bison flex perl xz-utils bzip2
    [ "$1" != valgrind ] || need valgrind
    # The programs, including those that the build runs, exit without freeing their memory.
    [ "$1" != sanitizers ] || export ASAN_OPTIONS=detect_leaks=0
    local folder=${SNOWDRIFT_CACHE:-/var/cache/snowdrift}/$1-$pg_version
    if [ ! -f "$folder/.complete" ]; then
        as_root rm -rf "$folder"
        as_root mkdir -p "$folder"
        as_root chown "$(id -u)" "$folder"
        quietly "Fetching the sources of PostgreSQL $pg_version" fetch_sources "$folder"
        quietly "Building PostgreSQL $pg_version for --$1" "build_for_$1" "$folder"
        touch "$folder/.complete"
    fi
    pg_source=$folder/source
    PG_CONFIG=$folder/root/bin/pg_config
    pg_version=
    find_postgres
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
    mkdir "$folder/source" || return
    tar -x --no-same-owner --no-same-permissions --strip-components 1 -C "$folder/source" \
        -f "$folder"/postgresql-"$pg_version"_*.orig.tar.*
}

build_for_assertions() { build_sources "$1" CFLAGS=-O1; }

# PostgreSQL's client requests tell Valgrind which memory the server may access. The catalog caches free an entry when
# it is released, so that later accesses to it are found.
checked="-DUSE_VALGRIND -DCATCACHE_FORCE_RELEASE"

# The server has AddressSanitizer. The extension, which PGXS builds with the same flags for C++ and shared libraries,
# also has UndefinedBehaviorSanitizer, with -fno-wrapv, because PostgreSQL's -fwrapv defines the overflow of signed
# numbers. memcheck.h passes the client requests to AddressSanitizer. The relation cache frees closed relations;
# Valgrind is too slow for that.
build_for_sanitizers() {
    mkdir "$1/source/src/include/valgrind" && cp tools/memcheck.h "$1/source/src/include/valgrind/" || return
    build_sources "$1" CPPFLAGS="$checked -DRELCACHE_FORCE_RELEASE" CFLAGS="-O1 -fsanitize=address" \
        CXXFLAGS="-O1 -fno-wrapv -fsanitize=address,undefined -fno-sanitize-recover=all" \
        LDFLAGS_SL=-fsanitize=address,undefined
}

build_for_valgrind() { build_sources "$1" CPPFLAGS="$checked" CFLAGS=-O1 CXXFLAGS=-O1; }

# build_sources FOLDER CONFIGURE-ARGUMENT...
build_sources() {
    cd "$1/source" || return
    ./configure --prefix="$1/root" --enable-cassert --enable-debug --without-icu --without-readline \
        --without-zlib "${@:2}" &&
        make -j"$jobs" && make install && make -C src/test/isolation install && make -C src/test/regress
}
