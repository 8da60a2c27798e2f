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
    if [[ " $* " == *" --processes "* ]]; then
        bench_processes "$@"
        return
    fi
    find_postgres
    need libbenchmark-dev gnuplot-nox valgrind "postgresql-client-$pg_version"
    build_cmake snowdrift_bench
    stage
    quietly "Building the benchmark's functions" \
        make -s -B -C bench install DESTDIR="$work/root"
    # Other extensions that the benchmark measures: see docs/testing.md
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

# bench_processes [--quick] sessions --processes N: inserts rows from N sessions, one per transaction, into tables with
# ascending and random keys, and with hash partitions. Prints the rows per second of each, and how often sessions waited
# for a page of the index or the table. The commits don't wait for the disk, because that would hide the pages.
bench_processes() {
    local seconds=10 rounds=5 quick='' of
    [ "$1" != --quick ] || { quick=1; shift; }
    [ $# -eq 3 ] && [ "$1 $2" = "sessions --processes" ] && [[ $3 =~ ^[1-9][0-9]{0,2}$ ]] || { usage >&2; exit 2; }
    local sessions=$3 tables=(identity identity_hash snowflake snowflake_hash random)
    [ -z "$quick" ] || { seconds=1; rounds=1; }
    find_postgres
    need "postgresql-client-$pg_version"
    stage
    start_server "max_connections = $((sessions + 20))" "shared_buffers = $(quarter_of_memory)MB" \
        "max_wal_size = 32GB" "checkpoint_timeout = 1h" "autovacuum = off" "synchronous_commit = off"
    run_psql -q -v ON_ERROR_STOP=1 -f bench/processes.sql
    say "$sessions sessions on $jobs processors, about $((${#tables[@]} * rounds * (seconds + 1))) s"
    local round i table
    for ((round = 1; round <= rounds; round++)); do
        for ((i = 0; i < ${#tables[@]}; i++)); do
            table=${tables[(round + i) % ${#tables[@]}]}
            run_psql -q -c "TRUNCATE bench.$table" -c CHECKPOINT
            echo "INSERT INTO bench.$table (value) VALUES (1)" >"$work/insert.sql"
            run_psql -q -c "CALL bench.sample('$table', $seconds)" &
            PATH="$bindir:$PATH" pgbench -n -M prepared -f "$work/insert.sql" -c "$sessions" -j "$jobs" -T "$seconds" \
                "${PGDATABASE:-postgres}" >"$work/pgbench.log" 2>&1 || { cat "$work/pgbench.log"; die "pgbench failed"; }
            wait $!
            of=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$work/pgbench.log")
            run_psql -q -c "INSERT INTO bench.speed VALUES ('$table', $of)"
        done
    done
    run_psql -P footer=off -c 'SELECT * FROM bench.result'
}

# Prints a quarter of the memory in MB, at most 8192.
quarter_of_memory() {
    awk '/^MemTotal/ { mb = int($2 / 4096); print mb < 8192 ? mb : 8192 }' /proc/meminfo
}
