# shellcheck shell=bash
# ./dev demo: runs demo.sql on a throwaway server. Part of ./dev.

cmd_demo() {
    stage
    say "Starting a throwaway PostgreSQL $pg_version"
    start_server
    interruptibly env PATH="$bindir:$PATH" psql -X -q -v ON_ERROR_STOP=1 -v bold="$bold" -v plain="$plain" \
        -f tools/demo.sql
    # psql does not report errors of the sessions that the script starts.
    [ "$(run_psql -At -c 'SELECT count(DISTINCT id) FROM posts')" -eq 40001 ] || die "table posts does not contain 40001 distinct IDs"
    say "End of the demo. ./dev psql opens a prompt on a throwaway server; README.md describes all features."
}
