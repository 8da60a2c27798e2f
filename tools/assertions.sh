# shellcheck shell=bash
# ./dev test --assertions: a PostgreSQL that is built once with assertions, from the distribution's sources,
# in $SNOWDRIFT_CACHE. Part of ./dev, which defines the functions used here.

# Sets PG_CONFIG, and assertions_source: the folder in which it was built.
build_server_with_assertions() {
    find_postgres
    need gcc make bison flex perl xz-utils bzip2
    local folder=${SNOWDRIFT_CACHE:-/var/cache/snowdrift}/assertions-$pg_version
    if [ ! -f "$folder/.complete" ]; then
        as_root rm -rf "$folder"
        as_root mkdir -p "$folder"
        as_root chown "$(id -u)" "$folder"
        quietly "Fetching the sources of PostgreSQL $pg_version" fetch_sources "$folder"
        quietly "Building PostgreSQL $pg_version with assertions" build_sources "$folder"
        touch "$folder/.complete"
    fi
    assertions_source=$folder/source
    PG_CONFIG=$folder/root/bin/pg_config
    pg_version=
    find_postgres
}

# fetch_sources FOLDER: fetches the sources into FOLDER/source. Uses separate package lists, so the machine's
# lists do not change.
fetch_sources() {
    local folder=$1 list=$1/sources.list suite
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")
    grep -q /sid /etc/debian_version && suite=sid
    echo "deb-src $(mirror) $suite main" >"$list"
    mkdir -p "$folder/lists/partial"
    local options=(-o "Dir::Etc::SourceList=$list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$folder/lists"
        -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update
    (cd "$folder" && apt-get "${options[@]}" source --download-only "postgresql-$pg_version")
    mkdir "$folder/source"
    tar -x -f "$folder"/postgresql-"$pg_version"_*.orig.tar.* -C "$folder/source" --strip-components 1
}

build_sources() {
    cd "$1/source"
    ./configure --prefix="$1/root" --enable-cassert --enable-debug --without-icu --without-readline \
        --without-zlib CFLAGS=-O1
    make -j"$jobs"
    make install
    make -C src/test/isolation install
    make -C src/test/regress
}
