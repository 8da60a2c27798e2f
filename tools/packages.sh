# shellcheck shell=bash
# Installing the packages that are missing. Part of ./dev.

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else die "installing packages needs root or sudo: $*"
    fi
}

# need PACKAGE...: installs those that are missing, and says so.
need() {
    local missing=() package
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "please install: ${missing[*]}"
    say "Installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { refresh_package_lists &&
           as_root env DEBIAN_FRONTEND=noninteractive \
               apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "could not install ${missing[*]}"
    fi
    rm -f "$log"
}

# need_server PACKAGE: the same, without the server that Debian would create and start with it.
need_server() {
    local folder=/etc/postgresql-common/createcluster.d
    as_root mkdir -p "$folder"
    echo 'create_main_cluster = false' | as_root tee "$folder/snowdrift.conf" >/dev/null
    (trap 'as_root rm -f "$folder/snowdrift.conf"; as_root rmdir "$folder" 2>/dev/null || true' EXIT
     need "$@")
}

# need_node: Node.js with the npm package pg, which Debian packages. A Node.js from elsewhere can't
# have Debian's packages, and brings npm instead.
need_node() {
    export NODE_PATH=$PWD/build/node/node_modules:/usr/share/nodejs
    if command -v node >/dev/null && command -v npm >/dev/null; then
        [ -d build/node/node_modules/pg ] || quietly "Installing pg for Node.js in build/node" \
            npm install --silent --no-save --no-audit --no-fund --prefix build/node pg@8
    else
        need nodejs node-pg
    fi
}

refresh_package_lists() {
    [ -z "${package_lists_fresh:-}" ] || return 0
    # sid's release file may be older than its own validity allows.
    as_root apt-get -o Acquire::Check-Valid-Until=false update && package_lists_fresh=1
}

# The mirror this machine itself uses.
mirror() {
    sed -nE 's/^(URIs:|deb(-src)?( \[[^]]*\])?) +(https?:[^ ]*\/debian\/?)( .*)?$/\4/p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v security | head -n 1
}

# The distribution's own PostgreSQL version.
packaged_version() {
    apt-cache depends postgresql 2>/dev/null |
        sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1 || true
}
