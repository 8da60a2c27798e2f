#!/usr/bin/env bash
# Compiles the examples with libpqxx by the commands in their first comments, and runs them on the server that PGHOST
# names.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$source/include" "$source/examples" .

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
