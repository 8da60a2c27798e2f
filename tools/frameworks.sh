# shellcheck shell=bash
# Running and counting the tests of each framework: ctest, pg_regress, prove. Part of ./dev.

count() { grep -cE "$1" "$2" || true; }

# run_ctest LABEL OPTION...: runs the tests that ctest's options select, except those that are too slow for the server.
run_ctest() {
    local log=$work/ctest.log status=0 all bad
    interruptibly ctest --test-dir "$cmake_folder" -j1 "${@:2}" -E "${too_slow:-^\$}" --output-on-failure >"$log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || cat "$log"
    bad=$(sed -n 's/.* \([0-9]*\) tests\{0,1\} failed out of .*/\1/p' "$log")
    all=$(sed -n 's/.* tests\{0,1\} failed out of \([0-9]*\).*/\1/p' "$log")
    [ -n "$all" ] || status=1
    tally "$1" $((${all:-0} - ${bad:-0})) "${bad:-0}" "$status"
}

# run_regress LABEL [MAKE-VARIABLE...]: runs the SQL and isolation tests on the running server.
run_regress() {
    local log=$work/regress.log out=$work/regress status=0
    mkdir -p "$out"
    interruptibly make -s installcheck EXTRA_REGRESS_OPTS="--outputdir='$out'" "${@:2}" >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        cat "$log"
        [ ! -f "$out/regression.diffs" ] || cat "$out/regression.diffs"
    fi
    tally "$1" "$(count '^(ok [0-9]|test .* ok )' "$log")" \
        "$(count '^(not ok [0-9]|test .* FAILED)' "$log")" "$status"
}

# run_sql_edition LABEL ROLE TEST...: installs the SQL edition in a database without the extension, and runs tests of
# pg_regress there. The role is snowdrift_owner, which owns the database and has no other privileges, or
# snowdrift_superuser.
run_sql_edition() {
    local options="--outputdir='$work/regress' --use-existing --user=$2"
    if [ "$2" = snowdrift_owner ]; then
        run_psql -q -c "CREATE ROLE snowdrift_owner LOGIN" -c "CREATE ROLE snowdrift_user" \
            -c "GRANT snowdrift_user TO snowdrift_owner"
    else
        run_psql -q -c "CREATE ROLE $2 LOGIN SUPERUSER"
    fi
    run_psql -q -c "CREATE DATABASE contrib_regression OWNER $2"
    run_psql -q -U "$2" -d contrib_regression --single-transaction \
        -f sql-edition/snowdrift.sql >/dev/null || { tally "$1" 0 1 1; return; }
    run_regress "$1" "REGRESS=helpers ${*:3}" ISOLATION= EXTRA_REGRESS_OPTS="$options"
}

# run_core LABEL: runs PostgreSQL's own tests in a database that has the extension. They show that installing
# it does not change queries that don't use it. Requires a server built from sources.
run_core() {
    local log=$work/core.log out=$work/core status=0 schedule=$work/core.schedule
    mkdir -p "$out"
    # Skip the tests that list all objects of a database.
    sed -E 's/\b(opr_sanity|type_sanity|tablespace)\b//g; /^test: *$/d' \
        "$pg_source/src/test/regress/parallel_schedule" >"$schedule"
    [ "$(id -u)" -ne 0 ] || chown postgres: "$out"
    interruptibly as_server_user env -C "$pg_source/src/test/regress" PGHOST="$PGHOST" PGUSER="$PGUSER" \
        ./pg_regress --inputdir=. --outputdir="$out" --dlpath=. --bindir="$bindir" \
        --max-concurrent-tests=20 --load-extension=snowdrift --schedule="$schedule" >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        cat "$log"
        [ ! -f "$out/regression.diffs" ] || head -n 200 "$out/regression.diffs"
    fi
    tally "$1" "$(count '^(ok [0-9]|(test|    ) .* ok )' "$log")" \
        "$(count '^(not ok [0-9]|(test|    ) .* FAILED)' "$log")" "$status"
}

# run_tap LABEL FILE...: runs tests in test/t. Each starts its own servers.
run_tap() {
    need libipc-run-perl faketime pgbouncer
    local partman pglogical backup_tools= etcd=
    partman=$(packaged_extension partman)
    pglogical=$(packaged_extension pglogical)
    # Barman's program comes with a job that runs every minute; its library does not, and also calls rsync and file.
    [ -z "${SNOWDRIFT_LONG:-}" ] || [[ " ${*:2} " != *_backup_tools.pl" "* ]] || backup_tools=$(packaged pgbackrest python3-barman rsync file)
    # shellcheck disable=SC2086
    need $partman $pglogical $backup_tools
    [[ " ${*:2} " != *_citus.pl" "* ]] || need_citus
    [[ ! " ${*:2} " =~ _(library_upgrade|extension_update)\.pl" " ]] || build_next_version
    [[ " ${*:2} " != *_pg_upgrade.pl" "* ]] || stage_for_previous
    [ -z "${SNOWDRIFT_LONG:-}" ] || [[ " ${*:2} " != *_patroni.pl" "* ]] || need_patroni
    local files=("${@:2}") dir=$work/tap log=$work/tap.log status=0
    rm -rf "$dir"
    mkdir -p "$dir/small" "$dir/tmp"
    cp -r test/t test/migrate test/pages docs monitoring sql-edition README.md "$dir"
    cp "$work/extension.conf" "$dir/"
    [[ " ${*:2} " != *_demo_faults.pl" "* ]] || prepare_demo_faults "$dir/faults"
    # The server's user may be unable to read the checkout.
    [[ " ${*:2} " != *_alerts.pl" "* ]] || [ ! -d build/monitoring ] ||
        cp -r build/monitoring/usr/bin "$dir/monitoring/bin"
    [ "$(id -u)" -ne 0 ] || chown -R postgres: "$dir"
    interruptibly with_small_disk 24m "$dir/small" \
        env -C "$dir" PATH="$bindir:$PATH" PG_REGRESS="$pgxs_src/test/regress/pg_regress" \
        SNOWDRIFT_CONF="$dir/extension.conf" SNOWDRIFT_ROOT="$work/root" SNOWDRIFT_NEXT="$work/next/snowdrift.so" \
        SNOWDRIFT_PREVIOUS_BINDIR="$previous_bindir" SNOWDRIFT_PREVIOUS_CONF="$work/previous.conf" \
        SNOWDRIFT_PARTMAN="$partman" SNOWDRIFT_PGLOGICAL="$pglogical" SNOWDRIFT_MONITORING="$dir/monitoring" \
        SNOWDRIFT_BACKUP_TOOLS="$backup_tools" SNOWDRIFT_ETCD="$etcd" \
        PGCTLTIMEOUT=180 PG_TEST_TIMEOUT_DEFAULT=600 TMPDIR="$dir/tmp" TESTDATADIR="$dir" TESTLOGDIR="$dir/log" TESTDIR="$dir" \
        prove -v -j "$(nproc)" -I "$pgxs_src/test/perl" -I t "${files[@]#test/}" >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        cat "$log"
        # A test's own log, regress_log_NAME, has the message with which it died.
        find "$dir" \( -name '*.log' -o -name 'regress_log_*' \) -path '*log*' -exec tail -n 30 {} + 2>/dev/null || true
    fi
    sed -n 's/^\(t\/.*\.pl\) \.* skipped: /skipped \1: /p; s/^# measured: /    /p' "$log"
    sed -n 's/^ok [0-9]* # skip /skipped: /p' "$log" | sort -u
    [ "$status" -ne 0 ] || ! grep -qx 'Result: NOTESTS' "$log" || return 0  # all files were skipped
    tally "$1" "$(count '^ok [^#]*$' "$log")" "$(count '^not ok ' "$log")" "$status"
}

# need_patroni: installs Patroni, and unpacks etcd, because its package would start a server. Sets etcd to the program's
# path, if the distribution has both.
need_patroni() {
    command -v apt-get >/dev/null && refresh_package_lists >/dev/null 2>&1 || return 0
    apt-cache show patroni etcd-server >/dev/null 2>&1 || return 0
    need patroni
    mkdir -p "$work/etcd"
    quietly "Unpacking etcd" sh -c 'cd "$0" && apt-get -o APT::Sandbox::User=root -qq download etcd-server && dpkg-deb -x etcd-server_*.deb .' "$work/etcd"
    etcd=$work/etcd/usr/bin/etcd
}

# packaged_extension NAME: prints the extension's package for a packaged PostgreSQL, if the distribution has it.
packaged_extension() {
    [ "$bindir" != "/usr/lib/postgresql/$pg_version/bin" ] || packaged "postgresql-$pg_version-$1"
}

# packaged PACKAGE...: prints those that the distribution has.
packaged() {
    local package
    for package; do
        [ -z "$(apt-cache policy "$package" 2>/dev/null | sed -n '/Candidate: [0-9]/p')" ] || echo "$package"
    done
}

# with_small_disk SIZE FOLDER COMMAND...: runs the command as the server's user. If this script runs as root, mounts
# file systems of this size on FOLDER and FOLDER.alerts, for tests that run at the same time, and names the first one in
# SNOWDRIFT_SMALL_DISK. The command also has its own /dev/shm,
# without what killed programs have left, such as the data of libfaketime.
with_small_disk() {
    local size=$1 folder=$2
    shift 2
    if [ "$(id -u)" -ne 0 ]; then "$@"; return; fi
    # shellcheck disable=SC2016
    unshare --mount sh -c 'for disk in "$1" "$1.alerts"; do mkdir -p "$disk" && mount -t tmpfs -o "size=$0,uid=postgres" tmpfs "$disk" || exit; done && mount -t tmpfs tmpfs /dev/shm && shift && exec runuser -u postgres -- "$@"' \
        "$size" "$folder" env SNOWDRIFT_SMALL_DISK="$folder" "$@"
}
