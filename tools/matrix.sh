# shellcheck shell=bash
# ./dev matrix and ./dev bench --on: the tests and the benchmark of this checkout on other PostgreSQL versions.
# Each version runs in a chroot in $SNOWDRIFT_CACHE, with the Debian release that contains it. Part of ./dev,
# which defines the functions used here.

architecture=  # Debian's name of the emulated architecture; empty for this machine's own

# Prints the versions that Debian has; released_versions, those of them that are no release candidates.
debian_versions() { awk '$2 ~ /^debian:/ { print $1 }' tools/versions; }
released_versions() { awk '$2 ~ /^debian:/ && $2 !~ /:experimental$/ { print $1 }' tools/versions; }

# debian_suite VERSION: prints the suite that contains the version.
debian_suite() {
    awk -v version="${1%%-*}" '$1 == version && sub(/^debian:/, "", $2) { print $2; found = 1 } END { exit !found }' \
        tools/versions || die "tools/versions has no Debian suite for PostgreSQL $1"
}

# make_chroot VERSION: sets chroot_dir. Creates the chroot if it does not exist.
make_chroot() {
    local suite
    suite=$(debian_suite "$1") || exit 1  # not left to set -e, which is off where a caller has ||
    chroot_dir=${SNOWDRIFT_CACHE:-/var/cache/snowdrift}/$suite${architecture:+-$architecture}
    [ -f "$chroot_dir/.complete" ] || create_chroot "$1" "$suite" || return 1
    # The release file of sid may have expired.
    echo 'Acquire::Check-Valid-Until "false";' | as_root tee "$chroot_dir/etc/apt/apt.conf.d/snowdrift" >/dev/null
}

# create_chroot VERSION SUITE
create_chroot() {
    # experimental has no base system: it adds packages to sid.
    create_base "${2/experimental/sid}" "$chroot_dir" || return 1
    [ "$2" != experimental ] || add_experimental "${1%%-*}"
    as_root touch "$chroot_dir/.complete"
}

# create_base SUITE FOLDER: installs Debian's base system in the folder.
create_base() {
    say "Creating a Debian $1 chroot in $2"
    as_root rm -rf "$2"
    as_root mkdir -p "$2"
    interruptibly as_root debootstrap --variant=minbase ${architecture:+"--arch=$architecture"} "$1" "$2" "$(mirror)" \
        >"$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log" >&2; return 1; }
}

# add_experimental VERSION: adds experimental to apt's sources in the chroot, for PostgreSQL's packages only.
add_experimental() {
    local apt=$chroot_dir/etc/apt
    sed 's/ sid / experimental /' "$apt/sources.list" | as_root tee "$apt/sources.list.d/experimental.list" >/dev/null
    printf '%s\n' "Package: src:postgresql-$1" "Pin: release a=experimental" "Pin-Priority: 500" |
        as_root tee "$apt/preferences.d/experimental" >/dev/null
}

# select_architecture ARCHITECTURE: sets architecture, and processor to QEMU's name of it.
select_architecture() {
    case $1 in
    arm64) processor=aarch64 ;;
    ppc64el) processor=ppc64le ;;
    s390x) processor=s390x ;;
    *) die "no emulator is configured for $1" ;;
    esac
    [ "$1" != "$(dpkg --print-architecture)" ] || die "this machine's architecture is $1"
    architecture=$1
}

# emulate: lets this machine run programs of $architecture with QEMU, until it restarts.
emulate() {
    local formats=/proc/sys/fs/binfmt_misc
    need qemu-user-static
    [ -e "$formats/register" ] || as_root mount -t binfmt_misc binfmt_misc "$formats"
    [ -e "$formats/qemu-$processor" ] ||
        as_root tee "$formats/register" <"/usr/lib/binfmt.d/qemu-$processor.conf" >/dev/null
}

# copy_checkout: copies this checkout to /snowdrift in the chroot.
copy_checkout() {
    as_root rm -rf "$chroot_dir/snowdrift"
    as_root mkdir "$chroot_dir/snowdrift"
    git ls-files -z --cached --others --exclude-standard | xargs -0 tar -c |
        as_root tar -x -C "$chroot_dir/snowdrift"
    [ -z "${SNOWDRIFT_JOINED:-}" ] || join_copied_sources
}

# join_copied_sources: in the copy, replaces the sources by joined ones, which compile in a fifth of the time.
join_copied_sources() {
    mkdir -p "$work/joined"
    join_sources "$work/joined"
    as_root rm -rf "$chroot_dir"/snowdrift/src/pg/{,*/}*.cpp
    as_root cp "$work"/joined/*.cpp "$chroot_dir/snowdrift/src/pg"
}

# run_in_chroot VERSION LOG COMMAND...: runs ./dev COMMAND in the chroot. It runs in its own mount and process
# namespaces, so nothing stays mounted or running after it ends for any reason. It has its own /dev/shm, because
# libfaketime names its semaphores after process IDs, which another run may have used.
run_in_chroot() {
    local version=$1 log=$2
    mkdir -p "$work/tmp"
    chmod 1777 "$work/tmp"
    as_root unshare --mount --pid --fork --kill-child sh -c "
        mount --bind '$chroot_dir' '$chroot_dir' && mount -t proc proc '$chroot_dir/proc' &&
        mount --rbind /dev '$chroot_dir/dev' && mount -t tmpfs tmpfs '$chroot_dir/dev/shm' &&
        mount --bind '$work/tmp' '$chroot_dir/tmp' &&
        exec chroot '$chroot_dir' env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            LC_ALL=C.UTF-8 SNOWDRIFT_EXPECT=${version%%-*} SNOWDRIFT_EMULATED=$architecture \
            SNOWDRIFT_CITUS_SOURCE=${SNOWDRIFT_CITUS_SOURCE:+/citus-source} /snowdrift/dev ${*:3}" 2>&1 </dev/null |
        tee "$log" | sed -u "s/^/  [$version] /"
}

# test_in VERSION [SUITE...]: runs the tests of this checkout in the version's chroot. Sets result to the last line of
# their output, or to an empty string if the chroot could not be created. VERSION-assertions, -sanitizers and -valgrind
# use a server that is built in the chroot.
test_in() {
    result=
    make_chroot "$1" || return 0
    local log=$work/matrix-$1.log
    copy_checkout
    [ -z "${SNOWDRIFT_CITUS_SOURCE:-}" ] || as_root cp "$SNOWDRIFT_CITUS_SOURCE" "$chroot_dir/citus-source"
    say "Testing on PostgreSQL $1${architecture:+, $architecture}"
    local option=
    [[ $1 != *-* ]] || option=--${1#*-}
    interruptibly run_in_chroot "$1" "$log" test $option "${@:2}" || true
    result=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || true)
    [ -n "$result" ] || result='0 passed, 1 failed'
}

# bench_on VERSION [ARG...]: runs the benchmark in the version's chroot, with the extensions in build/peers, and
# copies its results to this checkout.
bench_on() {
    need debootstrap debian-archive-keyring util-linux
    make_work
    make_chroot "$1" || die "could not create the chroot for PostgreSQL $1"
    copy_checkout
    [ ! -d build/peers ] ||
        { as_root mkdir "$chroot_dir/snowdrift/build" && as_root cp -R build/peers "$chroot_dir/snowdrift/build/"; }
    interruptibly run_in_chroot "$1" "$work/bench.log" bench "${@:2}"
    local folder
    for folder in docs/benchmarks build/benchmarks; do
        [ ! -d "$chroot_dir/snowdrift/$folder" ] || { mkdir -p "$folder" && cp "$chroot_dir/snowdrift/$folder"/* "$folder"; }
    done
}

cmd_matrix() {
    [ -z "${SNOWDRIFT_CITUS_SOURCE:-}" ] || [ -f "$SNOWDRIFT_CITUS_SOURCE" ] ||
        die "SNOWDRIFT_CITUS_SOURCE is not a file: $SNOWDRIFT_CITUS_SOURCE"
    local version versions=() skipped=0 suites=()
    if [ "${1:-}" = --arch ]; then
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        select_architecture "$2"
        versions=(17) suites=(unit regress preloaded)
        shift 2
        if [ "${1:-}" = -- ] && is_cross_compiled "${@:2}"; then test_cross_compiled "${@:2}"; return; fi
        emulate
    else
        mapfile -t versions < <(debian_versions; echo "$(released_versions | tail -n 1)-assertions")
    fi
    if [ $# -gt 0 ] && [ "$1" != -- ]; then versions=(); fi
    while [ $# -gt 0 ] && [ "$1" != -- ]; do versions+=("$1"); shift; done
    [ $# -lt 2 ] || suites=("${@:2}")
    for version in "${versions[@]}"; do debian_suite "$version" >/dev/null; done
    need debootstrap debian-archive-keyring util-linux
    make_work
    for version in "${versions[@]}"; do
        test_in "$version" "${suites[@]}"
        if [[ $result =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        else
            say "PostgreSQL $version: skipped, because its chroot could not be created"
            skipped=$((skipped + 1))
        fi
    done
    if [ "$skipped" -gt 0 ]; then echo "$passed passed, $failed failed, $skipped skipped"
    else echo "$passed passed, $failed failed"
    fi
    # If every version was skipped, no test ran, which is a failure. A release skips none.
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && { [ "$skipped" -eq 0 ] || [ -z "${SNOWDRIFT_RELEASE:-}" ]; } || exit 1
}
