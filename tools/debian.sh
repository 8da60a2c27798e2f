# shellcheck shell=bash
# ./dev package deb: builds Debian packages in the chroots of ./dev matrix, and tries them in new chroots. Part of
# ./dev, which defines the functions and variables used here.
# shellcheck disable=SC2154

# package_debs [VERSION...]: builds the packages in the versions' chroots, and tries each in a new chroot.
package_debs() {
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(released_versions)
    local version
    for version; do debian_suite "$version" >/dev/null; done
    need debootstrap debian-archive-keyring util-linux
    make_work
    for version; do package_deb "$version"; done
    find "$packages" -name '*.deb' | sort
}

package_deb() {
    local folder=$packages/$1
    rm -rf "$folder"
    make_chroot "$1" || die "could not create the chroot for PostgreSQL $1"
    copy_checkout
    say "Building packages for PostgreSQL $1"
    interruptibly run_in_chroot "$1" "$work/package-$1.log" package build-deb
    mkdir -p "$folder"
    cp "$chroot_dir/snowdrift/$packages"/* "$folder"

    # shellcheck disable=SC2034
    local SNOWDRIFT_CACHE=${SNOWDRIFT_CACHE:-/var/cache/snowdrift}/new
    as_root rm -rf "$SNOWDRIFT_CACHE"
    make_chroot "$1" || die "could not create a new chroot for PostgreSQL $1"
    copy_checkout
    as_root mkdir -p "$chroot_dir/snowdrift/$packages"
    as_root cp "$folder"/* "$chroot_dir/snowdrift/$packages"
    say "Trying the packages for PostgreSQL $1 in a new chroot"
    interruptibly run_in_chroot "$1" "$work/try-$1.log" package try-deb
    as_root rm -rf "$SNOWDRIFT_CACHE"
}

# build_deb: builds the packages twice, in different folders and time zones. The files must be identical, and lintian
# must find no errors or warnings.
build_deb() {
    need build-essential debhelper cmake "postgresql-server-dev-$SNOWDRIFT_EXPECT" postgresql-server-dev-all lintian
    make_work
    mkdir -p "$packages"
    build_deb_in "$work/one" UTC0 --build=full
    # Only uploads to Debian close a bug.
    (cd "$work/one" && lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs ./*.changes)
    build_deb_in "$work/another/folder" XXX-14 --build=binary
    local file
    for file in "$work/one"/*.deb; do
        cmp "$file" "$work/another/folder/${file##*/}"
    done
    cp "$work/one"/*.* "$packages"
}

# build_deb_in FOLDER TIME-ZONE OPTION
build_deb_in() {
    local version epoch source=$1/snowdrift
    version=$(dpkg-parsechangelog -S Version) epoch=$(dpkg-parsechangelog -S Timestamp)
    mkdir -p "$source"
    tar -c --exclude=./build . | tar -x -C "$source"
    tar -c --sort=name --mtime="@$epoch" --owner=0 --group=0 --exclude=./build --exclude=./debian \
        --transform="s,^\.,snowdrift-${version%-*}," . | gzip -n >"$1/snowdrift_${version%-*}.orig.tar.gz"
    (export PG_SUPPORTED_VERSIONS=$SNOWDRIFT_EXPECT && cd "$source" && pg_buildext updatecontrol &&
        TZ=$2 DEB_BUILD_OPTIONS="parallel=$jobs" dpkg-buildpackage -us -uc "$3")
}

# try_deb: installs the packages, runs the first example of the README, removes the packages, and checks that no file
# remains. The example then runs from an image volume, and autopkgtest runs the SQL and isolation tests.
try_deb() {
    need_server "postgresql-$SNOWDRIFT_EXPECT"
    make_work
    with_packaged_server true  # what the server itself leaves is not counted
    list_files >"$work/before"
    as_root dpkg --install "$packages"/*snowdrift_*.deb "$packages"/*snowdrift-dev_*.deb  # as the Dockerfile does
    first_example | with_packaged_server psql -X -a -v ON_ERROR_STOP=1 | tee "$work/example"
    grep -q '^INSERT 0 1$' "$work/example"
    apt_get purge -y "postgresql-$SNOWDRIFT_EXPECT-snowdrift" libsnowdrift-dev
    list_files >"$work/after"
    diff "$work/before" "$work/after"
    [ "$SNOWDRIFT_EXPECT" -lt 18 ] || try_volume
    need autopkgtest
    autopkgtest "$packages"/*.deb "$packages"/*.dsc -- null
}

# try_volume: runs the example with the package's files where packaging/docker/cloudnativepg.Dockerfile puts them, and
# with CloudNativePG's settings.
try_volume() {
    local from to volume=$work/volume
    dpkg-deb --extract "$packages"/postgresql-*-snowdrift_*.deb "$work/package"
    while read -r from to; do
        mkdir -p "$volume$to"
        cp -r "$work$from"* "$volume$to"
    done < <(sed -n "s/\${PG_MAJOR}/$SNOWDRIFT_EXPECT/g; s/^COPY --from=package //p" packaging/docker/cloudnativepg.Dockerfile)
    first_example | with_packaged_server -o "extension_control_path=\$system:$volume/share" \
        -o "dynamic_library_path=\$libdir:$volume/lib" psql -X -a -v ON_ERROR_STOP=1 | tee "$work/example"
    grep -q '^INSERT 0 1$' "$work/example"
}

with_packaged_server() { as_root pg_virtualenv -v "$SNOWDRIFT_EXPECT" "$@"; }

first_example() { awk '/^```/ { if (inside) exit; inside = 1; next } inside' README.md; }

# list_files: prints the files that packages may leave behind.
list_files() {
    find / -xdev \( -path /snowdrift -o -path /tmp -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
        -o -path /var/lib/dpkg \) -prune -o -print | sort
}
