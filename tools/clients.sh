# shellcheck shell=bash
# The suite clients: the recipes of docs/clients.md and docs/feeds.md, which test/clients/run.py runs. Part of ./dev.

# Without --long, not the client in Rust, whose libraries take a processor two minutes.
suite_clients() {
    local files=(test/clients/*_client.*) long=test/clients/tokio_postgres_client.sh
    [ -n "${SNOWDRIFT_LONG:-}" ] || files=("${files[@]/$long/}")
    on_server "$elsewhere" run_clients "clients" ${files[@]}
}

# With this setting, a time that loses its zone on the way to the server is wrong by hours.
elsewhere="timezone = 'America/New_York'"

# run_clients LABEL FILE...
run_clients() {
    local log=$work/clients.log status=0
    need_clients "${@:2}"
    interruptibly env PATH="$bindir:$PATH" /usr/bin/python3 -B test/clients/run.py "${@:2}" >"$log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || cat "$log"
    tally "$1" "$(count '^ok ' "$log")" "$(count '^not ok ' "$log")" "$status"
}

# need_clients FILE...: installs the Debian packages that the programs name after "requires:", and, in build/node, the
# npm packages that they name after "npm:". npm removes packages that the command does not name, unless an earlier call
# has saved them. build/debs gets the packages of newer Debian suites, PACKAGE/SUITE, that they name after "deb:".
need_clients() {
    local packages package
    read -ra packages <<<"python3 $(packages_of requires "$@")"
    need "${packages[@]}"
    read -ra packages <<<"$(packages_of deb "$@")"
    [ ${#packages[@]} -eq 0 ] || need_debs "${packages[@]}"
    read -ra packages <<<"$(packages_of npm "$@")"
    for package in "${packages[@]}"; do
        [ ! -d "build/node/node_modules/${package%@*}" ] || continue
        command -v npm >/dev/null || need npm
        quietly "Installing ${packages[*]} in build/node" \
            npm install --silent --no-audit --no-fund --prefix build/node "${packages[@]}"
        return
    done
}

# need_debs PACKAGE/SUITE...: unpacks the packages in build/debs. They may consist of scripts only, and this machine must
# have the other packages that they need.
need_debs() {
    local package missing=()
    for package; do [ -e "build/debs/${package/\//_}" ] || missing+=("$package"); done
    [ ${#missing[@]} -gt 0 ] || return 0
    need debian-archive-keyring
    quietly "Unpacking ${missing[*]} in build/debs" unpack_debs "${missing[@]}"
}

# apt reads the suites' lists in a folder of its own, so this machine's packages are not affected.
unpack_debs() {
    local suite package folder=$PWD/build/debs
    local options=(-o "Dir::Etc::SourceList=$folder/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt" -o APT::Sandbox::User=root -qq)
    require_mirror || return  # set -e is off here
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
    for suite in $(printf '%s\n' "${@#*/}" | sort -u); do
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main"
    done >"$folder/apt/sources.list"
    apt-get "${options[@]}" update || return
    (cd "$folder/apt" && apt-get "${options[@]}" download "$@") || return
    for package in "$folder"/apt/*.deb; do dpkg -x "$package" "$folder" || return; done
    rm -r "$folder/apt"
    for package; do touch "$folder/${package/\//_}"; done
}

packages_of() { sed -n "s/^.*\b$1: //p" "${@:2}" | tr ' ' '\n' | sort -u | paste -s -d ' '; }
