# shellcheck shell=bash
# ./dev fuzz: libFuzzer on the targets in test/fuzz, also in a server process (test/fuzz/server), and random inputs
# for the SQL functions of a throwaway server (test/fuzz/sql). Part of ./dev.

server_targets="snapshot_json"
sql_targets="texts binary fields times snapshots"

native_targets() {
    local source
    for source in test/fuzz/*_fuzz.cpp; do
        source=${source##*/}
        printf '%s ' "${source%_fuzz.cpp}"
    done
}

cmd_fuzz() {
    local inputs=10000000 sql=100000 seed=$RANDOM keep='' native=() in_server=() by_sql=() name share
    while [[ ${1:-} = --* ]]; do
        case $1 in
        --keep) keep=1 ;;
        --inputs | --sql)
            [[ ${2:-} =~ ^[1-9][0-9]{0,17}$ ]] || die "$1 requires a number greater than 0"
            printf -v "${1#--}" %d "$2"
            shift
            ;;
        --seed)
            # libFuzzer gets the next number as its seed, which has 32 bits.
            [[ ${2:-} =~ ^(0|[1-9][0-9]{0,9})$ ]] && (($2 < (1 << 32) - 1)) ||
                die "--seed requires a number below 4294967295"
            seed=$2
            shift
            ;;
        *) usage >&2; exit 2 ;;
        esac
        shift
    done
    # shellcheck disable=SC2046,SC2086
    [ $# -gt 0 ] || set -- $(native_targets) $server_targets $sql_targets
    for name; do
        if [[ " $sql_targets " = *" $name "* ]]; then by_sql+=("$name")
        elif [[ " $server_targets " = *" $name "* ]]; then in_server+=("$name")
        elif [ -f "test/fuzz/${name}_fuzz.cpp" ]; then native+=("$name")
        else die "no such target: $name
Targets: $(native_targets)$server_targets $sql_targets"
        fi
    done
    say "Seed $seed"
    share=$(share "$inputs" $((${#native[@]} + ${#in_server[@]})))
    if [ ${#native[@]} -gt 0 ]; then
        build_fuzz_targets fuzz_targets
        fuzz_native "$share" "$seed" "${native[@]}"
        [ -z "$keep" ] || keep_inputs "${native[@]}"
    fi
    [ ${#in_server[@]} -eq 0 ] || fuzz_in_server "$share" "$seed" "$keep"
    [ ${#by_sql[@]} -eq 0 ] || fuzz_sql "$(share "$sql" ${#by_sql[@]})" "$seed" "${by_sql[@]}"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] || exit 1
}

# share INPUTS COUNT: prints the number of inputs for each of COUNT targets, rounded up.
share() { [ "$2" -eq 0 ] || echo $((($1 + $2 - 1) / $2)); }

# build_fuzz_targets CMAKE-TARGET
build_fuzz_targets() {
    find_postgres
    need cmake clang pkg-config libgtest-dev libpqxx-dev
    pkg-config --exists libpq || need libcurl4-openssl-dev
    quietly "Configuring the fuzz targets" cmake -S . -B build/fuzz -DSNOWDRIFT_FUZZ=ON \
        -DCMAKE_CXX_COMPILER=clang++ -DPG_CONFIG="$PG_CONFIG"
    quietly "Building the fuzz targets" cmake --build build/fuzz --target "$1" -j"$jobs"
}

libfuzzer_options="-max_len=256 -len_control=0 -timeout=60 -reduce_inputs=1"

# fuzz_native INPUTS SEED TARGET...: runs each target on INPUTS inputs, as many targets at a time as there are
# processors. New inputs are added to build/fuzz/found, and those that fail to build/fuzz/failed.
fuzz_native() {
    local inputs=$1 seed=$2 name status logs=build/fuzz/logs
    shift 2
    rm -rf build/fuzz/found "$logs"
    mkdir -p build/fuzz/failed "$logs" "${@/#/build/fuzz/found/}" "${@/#/test/fuzz/corpus/}"
    say "Running libFuzzer on ${inputs} inputs per target"
    printf '%s\n' "$@" >"$logs/targets"
    # libFuzzer's exit status goes to a file, so that the other targets still run after one has failed.
    interruptibly env ASAN_OPTIONS=malloc_context_size=3:quarantine_size_mb=8 \
        LOGS="$logs" INPUTS="$inputs" SEED="$seed" OPTIONS="$libfuzzer_options" xargs -a "$logs/targets" -n 1 -P "$(nproc)" \
        bash -c 'status=0
            "build/fuzz/$0_fuzz" -runs="$INPUTS" -seed="$((SEED + 1))" $OPTIONS \
                -artifact_prefix="build/fuzz/failed/$0-" \
                "build/fuzz/found/$0" "test/fuzz/corpus/$0" >"$LOGS/$0" 2>&1 || status=$?
            echo "$status" >"$LOGS/$0.status"
            sed -n "s/^Done/$0:/p" "$LOGS/$0"'
    for name; do
        status=$(cat "$logs/$name.status")
        [ "$status" -eq 0 ] || tail -n 60 "$logs/$name"
        tally "fuzz $name" $((status == 0)) $((status != 0)) "$status"
    done
}

# keep_inputs TARGET...: adds to each corpus a small subset of the inputs found that reaches the same new code.
keep_inputs() {
    local name
    for name; do
        quietly "Adding to the corpus of $name" "build/fuzz/${name}_fuzz" -set_cover_merge=1 -use_counters=0 \
            -max_len=256 "test/fuzz/corpus/$name" "build/fuzz/found/$name"
    done
}

# fuzz_in_server INPUTS SEED KEEP: runs snapshot_json on INPUTS inputs in a server process without a postmaster. With
# KEEP, adds the inputs that reach new code to the corpus. (libFuzzer selects a subset of inputs in further processes.)
fuzz_in_server() {
    local inputs=$1 seed=$2 keep=$3 status=0 dir log=build/fuzz/logs/snapshot_json file options
    build_fuzz_targets server_fuzz
    make_work
    dir=$work/fuzz
    mkdir -p "$dir/found" build/fuzz/failed build/fuzz/logs test/fuzz/corpus/snapshot_json
    cp build/fuzz/libserver_fuzz.so "$dir"
    cp -r test/fuzz/corpus/snapshot_json "$dir/corpus"
    start_server
    run_psql -q -c "CREATE FUNCTION fuzz(text[]) RETURNS void LANGUAGE c
        AS '$dir/libserver_fuzz.so', 'snowdrift_fuzz_snapshot_json'"
    stop_server
    say "Running libFuzzer on ${inputs} inputs in a server process"
    options="$libfuzzer_options -runs=$inputs -seed=$((seed + 1)) -artifact_prefix=$dir/failed-"
    [ -z "$keep" ] || options+=" -use_counters=0"
    echo "SELECT fuzz(string_to_array('$options $dir/found $dir/corpus', ' '))" >"$dir/statement"
    [ "$(id -u)" -ne 0 ] || chown -R postgres: "$dir"
    # shellcheck disable=SC2016
    interruptibly as_server_user sh -c 'exec "$0" --single -D "$1/data" postgres <"$1/fuzz/statement"' \
        "$bindir/postgres" "$work" >"$log" 2>&1 || status=$?
    grep -aq '^Done [0-9]* runs' "$log" || status=1
    sed -n 's/^Done/snapshot_json:/p' "$log"
    [ "$status" -eq 0 ] || tail -n 60 "$log"
    for file in "$dir"/failed-*; do
        [ ! -f "$file" ] || cp "$file" "build/fuzz/failed/snapshot_json-${file##*/failed-}"
    done
    [ -z "$keep" ] || cp -r "$dir/found/." test/fuzz/corpus/snapshot_json
    tally "fuzz snapshot_json" $((status == 0)) $((status != 0)) "$status"
}

# fuzz_sql INPUTS SEED TARGET...: runs each target on INPUTS inputs on a throwaway server.
fuzz_sql() {
    local inputs=$1 seed=$2 name status
    shift 2
    build_cmake sql_fuzz
    stage
    start_server
    say "Running SQL on ${inputs} inputs per target"
    for name; do
        status=0
        interruptibly build/cmake/sql_fuzz "$name" "$inputs" "$seed" || status=$?
        tally "fuzz $name" $((status == 0)) $((status != 0)) "$status"
    done
    ! grep -E 'PANIC|terminated by signal|TRAP:' "$work/data/server.log" || tally "the server's log" 0 1 1
    stop_server
}
