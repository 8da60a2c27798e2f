#!/usr/bin/env bash
# ./dev release --check accepts a version that all files contain, and names each file that prevents a release. Works on
# a copy of the files, in a repository of its own.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost

fail() { echo "$*" >&2; exit 1; }

cd "$source"
mkdir -p "$work/checkout/docs"
cp -r dev tools debian packaging README.md SECURITY.md META.json CMakeLists.txt CHANGELOG.md snowdrift.control snowdrift--*.sql "$work/checkout"
cp docs/install.md "$work/checkout/docs"
cd "$work/checkout"

# The next release, ready
sed -i '/meta-spec/,$! s/"version": ".*"/"version": "9.8.7"/' META.json
sed -i 's/^project(snowdrift VERSION [^ ]*/project(snowdrift VERSION 9.8.7/' CMakeLists.txt
sed -i '0,/^## .*/s//## 9.8.7 (2026-12-01)/' CHANGELOG.md
sed -i '1s/(.*)/(9.8.7-1)/; s/^\( -- .*>  \).*/\1Tue, 01 Dec 2026 12:00:00 +0000/' debian/changelog
sed -Ei 's/[0-9]+\.[0-9]+\.[0-9]+/9.8.7/g' docs/install.md
sed -i 's/^\(Version: *\).*/\19.8.7/; s/^\* .* 20[0-9]* \(.*\) - [0-9.]*-/* Tue Dec 01 2026 \1 - 9.8.7-/' packaging/rpm/snowdrift.spec
sed -Ei '/"homepage"/ s,"https[^"]*","https://public.test",; /"bugtracker"/,/\}/ s,"web": .*,"web": "https://public.test/issues",
    /"repository"/,/\}/ { s,"web": "[^"]*","web": "https://public.test/snowdrift",; s,"url": "[^"]*","url": "https://public.test/git", }
    s,"maintainer": .*,"maintainer": "Maintainer\, A. \& B. <m@public.test>"\,,' META.json
./dev release --addresses
git init -q
git add .
git commit -qm 'Release 9.8.7'
./dev release --check 9.8.7

# An address that changes later is copied, too.
sed -i 's,"https://public.test","https://moved.test",' META.json
./dev release --addresses
git commit -qam 'Move'
./dev release --check 9.8.7
git reset -q --hard HEAD^

# rejected VERSION LINE: the check fails and prints the line.
rejected() {
    ! ./dev release --check "$1" >../output 2>&1 || fail "not rejected: $2"
    grep -qx "$2" ../output || fail "expected '$2', but the output is: $(cat ../output)"
}

# broken FILE SED-SCRIPT LINE: the check fails and prints the line after this change.
broken() {
    sed -i "$2" "$1"
    git commit -qam 'Break a file'
    rejected 9.8.7 "$3"
    git reset -q --hard HEAD^
}

broken META.json 's/^    "version": .*/    "version": "9.8.6",/' 'META.json: the version is 9.8.6'
broken META.json 's/^            "version": .*/            "version": "9.8.5"/' 'META.json: the version is 9.8.5'
broken META.json 's/"file": .*/"file": "snowdrift--9.sql",/' 'META.json: the file is not snowdrift--.*\.sql'
broken META.json 's,test/snowdrift",test/other",' 'debian/watch: an address differs from META.json: .*/other/tags '
broken META.json 's,"homepage": "https://public.test","homepage": "https://public.te",' \
    'debian/control: an address differs from META.json: Homepage: https://public.te.'
broken META.json 's/Maintainer, A/Maintainer, C/' 'debian/changelog: an address differs from META.json: .*'
broken debian/control 's/@public.test/@snowdrift.example/' \
    'debian/control: an address is a placeholder, snowdrift.example'
broken CMakeLists.txt 's/VERSION 9.8.7/VERSION 9.8.6/' 'CMakeLists.txt: the version is 9.8.6'
broken packaging/rpm/snowdrift.spec 's/^Version: .*/Version: 9.8.6/' 'packaging/rpm/snowdrift.spec: the version is 9.8.6'
broken docs/install.md '0,/9.8.7/s//9.8.6/' 'docs/install.md: the version is 9.8.6'
broken packaging/rpm/snowdrift.spec 's/ - 9.8.7-/ - 9.8.6-/' 'packaging/rpm/snowdrift.spec: the version is 9.8.6'
broken packaging/rpm/snowdrift.spec 's/Dec 01/Dec 02/' 'packaging/rpm/snowdrift.spec: the date differs from CHANGELOG.md'
broken debian/changelog '1s/9.8.7/9.8.6/' 'debian/changelog: the version is 9.8.6'
broken CMakeLists.txt 's/VERSION 9.8.7 .*/VERSION 9.8.6)/' 'CMakeLists.txt: the version is 9.8.6'
broken CMakeLists.txt 's/snowdrift VERSION/snowdrift/' 'CMakeLists.txt: there is no version'
broken packaging/rpm/snowdrift.spec 's/Dec 01/Dec  2/' 'packaging/rpm/snowdrift.spec: the date differs from CHANGELOG.md'
broken debian/changelog 's/01 Dec 2026/02 Dec 2026/' 'debian/changelog: the date differs from CHANGELOG.md'
broken CHANGELOG.md 's/^## 9.8.7/## 9.8.6/' 'CHANGELOG.md: the version is 9.8.6'
broken CHANGELOG.md 's/(2026-12-01)/(unreleased)/' 'CHANGELOG.md: the date is unreleased'
broken tools/versions '$ d' 'README.md: expected PostgreSQL 15 to 18, on'
broken tools/versions '$ s/experimental/sid/' 'SECURITY.md: expected no release candidate'
broken SECURITY.md 's/of 19,/of 18,/' 'SECURITY.md: expected of 19, only the release candidate'
broken docs/install.md 's/PostgreSQL 15 to/PostgreSQL 16 to/' 'docs/install.md: expected PostgreSQL 15 to .*, on'
broken META.json 's/"PostgreSQL": ".*"/"PostgreSQL": "14.0.0"/' 'META.json: expected "PostgreSQL": "15.1.0"'
broken debian/pgversions 's/.*/16+/' 'debian/pgversions: expected 15+'
rejected 9.8.8 'META.json: the version is 9.8.7'

touch uncommitted
rejected 9.8.7 'some changes are not committed'
rm uncommitted

git tag v9.8.7
./dev release --check 9.8.7
git commit -q --allow-empty -m 'Continue'
rejected 9.8.7 'v9.8.7 is another commit'
