#!/usr/bin/env bash
# Compiles the examples with libpqxx by the commands in their first comments, and the code with libpqxx in docs/cpp.md.
# Runs the programs on the server that PGHOST names.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$source/test/page_code.sh"
cd "$work"
ln -s "$source/include" "$source/examples" .
psql -qXc 'CREATE EXTENSION IF NOT EXISTS snowdrift' 2>/dev/null

bash -ec "$(sed -n '1s/^\/\/ //p' examples/orders.cpp)"
./orders | tee output
grep -qE '^order [0-9A-Z]{26}: 30$' output
grep -qE '^2 orders of the last hour, the first: [0-9A-Z]{26}$' output

bash -ec "$(sed -n '1s/^\/\/ //p' examples/feed.cpp)"
./feed | tee output
diff - output <<'EXPECTED'
0 rows while the first transaction is open
read drawn first, committed last
read drawn last, committed first
EXPECTED

page_programs "$source/docs/cpp.md" page
programs=$(grep -l pqxx page/*.cpp)
for program in $programs; do
    # shellcheck disable=SC2046
    g++ -std=c++20 -I include "$program" $(pkg-config --cflags --libs libpqxx) -o "${program%.cpp}"
    "${program%.cpp}" | tee output
    grep -qE '^[0-9A-Z]{26}: 12$' output
done
