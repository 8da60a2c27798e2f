# shellcheck shell=bash
# ./dev test --sanitizers and --valgrind: the options of AddressSanitizer, UndefinedBehaviorSanitizer and Valgrind, and
# their reports. sources.sh builds the servers. Part of ./dev.

server_program=   # the postgres that start_server runs; empty for that of PG_CONFIG
server_log=       # the log of the servers that start_server starts; empty for one in the server's folder
too_slow=         # a pattern for the C++ tests that take too long on such a server

# use_sanitizers KIND: makes the servers that this run starts write reports to $work/reports. KIND is sanitizers or
# valgrind. Tests first that it finds the errors in test/sanitizers/planted.cpp.
use_sanitizers() {
    mkdir -m 777 "$work/reports"
    server_log=$work/server.log
    too_slow=FiveMillion
    "configure_$1"
    local library=$work/planted.so flags
    flags=$(make -s print-CPPFLAGS print-CXXFLAGS)
    # shellcheck disable=SC2086
    quietly "Building the planted errors" g++ $flags -fPIC -shared -o "$library" test/sanitizers/planted.cpp
    on_server "" find_planted "$library" "${planted[@]}"
    rm -f "$work"/reports/*
    : >"$server_log"
}

# configure_KIND: sets the options, and sets planted to the functions in planted.cpp whose errors KIND finds.

configure_sanitizers() {
    # detect_leaks: processes end without freeing their memory contexts. detect_stack_use_after_return: it moves
    # variables off the stack, whose depth the server measures. abort_on_error: an exit would leave locks in shared
    # memory; after an abort, the server restarts.
    export ASAN_OPTIONS=abort_on_error=1:log_path=$work/reports/report:detect_leaks=0:detect_stack_use_after_return=0
    planted=(use_after_pfree read_past_end use_after_release use_after_close use_after_unpin
        signed_integer_overflow)
}

configure_valgrind() {
    server_program=$work/postgres-under-valgrind
    cat >"$server_program" <<TEXT
#!/bin/sh
exec valgrind --quiet --leak-check=no --num-callers=30 --suppressions='$pg_source/src/tools/valgrind.supp' \\
    --log-file='$work/reports/report.%p' '$bindir/postgres' "\$@"
TEXT
    chmod 755 "$server_program"
    export PGCTLTIMEOUT=300
    planted=(use_after_pfree read_past_end use_after_release use_after_unpin uninitialized_read)
}

# find_planted LIBRARY FUNCTION...: calls each function on the running server until it appears in a report.
find_planted() {
    local error tries found=0 missed=0
    for error in "${@:2}"; do
        run_psql -q -c "CREATE FUNCTION $error() RETURNS int LANGUAGE c AS '$1', 'snowdrift_$error'"
    done
    for error in "${@:2}"; do
        # The server may be restarting, because a sanitizer ended the previous session.
        for ((tries = 0; tries < 100; tries++)); do
            run_psql -c "SELECT $error()" >/dev/null 2>&1 || true
            collect_reports
            ! grep -qsE "snowdrift_$error|runtime error: ${error//_/ }" "$work"/reports/* || break
            sleep 0.1
        done
        if [ "$tries" -lt 100 ]; then found=$((found + 1))
        else missed=$((missed + 1)) && echo "not found: $error"
        fi
    done
    tally "planted errors" "$found" "$missed" 0
}

# UndefinedBehaviorSanitizer reads its options when it finds an error. By then, the server has overwritten the
# environment with the title of the process. The sanitizer therefore writes one line to the log, and ends the process
# without calling exit functions; the server then restarts.
collect_reports() { sed -nE '/^[^ ]+:[0-9]+:[0-9]+: runtime error: /p' "$server_log" >"$work/reports/undefined"; }

# Prints the reports, and counts each as a failed test. Their absence counts as a passed test.
tally_reports() {
    local report reports=0
    collect_reports
    for report in "$work"/reports/*; do
        [ -s "$report" ] || continue
        reports=$((reports + 1))
        cat "$report"
    done
    tally "no report" $((reports == 0)) "$reports" 0
}
