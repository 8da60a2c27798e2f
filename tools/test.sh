# shellcheck shell=bash
# ./dev test: the suites, single files, and the tally. tools/frameworks.sh runs the tests of each framework.
# Part of ./dev.

cmd_test() {
    local suites=(unit regress preloaded sql-edition integration tap) name server=
    for (( ; ; )); do
        case ${1:-} in
        --long) export SNOWDRIFT_LONG=1 ;;
        --assertions) server=assertions suites=(regress preloaded discard core) ;;
        --sanitizers) server=sanitizers suites=(once integration) ;;
        --valgrind) server=valgrind suites=(once) ;;
        *) break ;;
        esac
        shift
    done
    [ $# -gt 0 ] || set -- "${suites[@]}"
    for name; do
        is_suite "$name" || [ -n "$(test_file "$name")" ] || no_such_test "$name"
        [ "$name" != core ] || [ "$server" = assertions ] || die "core requires --assertions"
        [[ ! $server =~ sanitizers|valgrind ]] || uses_test_server "$name" ||
            die "--$server does not cover $name, which does not use the server of ./dev test"
    done

    [ -z "$server" ] || build_server "$server"
    [[ ! " $* " =~ " integration "|"javascript" ]] || need_node
    [[ ! " $* " =~ " unit "|" tap "|monitoring|alerts ]] || need_monitoring
    # shellcheck disable=SC2046
    [[ ! " $* " =~ " "(quick|(test/)?(unit|integration|fuzz))[\ /] ]] || build_cmake $(cmake_targets "$@")
    # The C++ tests of units and parsers need no extension.
    if [[ "$* " =~ ^(test/(unit|fuzz)/[^ ]*\.cpp\ )+$ ]]; then make_work; else stage; fi
    [[ ! $server =~ sanitizers|valgrind ]] || use_sanitizers "$server"
    [ $# -eq 1 ] || [[ ! " $* " =~ " tap " ]] || start_beside tap
    for name; do
        if [ "$name" = tap ] && [ -n "$beside" ]; then await_beside
        elif is_suite "$name"; then "suite_${name//-/_}"; else run_file "$(test_file "$name")"; fi
    done
    [[ ! $server =~ sanitizers|valgrind ]] || tally_reports
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] || exit 1
}

# ---- a suite beside the others -----------------------------------------------------------------

# start_beside SUITE: runs a suite in a process of its own, with servers of its own. The suite tap spends most of its
# time waiting for servers and clocks.
start_beside() {
    set -m
    ./dev test "$1" </dev/null >"$work/beside.log" 2>&1 &
    beside=$!
    set +m
}

# Prints the output of the suite, and adds its tests.
await_beside() {
    local status=0 counts
    wait "$beside" || status=$?
    beside=
    head -n -1 "$work/beside.log"
    counts=$(tail -n 1 "$work/beside.log")
    if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
        echo "$counts"
        failed=$((failed + 1))
    fi
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
}

# ---- suites ------------------------------------------------------------------------------------

is_suite() { [[ " unit regress preloaded sql-edition integration tap clients web quick discard core once " == *" $1 "* ]]; }

# uses_test_server NAME: whether a suite or file only uses servers that on_server starts.
uses_test_server() { [[ ! $1 =~ ^(unit|tap|quick)$|^test/(unit|t|fuzz)/ ]]; }

suite_unit() { run_ctest "unit" -j"$jobs" -L "^unit\$"; }

suite_regress() { on_server "" run_regress "pg_regress"; }

# Parallel workers also run all queries that they can.
suite_preloaded() {
    local parallel=debug_parallel_query
    [ "$pg_version" -ge 16 ] || parallel=force_parallel_mode
    local kind=_PRELOADED
    [ -z "${SNOWDRIFT_LONG:-}" ] || kind=
    on_server "$preloaded"$'\n'"$parallel = regress" run_regress "pg_regress, preloaded" \
        "REGRESS=$(make -s "print-REGRESS$kind")" "ISOLATION=$(make -s "print-ISOLATION$kind")"
}

suite_integration() {
    on_server "" run_ctest "integration" -L "^integration\$"
    [ -z "${SNOWDRIFT_LONG:-}" ] || on_server "$preloaded" run_ctest "integration, preloaded" -L "^integration\$"
}

suite_sql_edition() {
    # shellcheck disable=SC2046
    on_server "" run_sql_edition "pg_regress, SQL edition" snowdrift_owner $(make -s print-REGRESS_BOTH) sql_edition
    # shellcheck disable=SC2046
    on_server "" run_sql_edition "pg_regress, SQL edition, superuser" snowdrift_superuser $(make -s print-REGRESS_BOTH_SUPERUSER)
}

suite_tap() { run_tap "TAP" test/t/*.pl; }

suite_discard() {
    # Without --long, run only the tests that generate IDs.
    local tests="helpers snowflake ulid_generator sno_generator generators snapshots settings"
    # decoys creates thousands of operators, spread and those of snowflake_at draw thousands of IDs, and the tools in SQL take
    # hours, or in partition_expiry more than the isolation tester's six minutes. snowflake_at also expects what only caches save.
    [ -z "${SNOWDRIFT_LONG:-}" ] || tests=$(tests_for_slow_servers REGRESS \
        "decoys|spread|snowflake_at|back_filling|audit[a-z_]*|feeds[a-z_]*|partition[a-z_]*|drop_partitions|diagrams")
    on_server "debug_discard_caches = 1" run_regress "pg_regress, without caches" "REGRESS=$tests" \
        "ISOLATION=$(tests_for_slow_servers ISOLATION partition_expiry)"
}

suite_once() {
    on_server "" run_regress "pg_regress, once" "REGRESS=$(tests_for_slow_servers REGRESS)" \
        "ISOLATION=$(tests_for_slow_servers ISOLATION)"
}

# For the work on a change: no models, sanitizers or scripts, and one server.
suite_quick() {
    run_ctest "unit, quick" -j"$jobs" -R "^($(quick_unit_tests | paste -sd '|'))\."
    suite_once
}

# quick_unit_tests: prints the C++ unit tests, except the models, which try all interleavings for more than a minute.
quick_unit_tests() { printf '%s\n' test/unit/*_test.cpp | sed -E '/(mark_protocol|watermark)_test/d; s/\.cpp$//'; }

# suite_web is in tools/web.sh.

suite_core() { on_server "" run_core "PostgreSQL's own tests"; }

# tests_for_slow_servers LIST [PATTERN]: prints the tests of REGRESS or ISOLATION except those with thousands of queries or
# partitions, those of conversions, and those that match PATTERN. Conversions are SQL alone, and if the catalog's caches are
# freed at once, their queries take minutes each.
tests_for_slow_servers() {
    make -s "print-$1" |
        sed -E "s/\b(time_predicates|range_predicates|core_queries|partition_jobs|conver[a-z_]*${2:+|$2})\b//g"
}

preloaded="shared_preload_libraries = 'snowdrift'"

# on_server CONF-LINES COMMAND...: runs the command on a throwaway server that has the lines in its configuration.
on_server() {
    start_server "$1"
    "${@:2}"
    stop_server
}

# ---- single files ------------------------------------------------------------------------------

# test_file NAME: prints the test's path; nothing if there is no such test. NAME may omit .sql and .spec.
test_file() {
    local path=$1
    case $path in
    sql/*) path=${path%.sql}.sql ;;
    specs/*) path=${path%.spec}.spec ;;
    test/t/*.pl | test/unit/*_test.cpp | test/unit/*.sh | test/integration/*_test.*) ;;
    test/fuzz/*_fuzz.cpp | test/clients/*_client.*) ;;
    *) return 0 ;;
    esac
    [ ! -f "$path" ] || echo "$path"
}

# run_file PATH: runs the tests of a file, with the path as their label.
run_file() {
    local name=${1##*/}
    name=${name%.*}
    case $1 in
    sql/sql_edition.sql) on_server "" run_sql_edition "$1" snowdrift_owner "$name" ;;
    sql/helpers.sql) on_server "" run_regress "$1" "REGRESS=helpers" ISOLATION= ;;
    sql/*) on_server "" run_regress "$1" "REGRESS=helpers $name" ISOLATION= ;;
    specs/*) on_server "" run_regress "$1" REGRESS= "ISOLATION=$name" ;;
    test/t/*) run_tap "$1" "$1" ;;
    test/unit/* | test/fuzz/*) run_ctest "$1" -R "^${1%.*}\." ;;
    test/clients/*) on_server "$elsewhere" run_clients "$1" "$1" ;;
    test/integration/*) on_server "" run_ctest "$1" -R "^${1%.*}\." ;;
    esac
}

# cmake_targets NAME...: prints the targets of CMakeLists.txt that the suites and files require.
cmake_targets() {
    local name
    for name; do
        case $name in
        unit | integration) echo all ;;
        quick) quick_unit_tests | tr / - ;;
        test/fuzz/*) basename "$name" .cpp ;;
        test/*.cpp) name=${name%.cpp} && echo "${name//\//-}" ;;
        esac
    done
}

no_such_test() {
    local hint=
    [ -z "$(test_file "sql/$1")" ] || hint=" (did you mean sql/$1?)"
    die "no such test: $1$hint
Suites: quick unit regress preloaded sql-edition integration tap clients; for slow servers: once discard; with --assertions: core
Files: sql/NAME specs/NAME test/t/NAME.pl test/unit/NAME_test.cpp test/integration/NAME_test.cpp
test/fuzz/NAME_fuzz.cpp test/clients/NAME_client.EXT"
}

# ---- the tally ---------------------------------------------------------------------------------

passed=0 failed=0

# tally LABEL PASSED FAILED STATUS: adds a suite to the totals. A suite that ran no test, or failed without
# a failed test, counts as one failure.
tally() {
    local fails=$3
    if [ "$fails" -eq 0 ] && { [ "$4" -ne 0 ] || [ "$2" -eq 0 ]; }; then fails=1; fi
    passed=$((passed + $2)) failed=$((failed + fails))
    printf '%-28s %5d passed, %d failed\n' "$1" "$2" "$fails"
}
