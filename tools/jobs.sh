# shellcheck shell=bash
# Running commands: a signal to ./dev also ends them, and the output of quiet commands is shown only if
# they fail. Part of ./dev.

running=  # the process group of the current command, if any
beside=   # that of a suite that runs beside the others, if any

# interruptibly COMMAND...: runs the command so that a signal to this script ends both immediately. Bash
# would otherwise handle the signal only after the command.
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

# Ends the command that interruptibly() runs. The command has ten seconds to stop its own servers.
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

# Ends the suite that start_beside() runs.
end_beside() {
    running=$beside
    beside=
    end_running
}

# signal_running SIGNAL: signals the process group. Fails if the group has no process left. Only root can
# signal processes that sudo started.
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
