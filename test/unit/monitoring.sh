#!/usr/bin/env bash
# Without an argument: the exporters' configurations agree with their queries, the rules use the metrics that exist, and
# their links lead to sections of the documentation. With promtool: the rules are valid, each alert has a test, and the
# tests pass.
# usage: monitoring.sh [PROMTOOL]
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kit=$source/monitoring
rules=$kit/snowdrift.rules.yml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*" >&2; exit 1; }

alerts() { sed -n 's/^ *- alert: //p' "$rules" | sort -u; }

if [ $# -gt 0 ]; then
    "$1" check rules "$rules"
    for alert in $(alerts); do
        grep -q "alertname[=:] *\"*$alert\"" "$kit/snowdrift.rules_test.yml" || fail "$alert has no test"
    done
    "$1" test rules "$kit/snowdrift.rules_test.yml"
    exit
fi

"$kit/generate.sh" "$work"
for file in "$work"/*; do
    diff "$kit/${file##*/}" "$file" || fail "${file##*/} is not what generate.sh writes: run it, and commit the result"
done

# The queries do not depend on search_path: functions, operators, types and relations are qualified.
unqualified=$(sed "s/--.*//; s/OPERATOR(pg_catalog\.[^)]*)//g; s/'[^']*'/''/g" "$kit"/queries/*.sql | tr '\n' ' ' |
    grep -oP '(?<![\w.])(AS )?\w+ ?\(|::(?!pg_catalog\.)\w+|\b(FROM|JOIN) (?!pg_catalog\.|snowdrift\.)\w+(?!\w|\.)|[-+*\/<>=~!@#%^&|]+|\b(NOT )?(IN|LIKE|BETWEEN) ' |
    grep -vxE '(AND|AS r|COALESCE|EXISTS|EXTRACT|FILTER|FROM|JOIN|ON|OR|VALUES|WHEN|WHERE) ?\(' || true)
[ -z "$unqualified" ] || fail "queries: a name is not qualified: $unqualified"

# A metric's name is that of the query's file, and that of its column.
metrics=$(for file in "$kit"/queries/*.sql; do
    sed -nE "s/^-- (gauge|counter) ([a-z_]+): .*/$(basename "$file" .sql)_\2/p" "$file"
done)
[ -n "$metrics" ]
for metric in $(grep -E '^ *expr: ' "$rules" | grep -oE 'snowdrift_[a-z_]+'); do
    grep -qx "$metric" <<<"$metrics" || fail "$rules: there is no metric $metric"
done
for metric in $metrics; do
    grep -qE "\`$metric\`" "$kit/README.md" || fail "README.md does not mention $metric"
done
for alert in $(alerts); do
    grep -qE "^\| \`$alert\`" "$kit/README.md" || fail "monitoring/README.md does not list $alert"
done

# anchors PAGE: the fragments that GitHub gives to the page's headings
anchors() { sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'; }

[ "$(grep -c ' page: ' "$rules")" = "$(grep -c -e '- alert: ' "$rules")" ] || fail "$rules: an alert has no page"
while IFS='#' read -r page section; do
    anchors "$source/$page" | grep -qx -e "$section" || fail "$rules: $page has no section $section"
done < <(sed -n 's/^ *page: //p' "$rules")
