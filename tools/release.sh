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

# read_addresses: sets homepage, repository and maintainer to those in META.json. Fails if one is missing.
read_addresses() {
    homepage=$(meta homepage)
    repository=$(sed -nE '/"repository"/,/\}/ s/.*"web": "([^"]*)".*/\1/p' META.json)
    maintainer=$(meta maintainer)
    [ -n "$homepage" ] && [ -n "$repository" ] && [ -n "$maintainer" ]
}

no_addresses="META.json: the homepage, the repository's web address or the maintainer is missing"

# copy_addresses: writes the addresses in META.json to the packages' files.
copy_addresses() {
    local homepage repository maintainer
    read_addresses || die "$no_addresses"
    homepage=$(for_sed "$homepage") repository=$(for_sed "$repository") maintainer=$(for_sed "$maintainer")
    sed -i "s,^Homepage: .*,Homepage: $homepage,
        s,^Maintainer: .*,Maintainer: $maintainer," debian/control.in debian/control
    sed -i "0,/^ -- /s,^ -- .*>  , -- $maintainer  ," debian/changelog
    sed -i "s,^Source: .*,Source: $repository," debian/copyright
    sed -i "s,^http.*/tags ,$repository/tags ," debian/watch
    sed -i "s,^\(URL: *\).*,\1$homepage,; s,^\(Source0: *\).*\(/archive/\),\1$repository\2,
        0,/^\* /s,^\(\*\( *[^ ]*\)\{4\} \).* - ,\1$maintainer - ," packaging/rpm/snowdrift.spec
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
    local file found date versions script homepage repository maintainer
    versions=$(list_versions)
    while read -r file found; do
        [ "$found" = "$1" ] || echo "$file: the version is $found"
    done <<<"$versions"
    for file in META.json CMakeLists.txt debian/changelog packaging/rpm/snowdrift.spec CHANGELOG.md docs/install.md; do
        grep -q "^$file " <<<"$versions" || echo "$file: there is no version"
    done

    date=$(sed -nE '/^## /{s/^## [^ ]+ \((.*)\)$/\1/p;q}' CHANGELOG.md)
    [[ $date =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || echo "CHANGELOG.md: the date is $date"
    while read -r file found; do
        [ "$(date -d "$found" +%F)" = "$date" ] || echo "$file: the date differs from CHANGELOG.md"
    done < <(list_dates)

    script=snowdrift--$(sed -n "s/^default_version = '\(.*\)'/\1/p" snowdrift.control).sql
    [ "$(meta file)" = "$script" ] || echo "META.json: the file is not $script"

    while read -r file; do
        echo "$file: an address is a placeholder, snowdrift.example"
    done < <(grep -rl 'snowdrift\.example' META.json debian packaging || true)
    read_addresses || echo "$no_addresses"
    while IFS='|' read -r file found; do
        grep -qF -- "$found" <(sed 's/$/$/' "$file") || echo "$file: an address differs from META.json: $found"
    done < <(list_addresses)

    list_stated_versions
    [ -z "$(git status --porcelain)" ] || echo "some changes are not committed"
    ! git rev-parse -q --verify "v$1^{commit}" | grep -qvx "$(git rev-parse HEAD)" || echo "v$1 is another commit"
}

# list_stated_versions: prints the files that state other versions of PostgreSQL than tools/versions.
list_stated_versions() {
    local first last candidate file text
    read -r first last candidate < <(awk '!/^#/ { first = first ? first : $1; last = $1 } /:experimental$/ { candidate = $1 }
                                          END { print first, last, candidate }' tools/versions)
    while IFS='|' read -r file text; do
        grep -qF -- "$text" "$file" || echo "$file: expected $text"
    done <<TEXT
README.md|PostgreSQL $first to $last, on
docs/install.md|PostgreSQL $first to $last, on
META.json|"PostgreSQL": "$first.1.0"
debian/pgversions|$first+
TEXT
    candidate=${candidate:+of $candidate, only the release candidate}
    for file in README.md SECURITY.md docs/install.md; do
        [ "$(grep -oE 'of [0-9]+, only the release candidate' "$file")" = "$candidate" ] ||
            echo "$file: expected ${candidate:-no release candidate}"
    done
}

# list_addresses: prints files, and the strings that they must contain; $ is the end of a line.
list_addresses() {
    local file
    for file in debian/control.in debian/control; do
        printf '%s\n' "$file|Homepage: $homepage\$" "$file|Maintainer: $maintainer\$"
    done
    printf '%s\n' "debian/changelog| -- $maintainer  " "debian/copyright|Source: $repository\$" \
        "debian/watch|$repository/tags " "packaging/rpm/snowdrift.spec| $homepage\$" \
        "packaging/rpm/snowdrift.spec| $repository/archive/" "packaging/rpm/snowdrift.spec| $maintainer - "
}

# list_dates: prints each file that contains the release's date, and the date. What has another form is printed whole.
list_dates() {
    sed -nE '/^ -- /{s/^ -- .*>  [A-Za-z]*, *([0-9]+ [A-Za-z]+ [0-9]+) .*/\1/;s/^/debian\/changelog /p;q}' debian/changelog
    sed -nE '/^\* /{s/^\* +[A-Za-z]+ +([A-Za-z]+ +[0-9]+ +[0-9]+) .*/\1/;s/^/packaging\/rpm\/snowdrift.spec /p;q}' \
        packaging/rpm/snowdrift.spec
}

# list_versions: prints each file that contains the version, and the version.
list_versions() {
    meta version | sed 's/^/META.json /'
    sed -nE 's/^project\(snowdrift VERSION *([^ )]*).*/CMakeLists.txt \1/p' CMakeLists.txt
    sed -nE '1s/^snowdrift \(([^-)]*).*/debian\/changelog \1/p' debian/changelog
    sed -nE 's/^Version: */packaging\/rpm\/snowdrift.spec /p' packaging/rpm/snowdrift.spec
    sed -nE '/^\* /{s/.* - ([^-]*)-[^-]*$/\1/;s/^/packaging\/rpm\/snowdrift.spec /p;q}' packaging/rpm/snowdrift.spec
    sed -nE '/^## /{s/^## ([^ ]+).*/CHANGELOG.md \1/p;q}' CHANGELOG.md
    grep -oE '[0-9]+\.[0-9]+\.[0-9]+' docs/install.md | sort -u | sed 's/^/docs\/install.md /'
}
