# shellcheck shell=bash
# ./dev demo: runs demo.sql on a throwaway server. Part of ./dev.

cmd_demo() {
    stage
    say "Starting a throwaway PostgreSQL $pg_version"
    start_server
    interruptibly env PATH="$bindir:$PATH" psql -X -q -v ON_ERROR_STOP=1 -v bold="$bold" -v plain="$plain" \
        -f tools/demo.sql
    # psql doesn't see whether the sessions that the script starts fail.
    [ "$(run_psql -At -c 'SELECT count(DISTINCT id) FROM posts')" -eq 40001 ] || die "rows are missing"
    say "That server is gone now. ./dev psql gives you one to play with; README.md has the rest."
}
