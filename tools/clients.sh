# shellcheck shell=bash
# The suite clients: the recipes of docs/clients.md, which test/clients/run.py runs. Part of ./dev.

suite_clients() { on_server "" run_clients "clients" test/clients/*_client.*; }

# run_clients LABEL FILE...
run_clients() {
    local log=$work/clients.log status=0
    need_clients "${@:2}"
    interruptibly env PATH="$bindir:$PATH" /usr/bin/python3 test/clients/run.py "${@:2}" >"$log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || cat "$log"
    tally "$1" "$(count '^ok ' "$log")" "$(count '^not ok ' "$log")" "$status"
}

# need_clients FILE...: installs what the programs require: each names its packages after "requires:" or "npm:".
# Debian's modules for Python, Ruby, PHP and Go are visible only to Debian's interpreters and compilers.
need_clients() {
    # shellcheck disable=SC2046
    need python3 $(packages_of requires "$@")
    local package missing=()
    for package in $(packages_of npm "$@"); do
        [ -d "build/node/node_modules/${package%@*}" ] || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] || quietly "Installing ${missing[*]} for Node.js in build/node" \
        npm install --silent --no-save --no-audit --no-fund --prefix build/node "${missing[@]}"
}

packages_of() { sed -n "s/^.*\b$1: //p" "${@:2}" | tr ' ' '\n' | sort -u; }
