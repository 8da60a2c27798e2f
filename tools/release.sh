# shellcheck shell=bash
# ./dev release: checks that a version is ready, runs the tests, builds the packages, and tags the commit. Part of
# ./dev.

cmd_release() {
    local check=
    [ "${1:-}" != --addresses ] || { copy_addresses; return; }
    [ "${1:-}" != --check ] || { check=1; shift; }
    [[ $# -eq 1 && $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { usage >&2; exit 2; }
    need git
    require_ready "$1"
    [ -z "$check" ] || { echo "Version $1 is ready."; return; }
    local part
    for part in lint "test --long" matrix "package deb" "package pgxn"; do
        # shellcheck disable=SC2086
        interruptibly ./dev $part
    done
    require_ready "$1"
    git tag -a "v$1" -m "Snowdrift $1"
    say "The packages are in build/packages. Publish the release: git push origin v$1"
}

# copy_addresses: replaces the placeholders in the packages' files by the addresses in META.json.
copy_addresses() {
    grep -rlZ 'snowdrift\.example' debian packaging |
        xargs -0r sed -i "s,https://snowdrift\.example,$(meta homepage),
            s,The Snowdrift developers <developers@snowdrift\.example>,$(meta maintainer),"
}

# require_ready VERSION: ends the run if anything prevents a release of the version, and lists the reasons.
require_ready() {
    local obstacles
    obstacles=$(list_obstacles "$1")
    [ -z "$obstacles" ] || { printf '%s\n' "$obstacles" >&2; die "version $1 is not ready"; }
}

# list_obstacles VERSION
list_obstacles() {
    local file found date debian_date script address
    while read -r file found; do
        [ "$found" = "$1" ] || echo "$file: the version is $found"
    done < <(list_versions)

    date=$(sed -nE '/^## /{s/^## [^ ]+ \((.*)\)$/\1/p;q}' CHANGELOG.md)
    debian_date=$(sed -nE '/^ -- /{s/^ -- .*>  //p;q}' debian/changelog)
    [[ $date =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || echo "CHANGELOG.md: the date is $date"
    [ "$(date -u -d "$debian_date" +%F)" = "$date" ] || echo "debian/changelog: the date differs from CHANGELOG.md"

    script=snowdrift--$(sed -n "s/^default_version = '\(.*\)'/\1/p" snowdrift.control).sql
    [ "$(meta file)" = "$script" ] || echo "META.json: the file is not $script"

    while read -r file; do
        echo "$file: an address is a placeholder, snowdrift.example"
    done < <(grep -rl 'snowdrift\.example' META.json debian packaging || true)
    address=$(meta homepage)
    for file in debian/control.in debian/control debian/copyright debian/watch packaging/rpm/snowdrift.spec; do
        grep -qF "$address" "$file" || echo "$file: the address differs from META.json"
    done
    address=$(meta maintainer)
    for file in debian/control.in debian/control debian/changelog packaging/rpm/snowdrift.spec; do
        grep -qF "$address" "$file" || echo "$file: the maintainer differs from META.json"
    done

    [ -z "$(git status --porcelain)" ] || echo "some changes are not committed"
    ! git rev-parse -q --verify "v$1^{commit}" | grep -qvx "$(git rev-parse HEAD)" || echo "v$1 is another commit"
}

# list_versions: prints each file that contains the version, and the version.
list_versions() {
    meta version | sed 's/^/META.json /'
    sed -nE 's/^project\(snowdrift VERSION ([^ ]+) .*/CMakeLists.txt \1/p' CMakeLists.txt
    sed -nE '1s/^snowdrift \((.*)-[^-]+\) .*/debian\/changelog \1/p' debian/changelog
    sed -nE 's/^Version: +/packaging\/rpm\/snowdrift.spec /p' packaging/rpm/snowdrift.spec
    sed -nE '/^## /{s/^## ([^ ]+).*/CHANGELOG.md \1/p;q}' CHANGELOG.md
    grep -oE '[0-9]+\.[0-9]+\.[0-9]+' docs/install.md | sort -u | sed 's/^/docs\/install.md /'
}
