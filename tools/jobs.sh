# shellcheck shell=bash
# Running commands: a signal to ./dev ends them, too, and output is shown only where one fails. Part of
# ./dev.

running=  # the process group of the command that runs, if any

# interruptibly COMMAND...: runs it so that a signal to this script ends both at once, and not
# when the command is done.
interruptibly() {
    local status=0
    set -m
    "$@" </dev/null &
    running=$!
    set +m
    wait "$running" || status=$?
    running=
    return "$status"
}

# Ends what interruptibly() runs; it has ten seconds to stop its own servers.
end_running() {
    [ -n "$running" ] || return 0
    local tries
    signal_running TERM || true
    for ((tries = 0; tries < 100; tries++)); do
        signal_running 0 || break
        sleep 0.1
    done
    signal_running KILL || true
    running=
}

# signal_running SIGNAL: fails when nothing of it is left. What sudo started only root can signal.
signal_running() {
    if [ "$(id -u)" -ne 0 ] && sudo -n true 2>/dev/null; then
        sudo -n kill "-$1" -- "-$running" 2>/dev/null
    else
        kill "-$1" -- "-$running" 2>/dev/null
    fi
}

# quietly LABEL COMMAND...: shows the output only when the command fails.
quietly() {
    local label=$1 log
    shift
    log=$(mktemp)
    say "$label"
    if ! interruptibly "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "failed: $label"
    fi
    rm -f "$log"
}
