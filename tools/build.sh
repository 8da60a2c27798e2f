# shellcheck shell=bash
# Selection of the PostgreSQL installation, builds of the extension and the C++ tests for it, and ./dev clean.
# Part of ./dev.

# Sets PG_CONFIG, pg_version, bindir and pgxs_src. Installs PostgreSQL and a compiler if they are missing.
find_postgres() {
    [ -z "${pg_version:-}" ] || return 0
    if [ -z "${PG_CONFIG:-}" ] && [ -n "${SNOWDRIFT_POSTGRESQL_16_SOURCE:-}" ]; then build_server plain; return; fi
    if [ -z "${PG_CONFIG:-}" ]; then
        local newest
        newest=$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -n 1 || true)
        if [ -z "$newest" ]; then
            [ -n "$(packaged_version)" ] || { say "Reading package lists"; refresh_package_lists >/dev/null; }
            [ -n "$(packaged_version)" ] || die "found no package of PostgreSQL"
            need_server "postgresql-$(packaged_version)"
            newest=/usr/lib/postgresql/$(packaged_version)/bin/postgres
        fi
        PG_CONFIG=${newest%postgres}pg_config
        local version=${newest#/usr/lib/postgresql/}
        need g++ make "postgresql-server-dev-${version%%/*}"
    fi
    export PG_CONFIG
    pg_version=$(major_version "$PG_CONFIG")
    [ "${SNOWDRIFT_EXPECT:-$pg_version}" = "$pg_version" ] ||
        die "expected PostgreSQL $SNOWDRIFT_EXPECT, but found PostgreSQL $pg_version"
    bindir=$("$PG_CONFIG" --bindir)
    pgxs_src=$(dirname "$("$PG_CONFIG" --pgxs)")/../
}

# major_version PG_CONFIG: prints the version of PostgreSQL, such as 18.
major_version() { "$1" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/'; }

jobs=$(nproc)

cmd_build() { build; }

build() {
    find_postgres
    # Objects of one PostgreSQL version must not be linked into a build for another.
    mkdir -p build
    local stamp
    stamp="$PG_CONFIG $("$PG_CONFIG" --version)"
    if [ "$(cat build/postgres 2>/dev/null)" != "$stamp" ]; then
        make -s clean >/dev/null
        make -s -C bench clean >/dev/null
        echo "$stamp" >build/postgres
    fi
    local files  # that are not up to date; each takes a processor two seconds
    files=$(make -n 2>/dev/null | grep -c -- ' -c ' || true)
    quietly "Building the extension for PostgreSQL $pg_version$([ "$files" -eq 0 ] ||
        echo ": $files C++ files, about $((files * 2 / jobs + 1)) s")" make -j"$jobs"
}

# join_sources FOLDER: joins the sources of each folder of src/pg to one in FOLDER, because most of the time of a compiler
# goes to PostgreSQL's headers. Does not include them: clang-tidy omits many checks in included files.
join_sources() {
    local folder
    for folder in src/pg/ src/pg/*/; do cat "$folder"*.cpp >"$1/$(basename "$folder").cpp"; done
}

cmake_folder=build/cmake cmake_options=()  # test_cross_compiled sets others

# build_cmake [TARGET...]: prepares the C++ tests, and builds the targets of CMakeLists.txt.
build_cmake() {
    find_postgres
    need cmake g++ git pkg-config libgtest-dev libpqxx-dev
    # libpq.pc of PostgreSQL 19 requires libcurl, but Debian's libpq-dev does not depend on it.
    pkg-config --exists libpq || need libcurl4-openssl-dev
    local sanitizers=ON quick=ON
    [ -z "${SNOWDRIFT_LONG:-}${SNOWDRIFT_EXPECT:-}" ] || quick=OFF  # a release and ./dev matrix test optimized code
    [ -z "${SNOWDRIFT_EMULATED:-}$architecture" ] || sanitizers=OFF  # QEMU cannot run ThreadSanitizer
    quietly "Configuring the C++ tests" \
        cmake -S . -B "$cmake_folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSNOWDRIFT_TESTS=ON -DPG_CONFIG="$PG_CONFIG" \
        -DSNOWDRIFT_SANITIZERS="$sanitizers" -DSNOWDRIFT_QUICK="$quick" "${cmake_options[@]}"
    [ $# -eq 0 ] || quietly "Building the C++ tests" cmake --build "$cmake_folder" --target "$@" -j"$jobs"
}

cmd_clean() {
    make -s clean >/dev/null 2>&1 || true
    make -s -C bench clean >/dev/null 2>&1 || true
    rm -rf build results regression.diffs regression.out
}
