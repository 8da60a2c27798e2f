# shellcheck shell=bash
# ./dev test: the suites, and the tally of their tests. Part of ./dev.

passed=0 failed=0

# tally SUITE PASSED FAILED STATUS: adds up a suite. One that failed without saying where, or ran
# nothing, counts as one failure.
tally() {
    local fails=$3
    if [ "$fails" -eq 0 ] && { [ "$4" -ne 0 ] || [ "$2" -eq 0 ]; }; then fails=1; fi
    passed=$((passed + $2)) failed=$((failed + fails))
    printf '%-28s %5d passed, %d failed\n' "$1" "$2" "$fails"
}

cmd_test() {
    local suites=(unit regress parallel integration tap)
    for (( ; ; )); do
        case ${1:-} in
        --long) export SNOWDRIFT_LONG=1 ;;
        --assertions)
            build_server_with_assertions
            suites=(regress parallel discard core)
            ;;
        *) break ;;
        esac
        shift
    done
    [ $# -gt 0 ] || set -- "${suites[@]}"
    [[ " $* " != *" integration "* ]] || need_node
    build_cmake
    stage
    local suite
    for suite; do
        case $suite in
        unit) run_ctest unit "unit" ;;
        regress)
            start_server
            run_regress "pg_regress"
            stop_server
            start_server "shared_preload_libraries = 'snowdrift'"
            run_regress "pg_regress, preloaded"
            stop_server
            ;;
        integration)
            start_server
            run_ctest integration "integration"
            stop_server
            start_server "shared_preload_libraries = 'snowdrift'"
            run_ctest integration "integration, preloaded"
            stop_server
            ;;
        parallel)
            local setting=debug_parallel_query
            [ "$pg_version" -ge 16 ] || setting=force_parallel_mode
            start_server "$setting = regress"
            run_regress "pg_regress, in parallel"
            stop_server
            ;;
        discard)
            start_server "debug_discard_caches = 1"
            # Only the tests that generate IDs; --long: all but those of thousands of
            # queries, and overflow, which needs speed.
            local tests="helpers snowflake ulid_generator sno_generator generators snapshots settings"
            [ -z "${SNOWDRIFT_LONG:-}" ] ||
                tests=$(make -s print-REGRESS | sed -E 's/\b(generator_overflow|time_predicates|core_queries)\b//g')
            run_regress "pg_regress, without caches" "REGRESS=$tests"
            stop_server
            ;;
        core)
            start_server
            run_core
            stop_server
            ;;
        tap) run_tap ;;
        test/t/*.pl) run_tap "$suite" ;;
        *) die "no such test suite: $suite" ;;
        esac
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] || exit 1
}
