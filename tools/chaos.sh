# shellcheck shell=bash
# ./dev chaos: servers, clients and faults for some minutes, then the checks. Part of ./dev.

cmd_chaos() {
    local minutes=10 seed='' dir status=0
    while [ $# -gt 0 ]; do
        case $1 in
        --minutes)
            [[ ${2:-} =~ ^[0-9]{1,5}(\.[0-9]{1,3})?$ && $2 =~ [1-9] ]] || die "--minutes requires a number greater than 0"
            minutes=$2
            ;;
        --seed)
            [[ ${2:-} =~ ^[0-9]{1,10}$ ]] && ((10#$2 < 1 << 32)) || die "--seed requires a number below 4294967296"
            seed=$((10#$2))
            ;;
        *) usage >&2; exit 2 ;;
        esac
        shift 2
    done
    [ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
    find_postgres
    build_cmake chaos
    stage
    dir=$work/chaos
    mkdir -p "$dir/disk"
    cp build/cmake/{chaos,chaos_clock.so} "$dir"
    [ "$(id -u)" -ne 0 ] || chown -R postgres: "$dir"
    say "Chaos for $minutes minutes with the seed $seed"
    interruptibly with_small_disk 96m "$dir/disk" \
        "$dir/chaos" "$minutes" "$seed" "$dir" "$bindir" "$work/extension.conf" \
        "$dir/chaos_clock.so" || status=$?
    if [ "$status" -ne 0 ]; then
        keep_logs "$dir"
        exit "$status"
    fi
}

# keep_logs FOLDER: copies the logs of the servers to build/chaos.
keep_logs() {
    local log name
    rm -rf build/chaos
    mkdir -p build/chaos
    for log in "$1"/*/log; do
        [ -f "$log" ] || continue
        name=${log%/log}
        cp "$log" "build/chaos/${name##*/}.log"
    done
    say "The logs of the servers are in build/chaos"
}
