# shellcheck shell=bash
# ./dev bench, except --on, which is in matrix.sh. Part of ./dev.

cmd_bench() {
    if [ "${1:-}" = --on ]; then
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        bench_on "${@:2}"
        return
    fi
    if [ "${1:-}" = conversions ]; then
        bench_conversions "${@:2}"
        return
    fi
    find_postgres
    need libbenchmark-dev gnuplot-nox valgrind "postgresql-client-$pg_version"
    build_cmake snowdrift_bench
    stage
    quietly "Building the benchmark's functions" \
        make -s -B -C bench install DESTDIR="$work/root"
    # Other extensions that the benchmark measures: see CONTRIBUTING.md
    [ ! -d build/peers ] || cp -R build/peers/. "$work/root"
    start_server "shared_preload_libraries = ''" "max_connections = 1100" "shared_buffers = $(quarter_of_memory)MB" \
        "max_wal_size = 32GB" "checkpoint_timeout = 1h" "autovacuum = off"
    run_psql -q -f bench/functions.sql >/dev/null
    run_psql -q -c 'CREATE DATABASE bench_sql_edition'
    run_psql -q -1 -d bench_sql_edition -f sql-edition/snowdrift.sql >/dev/null
    run_psql -q -d bench_sql_edition -c "SELECT snowdrift.create_generator('wide', 'snowflake', 'mastodon')" >/dev/null
    interruptibly env PATH="$bindir:$PATH" build/cmake/bench/snowdrift_bench "$@"
}

# bench_conversions [ROWS [RUNS]]
bench_conversions() {
    find_postgres
    need python3 "postgresql-client-$pg_version"
    stage
    start_server "shared_buffers = $(quarter_of_memory)MB" "max_wal_size = 32GB" "maintenance_work_mem = 256MB"
    interruptibly env PATH="$bindir:$PATH" \
        python3 bench/conversion_script.py "${1:-3000000}" "${2:-3}"
}

# Prints a quarter of the memory in MB, at most 8192.
quarter_of_memory() {
    awk '/^MemTotal/ { mb = int($2 / 4096); print mb < 8192 ? mb : 8192 }' /proc/meminfo
}
