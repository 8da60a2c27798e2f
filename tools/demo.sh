# shellcheck shell=bash
# ./dev demo: runs demo.sql on a throwaway server. ./dev demo faults: runs demo_faults.py. Part of ./dev.

cmd_demo() {
    case ${1:-} in
    '') demo_features ;;
    faults) demo_faults "${@:2}" ;;
    *) usage >&2; exit 2 ;;
    esac
}

demo_features() {
    stage
    say "Starting a throwaway PostgreSQL $pg_version"
    start_server
    interruptibly env PATH="$bindir:$PATH" psql -X -q -v ON_ERROR_STOP=1 -v bold="$bold" -v plain="$plain" \
        -f tools/demo.sql
    # psql does not report errors of the sessions that the script starts.
    [ "$(run_psql -At -c 'SELECT count(DISTINCT id) FROM posts')" -eq 40001 ] || die "table posts does not contain 40001 distinct IDs"
    say "End of the demo. ./dev psql opens a prompt on a throwaway server; README.md describes all features."
}

demo_faults() {
    local seconds=60 dir
    if [ $# -gt 0 ]; then
        [ "$1" = --seconds ] && [ $# -eq 2 ] || { usage >&2; exit 2; }
        # The limits of docs/limits.md: after a restart, IDs are ahead of the clock for up to 3 s, in which an
        # asynchronous standby can lack the mark. The clock is set back by more than the duration of the demo.
        [[ $2 =~ ^([2-9][0-9]|100)$ ]] || die "--seconds requires a number from 20 to 100"
        seconds=$2
    fi
    stage
    dir=$work/faults
    prepare_demo_faults "$dir"
    [ "$(id -u)" -ne 0 ] || chown postgres: "$dir"
    say "Starting three throwaway servers of PostgreSQL $pg_version, for about $seconds s"
    interruptibly as_server_user env -C "$dir" TMPDIR="$dir" /usr/bin/python3 -B demo_faults.py --seconds "$seconds" \
        --bindir "$bindir" --conf "$work/extension.conf" --clock "$dir/clock.so"
}

# prepare_demo_faults FOLDER: copies the programs of the demo there, because the server's user may be unable to read the
# checkout, and compiles the clock of its servers, which is that of ./dev chaos.
prepare_demo_faults() {
    need python3 python3-psycopg2
    mkdir -p "$1"
    install -m 644 tools/demo_*.py "$1"
    "${CXX:-g++}" -std=c++20 -O2 -fPIC -shared -o "$1/clock.so" test/chaos/preload/clock.cpp
}
