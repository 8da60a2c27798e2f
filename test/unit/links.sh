#!/usr/bin/env bash
# tools/check_links.pl reports links that lead nowhere, and knows the anchors of GitHub. Works on made-up pages.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/tools/check_links.pl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/checkout/docs" "$work/checkout/build"
cd "$work/checkout"
git init -q
echo /build/ >.gitignore
touch LICENSE docs/ids.svg docs/'a b(1).txt' build/result.txt ../outside.txt

fail() { echo "$*" >&2; exit 1; }

page() { printf '%s\n' "$1" >docs/page.md; }

# accepted TEXT: the check accepts a page with the text.
accepted() {
    page "$1"
    "$check" "$PWD" 2>../output || fail "'$1' is not accepted: $(cat ../output)"
}

# refused TEXT MESSAGE [LINE]: the check fails and prints only the message.
refused() {
    page "$1"
    ! "$check" "$PWD" 2>../output || fail "'$1' is not refused"
    [ "$(cat ../output)" = "docs/page.md:${3:-1}: $2" ] ||
        fail "expected '$2' for '$1', but the output is: $(cat ../output)"
}

# anchor HEADING ANCHOR: GitHub gives the heading this anchor.
anchor() {
    accepted "[a](#$2)

$1"
    refused "[a](#$2-)

$1" "#$2-: docs/page.md has no such anchor"
}

cat >README.md <<'TEXT'
# Overview
## Two words
## Two words
TEXT

# Files
accepted '[a](../README.md), [b](/LICENSE), [c](./ids.svg "title"), [d](<a b(1).txt>), [e](a%20b(1).txt), [f](..), [g](../docs/)'
accepted '![image](ids.svg), [![image](ids.svg)](../README.md), <img src="ids.svg">, <a href="../LICENSE">a</a>'
accepted '[a](https://nowhere.invalid/a#b), [b](mailto:a@b.invalid), [c](//nowhere.invalid)'
refused '[a](README.md)' 'README.md: docs/README.md does not exist'
refused '[a](Page.md)' 'Page.md: docs/Page.md does not exist'
refused '![a](id.svg)' 'id.svg: docs/id.svg does not exist'
refused '[![a](id.svg)](ids.svg)' 'id.svg: docs/id.svg does not exist'
refused '<img alt="" src="id.svg">' 'id.svg: docs/id.svg does not exist'
refused '<a href="/id">a</a>' '/id: id does not exist'
refused '[a](../../outside.txt)' '../../outside.txt leads outside the checkout'
refused '[a](../build/result.txt)' '../build/result.txt: build/result.txt does not exist'
refused '[a]()' 'a link has no valid address'
refused '[a](a b.txt)' 'a link has no valid address'
touch docs/removed.txt
git add docs/removed.txt
rm docs/removed.txt
refused '[a](removed.txt)' 'removed.txt: docs/removed.txt does not exist'

# The line, also after a code block, and of a text with a line break
refused $'1\n```\n\n```\n5 [a\nb](id.svg)' 'id.svg: docs/id.svg does not exist' 6

# Definitions of references
accepted $'[a][b]\n\n[b]: ids.svg\n[c]: <ids.svg> "title"'
refused '[b]: id.svg' 'id.svg: docs/id.svg does not exist'
refused '[b]: a b.txt' 'a link has no valid address'

# Code and comments have no links and no headings.
# shellcheck disable=SC2016
accepted '`[a](id.svg)` `` ` [a](id.svg) `` <!-- [a](id.svg) --> \[a\](id.svg)'
refused $'- ```\n  a\n\n  b\n  ```\n  [a](id.svg)' 'id.svg: docs/id.svg does not exist' 6
refused $'1. ~~~\n   [a](id.svg)\n\n   ~~~\n[a](id.svg)' 'id.svg: docs/id.svg does not exist' 5
refused $'> ~~~\n> [a](id.svg)\n> ~~~\n[a](id.svg)' 'id.svg: docs/id.svg does not exist' 4
accepted $'```\n[a](id.svg)\n~~~\n[a](id.svg)\n```\n  ~~~~ text\n[a](id.svg)\n~~~\n```\n  ~~~~\n<!-- ```\n[a](id.svg) -->'
refused $'```\n<!--\n```\n[a](id.svg)\n-->' 'id.svg: docs/id.svg does not exist' 4
refused $'`<!--` [a](id.svg) `-->`' 'id.svg: docs/id.svg does not exist'
refused $'a ` b\n\n[a](id.svg) `' 'id.svg: docs/id.svg does not exist' 3
refused $'[a](#a)\n```\n# a\n```\n<!--\n# a\n-->' '#a: docs/page.md has no such anchor'

# Anchors
accepted '[a](../README.md#overview), [b](../README.md#two-words), [c](../README.md#two-words-1)'
refused '[a](../README.md#two-words-2)' '../README.md#two-words-2: README.md has no such anchor'
refused '[a](../README.md#Overview)' '../README.md#Overview: README.md has no such anchor'
refused '[a](../LICENSE#a)' '../LICENSE#a: LICENSE has no such anchor'
refused '[a](#)' '#: docs/page.md has no such anchor'
anchor '# A heading' a-heading
anchor '###### Closed ##' closed
anchor "## Why not \`uuidv7()\`, C++ & [an *ID*](ids.svg)?" why-not-uuidv7-c--an-id
anchor "## _New_ <b>names</b>: snake_case, \`_a_\`, \`<t>\` – 1.0" new-names-snake_case-_a_-t--10
anchor '## Größe' größe
anchor '## Größe' gr%C3%B6%C3%9Fe
anchor '<a id="place"></a>' place
# shellcheck disable=SC2016
refused '[a](#place) `<a id="place"></a>`' '#place: docs/page.md has no such anchor'
anchor $'# a\n# a-1\n# a' a-2
refused $'[a](#b)\n\n#b\n    # b\n####### b' '#b: docs/page.md has no such anchor'

# A new file counts before it is committed. All errors are reported.
echo '[a](id.svg) [b](#c)' >docs/new.md
page '[a](id.svg)'
! "$check" "$PWD" 2>../output || fail 'not refused'
[ "$(wc -l <../output)" -eq 3 ] || fail "expected 3 errors, but the output is: $(cat ../output)"
rm -r docs README.md
! "$check" "$PWD" 2>../output || fail 'a checkout without pages is accepted'
