#!/usr/bin/env bash
# Checks that files include only the folders that the table below allows, and that no includes form a circle. For that,
# a .cpp file and the header of the same name are one unit. ./dev lint runs it. An optional argument names another
# checkout.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

# Each folder, and the folders that its files may include in addition to their own. Folders are named as in
# includes, without src/ and include/. A line names only folders of previous lines.
layers() {
    cat <<'TEXT'
snowdrift:
snowdrift/core:   snowdrift
snowdrift/generators.hpp: snowdrift snowdrift/core
snowdrift/pqxx:   snowdrift
snowdrift/pqxx.hpp: snowdrift snowdrift/pqxx
protocol:         snowdrift snowdrift/core
pg/support:       snowdrift snowdrift/core
pg/types:         snowdrift snowdrift/core pg/support
pg/seals:         snowdrift snowdrift/core pg/support
pg/planner:       snowdrift snowdrift/core pg/support pg/types
pg/slots:         snowdrift snowdrift/core protocol pg/support
pg/record:        protocol pg/support pg/slots
pg/mark:          snowdrift snowdrift/core protocol pg/support pg/slots pg/record
pg/states:        snowdrift snowdrift/core protocol pg/support pg/slots pg/mark
pg/node:          snowdrift snowdrift/core protocol pg/support pg/slots pg/record pg/mark
pg/named:         snowdrift snowdrift/core protocol pg/support pg/types pg/slots pg/record pg/mark pg/states pg/node
pg/watermark:     snowdrift snowdrift/core protocol pg/support pg/slots pg/mark
pg/draw:          snowdrift snowdrift/core protocol pg/support pg/types pg/slots pg/record pg/mark pg/states pg/node pg/named pg/watermark
pg/backfill:      snowdrift snowdrift/core protocol pg/support pg/types pg/record pg/mark pg/node pg/named pg/draw
pg/administration: snowdrift snowdrift/core protocol pg/support pg/types pg/slots pg/record pg/mark pg/states pg/node pg/named pg/watermark pg/draw pg/backfill
pg/module.cpp:    pg/support pg/slots pg/watermark
TEXT
}

mapfile -t files < <(find include src -type f ! -path 'src/sql/*' ! -name '*.[do]' ! -name '*.bc' | sort)
[ ${#files[@]} -gt 0 ] || { echo "no source files found" >&2; exit 1; }

awk '
function fail(where, what) {
    print where ": " what
    failed = 1
}

function name_of(path) {
    sub(/^(src|include)\//, "", path)
    return path
}

function folder_of(name) {
    sub(/\/[^\/]*$/, "", name)
    return name
}

function unit_of(name) {
    sub(/\.[ch]pp$/, "", name)
    return name
}

# Follows the includes of a unit. path: the units that led to it, with a space around each.
function visit(unit, path,    i, next_unit) {
    if (visited[unit]) return
    path = path unit " "
    for (i = 1; i <= includes[unit]; i++) {
        next_unit = included[unit, i]
        if (at = index(path, " " next_unit " "))
            fail(place[unit, i], "files may not include each other in a circle:" substr(path, at) next_unit)
        else
            visit(next_unit, path)
    }
    visited[unit] = 1
}

BEGIN {
    for (i = 2; i < ARGC; i++) is_ours[name_of(ARGV[i])] = 1
}

# the table
NR == FNR {
    sub(/:/, " ")
    in_table[$1] = may[$1, $1] = 1
    for (i = 2; i <= NF; i++) {
        if (!in_table[$i]) fail("the table", $1 " may include only folders of previous lines, not " $i)
        may[$1, $i] = 1
        others[$1] = others[$1] " " $i
    }
    next
}

FNR == 1 {
    name = name_of(FILENAME)
    folder = folder_of(name)
    unit = unit_of(name)
    layer = in_table[name] ? name : folder
    if (!in_table[layer]) fail(FILENAME, "the table contains neither this file nor its folder")
}

!in_table[layer] { next }

/#[ \t]*(include|include_next|import)[ \t]*["<]/ {
    where = FILENAME ":" FNR
    quoted = /#[^"<]*"/
    header = $0
    sub(/^[^"<]*["<]/, "", header)
    sub(/[">].*/, "", header)
    if (("/" header) ~ /\/\.\.?\//)
        fail(where, header " must be included by its path from src/ or include/")
    else if (header ~ /^(snowdrift|protocol|pg)\//) {
        if (!is_ours[header]) fail(where, header " does not exist")
        if (!may[layer, folder_of(header)])
            fail(where, layer " may include only" (others[layer] ? others[layer] " and" : "") " itself, not " header)
        if (name == unit ".cpp" && header == unit ".hpp") next
        included[unit, ++includes[unit]] = unit_of(header)
        place[unit, includes[unit]] = where
    } else if (is_ours[folder "/" header])
        fail(where, header " must be included by its path from src/ or include/")
    else if (layer ~ /^snowdrift\/pqxx/ && header ~ /^pqxx\//)
        next
    else if (header ~ /^Snowdrift requires /)
        next  # an error message: see snowdrift/requirements.hpp
    else if (layer !~ /^pg\// && (quoted || header ~ /[^a-z0-9_]/))
        fail(where, layer " may include only standard C++ headers and headers of this project, not " header)
    else if (layer ~ /^(snowdrift\/core|protocol)$/ && header ~ /^(chrono|ctime|thread|condition_variable|semaphore|mutex|future)$/)
        fail(where, layer " has no clock and does not wait, so it may not include " header)
}

END {
    for (i = 2; i < ARGC; i++) visit(unit_of(name_of(ARGV[i])), " ")
    exit failed + 0
}
' <(layers) "${files[@]}" >&2
