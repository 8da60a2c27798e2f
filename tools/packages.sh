# shellcheck shell=bash
# Installation of missing packages. Part of ./dev.

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else die "this requires root or sudo: $*"
    fi
}

# apt_get ARGUMENT...: waits while another ./dev runs apt-get.
apt_get() { as_root flock --close /run/lock/snowdrift-apt env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }

# need PACKAGE...: lists and installs the packages that are missing.
need() {
    local missing=() package
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "apt-get is not available; install these packages by other means: ${missing[*]}"
    say "Installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { refresh_package_lists && apt_get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "could not install ${missing[*]}"
    fi
    rm -f "$log"
}

# need_server PACKAGE...: the same for a PostgreSQL server, but prevents the package from creating and starting
# a server.
need_server() {
    local folder=/etc/postgresql-common/createcluster.d
    as_root mkdir -p "$folder"
    echo 'create_main_cluster = false' | as_root tee "$folder/snowdrift.conf" >/dev/null
    (trap 'as_root rm -f "$folder/snowdrift.conf"; as_root rmdir "$folder" 2>/dev/null || true' EXIT
     need "$@")
}

# need_node: installs Node.js and the npm package pg from Debian's packages. A Node.js from another source
# cannot use Debian's packages, so npm, which comes with it, installs pg.
need_node() {
    export NODE_PATH=$PWD/build/node/node_modules:/usr/share/nodejs
    if command -v node >/dev/null && command -v npm >/dev/null; then
        [ -d build/node/node_modules/pg ] || quietly "Installing pg for Node.js in build/node" \
            npm install --silent --no-save --no-audit --no-fund --prefix build/node pg@8
    else
        need nodejs node-pg
    fi
}

# need_citus: in the chroot of ./dev matrix 17, builds and installs Citus if SNOWDRIFT_CITUS_SOURCE names an archive of
# its source that this chroot has not built before. Other machines are not changed: SNOWDRIFT_EXPECT is set only in a
# chroot.
need_citus() {
    [ -n "${SNOWDRIFT_CITUS_SOURCE:-}" ] && [ "${SNOWDRIFT_EXPECT:-}" = 17 ] &&
        [ "$bindir" = /usr/lib/postgresql/17/bin ] || return 0
    local built archive
    built=$("$PG_CONFIG" --sharedir)/extension/citus.archive
    archive=$(cksum <"$SNOWDRIFT_CITUS_SOURCE")
    [ "$(cat "$built" 2>/dev/null)" != "$archive" ] || return 0
    need gcc make flex xz-utils libcurl4-openssl-dev liblz4-dev libzstd-dev libssl-dev libkrb5-dev libpam0g-dev \
        libselinux1-dev libxslt1-dev libreadline-dev zlib1g-dev libicu-dev
    quietly "Building Citus, about 5 minutes" build_citus "$work/citus"
    echo "$archive" >"$built"
}

# build_citus FOLDER: builds Citus in the new folder, and installs it. As root.
build_citus() {
    mkdir "$1" && tar -x --no-same-owner --strip-components 1 -C "$1" -f "$SNOWDRIFT_CITUS_SOURCE" && cd "$1" &&
        ./configure PG_CONFIG="$PG_CONFIG" && make -s -j"$jobs" with_llvm=no && make -s with_llvm=no install
}

# need_monitoring: unpacks Prometheus and its exporters in build/monitoring, because their packages would start services.
# Where the distribution does not have these packages, and in the chroots of ./dev matrix, says that tests are skipped.
need_monitoring() {
    local folder=build/monitoring packages=(prometheus prometheus-postgres-exporter prometheus-sql-exporter)
    [ ! -d "$folder" ] || return 0
    [ -z "${SNOWDRIFT_EXPECT:-}" ] || { say "Skipping what needs Prometheus: no part of ./dev matrix"; return 0; }
    rm -rf "$folder.new"
    mkdir -p "$folder.new"
    if (cd "$folder.new" && download_packages "${packages[@]}") >/dev/null 2>&1; then
        local package
        for package in "$folder.new"/*.deb; do dpkg-deb -x "$package" "$folder.new"; done
        rm "$folder.new"/*.deb
        mv -T "$folder.new" "$folder"
        say "Unpacked ${packages[*]} in $folder"
    else
        rm -rf "$folder.new"
        say "Skipping what needs Prometheus: the packages ${packages[*]} are not available"
    fi
}

# download_packages PACKAGE...: downloads the packages' files to this folder. The lists of packages may be missing or old.
download_packages() {
    apt-get -o APT::Sandbox::User=root -qq download "$@" ||
        { refresh_package_lists && apt-get -o APT::Sandbox::User=root -qq download "$@"; }
}

refresh_package_lists() {
    [ -z "${package_lists_fresh:-}" ] || return 0
    apt_get update && package_lists_fresh=1
}

# Prints the Debian mirror that this machine uses; nothing on another system.
mirror() {
    grep -qx 'ID=debian' /etc/os-release || return 0
    { cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
        sed -nE 's/^(URIs:|deb(-src)?( \[[^]]*\])?) +(https?:[^ ]*\/debian\/?)( .*)?$/\4/p' |
        grep -v security | head -n 1
}

# The same for a step that needs one. Fails if there is none.
require_mirror() { [ -n "$(mirror)" ] || { echo "This needs Debian, and a mirror in apt's sources."; return 1; }; }

# Prints the PostgreSQL version of the distribution; in a chroot of ./dev matrix, the version under test.
packaged_version() {
    [ -z "${SNOWDRIFT_EXPECT:-}" ] || { echo "$SNOWDRIFT_EXPECT"; return; }
    apt-cache depends postgresql 2>/dev/null |
        sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1 || true
}
