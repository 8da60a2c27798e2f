#!/usr/bin/env bash
# Puts the scripts of both editions together from their parts in src/sql. With --check, fails if a committed script is
# another one. Parts name the schema of the functions for users @extschema@; in the SQL edition, it is public. The SQL
# edition is one statement, which can be repeated.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

extension=(extension/{begin,mark,node,snowflake,ulid,uuidv7,sno,typeid,generators,watermarks,backfill,for_tools}
    tools/{locks,partitions,drop_partitions} extension/{partman,conversion} tools/audit extension/end)
edition=(edition/{begin,snowflake,typeid,uuidv7,generators,for_tools} tools/{locks,partitions,drop_partitions,audit}
    edition/end)

# assemble PART...: the parts, with an empty line between them
assemble() {
    local parts=("${@/#/src/sql/}")
    awk 'FNR == 1 && NR > 1 { print "" } { print }' "${parts[@]/%/.sql}"
}

# update FILE: replaces the file by the standard input, or compares both
if [ "${1:-}" = --check ]; then
    update() {
        cmp -s - "$1" && return
        echo "$1 differs from its parts in src/sql; run make scripts" >&2
        exit 1
    }
else
    update() { cat >"$1"; }
fi

assemble "${extension[@]}" | update snowdrift--1.0.sql
assemble "${edition[@]}" | sed -E 's/@extschema@/public/g; s/^CREATE (FUNCTION|VIEW)/CREATE OR REPLACE \1/' |
    update sql-edition/snowdrift.sql
