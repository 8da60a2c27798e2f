#!/usr/bin/env bash
# tools/check_includes.sh refuses circles of includes between files and their headers, and includes of other folders that
# its table doesn't allow. Works on made-up files.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/tools/check_includes.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/include/snowdrift" "$work"/src/{protocol,pg/{support,mark}}
cd "$work/src"

fail() { echo "$*" >&2; exit 1; }

# includes FILE HEADER...: writes a file that includes the headers.
includes() { printf '#include "%s"\n' "${@:2}" >"$1"; }

accepted() { "$check" "$work" 2>../output || fail "not accepted: $(cat ../output)"; }

# refused LINE: the check fails and prints the line.
refused() {
    ! "$check" "$work" 2>../output || fail "not refused: $1"
    grep -qxF "$1" ../output || fail "expected '$1', but the output is: $(cat ../output)"
}

# A file and its header are one unit.
touch pg/support/{clock,rows,tables}.hpp
includes pg/support/clock.cpp pg/support/clock.hpp pg/support/rows.hpp
includes pg/support/rows.cpp pg/support/rows.hpp pg/support/tables.hpp
accepted
circle='files may not include each other in a circle:'
includes pg/support/tables.hpp pg/support/clock.hpp
refused "src/pg/support/tables.hpp:1: $circle pg/support/clock pg/support/rows pg/support/tables pg/support/clock"
includes pg/support/rows.cpp pg/support/rows.hpp pg/support/clock.hpp
refused "src/pg/support/rows.cpp:2: $circle pg/support/clock pg/support/rows pg/support/clock"

# Headers that include each other, and themselves
includes pg/support/rows.cpp pg/support/rows.hpp
accepted
includes pg/support/clock.hpp pg/support/tables.hpp
refused "src/pg/support/tables.hpp:1: $circle pg/support/clock pg/support/tables pg/support/clock"
includes pg/support/clock.hpp pg/support/clock.hpp
refused "src/pg/support/clock.hpp:1: $circle pg/support/clock pg/support/clock"
: >pg/support/clock.hpp

# Other folders
touch protocol/lease.hpp
includes pg/mark/rows.hpp protocol/lease.hpp
accepted
includes protocol/lease.hpp pg/support/clock.hpp
refused 'src/protocol/lease.hpp:1: protocol may include only snowdrift snowdrift/core and itself, not pg/support/clock.hpp'
