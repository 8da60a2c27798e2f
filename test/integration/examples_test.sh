#!/usr/bin/env bash
# Compiles the example with libpqxx by the command in its first comment, and runs it on the server that PGHOST names.
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
