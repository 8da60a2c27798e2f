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
    git var GIT_COMMITTER_IDENT >/dev/null  # for the tag
    export SNOWDRIFT_RELEASE=1
    local part
    for part in lint "test --long" matrix "package deb" "package rpm" "package pgxn"; do
        # shellcheck disable=SC2086
        interruptibly ./dev $part
    done
    require_ready "$1"
    git rev-parse -q --verify "v$1" >/dev/null || git tag -a "v$1" -m "Snowdrift $1"
    say "The packages are in build/packages. Publish the release: git push origin v$1"
}

# read_addresses: sets homepage, repository and maintainer to those in META.json.
read_addresses() {
    homepage=$(meta homepage)
    repository=$(meta web | tail -n 1)
    maintainer=$(meta maintainer)
    [ -n "$homepage" ] && [ -n "$repository" ] && [ -n "$maintainer" ] ||
        die "META.json: the homepage, the repository or the only maintainer is missing"
}

# copy_addresses: replaces the placeholders in the packages' files by the addresses in META.json.
copy_addresses() {
    local homepage repository maintainer
    read_addresses
    grep -rlZ 'snowdrift\.example' debian packaging |
        xargs -0r sed -i "s,https://snowdrift\.example/snowdrift,$(for_sed "$repository"),
            s,https://snowdrift\.example,$(for_sed "$homepage"),
            s,The Snowdrift developers <developers@snowdrift\.example>,$(for_sed "$maintainer"),"
}

for_sed() { sed 's/[&,\]/\\&/g' <<<"$1"; }

# require_ready VERSION: ends the run if anything prevents a release of the version, and lists the reasons.
require_ready() {
    local obstacles
    obstacles=$(list_obstacles "$1")
    [ -z "$obstacles" ] || { printf '%s\n' "$obstacles" >&2; die "version $1 is not ready"; }
}

# list_obstacles VERSION
list_obstacles() {
    local file found date script homepage repository maintainer
    while read -r file found; do
        [ "$found" = "$1" ] || echo "$file: the version is $found"
    done < <(list_versions)

    date=$(sed -nE '/^## /{s/^## [^ ]+ \((.*)\)$/\1/p;q}' CHANGELOG.md)
    [[ $date =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || echo "CHANGELOG.md: the date is $date"
    while read -r file found; do
        [ "$(date -u -d "$found" +%F)" = "$date" ] || echo "$file: the date differs from CHANGELOG.md"
    done < <(list_dates)

    script=snowdrift--$(sed -n "s/^default_version = '\(.*\)'/\1/p" snowdrift.control).sql
    [ "$(meta file)" = "$script" ] || echo "META.json: the file is not $script"

    while read -r file; do
        echo "$file: an address is a placeholder, snowdrift.example"
    done < <(grep -rl 'snowdrift\.example' META.json debian packaging || true)
    read_addresses
    while IFS='|' read -r file found; do
        grep -qF -- "$found" <(sed 's/$/$/' "$file") || echo "$file: an address differs from META.json: $found"
    done < <(list_addresses)

    [ -z "$(git status --porcelain)" ] || echo "some changes are not committed"
    ! git rev-parse -q --verify "v$1^{commit}" | grep -qvx "$(git rev-parse HEAD)" || echo "v$1 is another commit"
}

# list_addresses: prints files, and the texts that they must contain; $ is the end of a line.
list_addresses() {
    local file
    for file in debian/control.in debian/control; do
        printf '%s\n' "$file|Homepage: $homepage\$" "$file|Maintainer: $maintainer\$"
    done
    printf '%s\n' "debian/changelog| -- $maintainer  " "debian/copyright|Source: $repository\$" \
        "debian/watch|$repository/tags " "packaging/rpm/snowdrift.spec| $homepage\$" \
        "packaging/rpm/snowdrift.spec| $repository/archive/" "packaging/rpm/snowdrift.spec| $maintainer - "
}

# list_dates: prints each file that contains the release's date, and the date.
list_dates() {
    sed -nE '/^ -- /{s/^ -- .*>  /debian\/changelog /p;q}' debian/changelog
    sed -nE 's/^\* ([A-Z][a-z]+ [A-Z][a-z]+ [0-9]+ [0-9]+) .*/packaging\/rpm\/snowdrift.spec \1/p;T;q' packaging/rpm/snowdrift.spec
}

# list_versions: prints each file that contains the version, and the version.
list_versions() {
    meta version | sed 's/^/META.json /'
    sed -nE 's/^project\(snowdrift VERSION ([^ ]+) .*/CMakeLists.txt \1/p' CMakeLists.txt
    sed -nE '1s/^snowdrift \((.*)-[^-]+\) .*/debian\/changelog \1/p' debian/changelog
    sed -nE 's/^Version: +/packaging\/rpm\/snowdrift.spec /p' packaging/rpm/snowdrift.spec
    sed -nE 's/^\* .* - ([0-9.]+)-[^-]*$/packaging\/rpm\/snowdrift.spec \1/p;T;q' packaging/rpm/snowdrift.spec
    sed -nE '/^## /{s/^## ([^ ]+).*/CHANGELOG.md \1/p;q}' CHANGELOG.md
    grep -oE '[0-9]+\.[0-9]+\.[0-9]+' docs/install.md | sort -u | sed 's/^/docs\/install.md /'
}
