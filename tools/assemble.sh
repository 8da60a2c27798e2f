#!/usr/bin/env bash
# Puts the scripts of both editions together from their parts in src/sql. With --check, fails if a committed script is
# another one. Parts name the schema of the functions for users @extschema@; in the SQL edition, it is public. The SQL
# edition is one statement, which can be repeated.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# What both editions have
tools=(tools/{locks,partitions,drop_partitions,conversion_{plan,dependents,risks,statements},conversion,live_{shadows,copy,preparation,swap,script}}
    tools/{conversion_reversal,audit,watches,feeds,publication,seals})
extension=(extension/{begin,mark,node,snowflake,ulid,uuidv7,sno,typeid,generators,watermarks,backfill,for_tools}
    tools/replication "${tools[@]}" extension/{seals,partman,end})
edition=(edition/{begin,snowflake,typeid,uuidv7} tools/replication edition/{generators,for_tools} "${tools[@]}" edition/{seals,end})

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

# as_repeatable: what is different in the SQL edition, which is one statement of PL/pgSQL, and can be repeated. PL/pgSQL of
# PostgreSQL 16.2 does not parse BEGIN ATOMIC.
as_repeatable() {
    sed -E 's/@extschema@/public/g; s/^CREATE (FUNCTION|PROCEDURE|VIEW)/CREATE OR REPLACE \1/' | awk '
        function flush(before, after) { printf "%s%s%s", before, held, after; held = "" }
        /^CREATE (TYPE|TABLE) / {
            printf "IF %s(\x27%s\x27) IS NULL THEN\n", $2 == "TYPE" ? "to_regtype" : "to_regclass", $3
            in_definition = 1
        }
        in_definition { print; if (/;$/) { print "END IF;"; in_definition = 0 } next }
        /^CREATE OR REPLACE (FUNCTION|PROCEDURE)/ { in_header = 1 }
        in_header || in_body { held = held $0 "\n" }
        !in_header && !in_body { print }
        in_header && /^BEGIN ATOMIC$/ { in_body = 1; in_header = 0 }
        in_header && /(AS \$|RETURN |;$)/ { flush("", ""); in_header = 0 }
        in_body && /^END;$/ { sub(/;\n$/, "\n", held); flush("EXECUTE $sql$\n", "$sql$;\n"); in_body = 0 }'
}

# Not each encoding of databases and clients has other characters.
! grep -rnP '[^\x00-\x7F]' src/sql >&2 || { echo "only ASCII characters can be installed in all databases" >&2; exit 1; }

assemble "${extension[@]}" | update snowdrift--1.0.sql
assemble "${edition[@]}" | as_repeatable | update sql-edition/snowdrift.sql
