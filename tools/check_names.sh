#!/usr/bin/env bash
# Checks that a name has one home in a namespace: that no two headers declare the same function, type or variable, and
# that no local function of a .cpp file has the name of a function that a header declares in a namespace around it.
# Members, operators, specializations and forward declarations of types do not count. Reads the lines that begin in the
# first column, where clang-format puts what namespaces contain. ./dev lint runs it. An optional argument names another
# checkout.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

mapfile -t headers < <(find include src -type f -name '*.hpp' | sort)
mapfile -t sources < <(find src -type f -name '*.cpp' | sort)
[ ${#headers[@]} -gt 0 ] || { echo "no headers found" >&2; exit 1; }

awk '
BEGIN {
    # Each ID type has one, as in the standard library.
    is_overloaded["to_string"] = 1
}

function fail(where, what) {
    print where ": " what
    failed = 1
}

# The namespace around the line, such as snowdrift::slots:: . An anonymous one ends with local:: .
function space(    i, result) {
    for (i = 1; i <= depth; i++) result = result inner[i] "::"
    return result
}

# The name that the line declares; nothing if it declares none, or if its declaration is elsewhere. Sets is_function.
function name_of(line,    is_type, end) {
    sub(/[ \t]*\/\/.*/, "", line)
    gsub(/\[\[[^\]]*\]\]|alignas\([^)]*\) /, "", line)
    while (gsub(/<[^<>]+>/, "<>", line));
    is_type = line ~ /(^| )(class|struct|union|enum) / && line !~ /\(/
    if (is_type && line ~ /;$/ && line !~ /\{/) return ""
    if (is_type) sub(/ (:|final) .*/, "", line)
    end = match(line, /[({=;\[]/)
    if (!end && !is_type) {
        return_type = line " "  # of the function in the next line
        return ""
    }
    is_function = end && substr(line, end, 1) == "("
    if (end) line = substr(line, 1, end - 1)
    sub(/ +$/, "", line)
    if (line ~ /operator/ || !match(line, /[ *&][A-Za-z_][A-Za-z_0-9]*$/)) return ""
    return substr(line, RSTART + 1)
}

function check_header(name) {
    if (name in is_overloaded) return
    name = space() name
    if (!(name in home)) {
        home[name] = FILENAME
        if (is_function) function_of[name] = FILENAME
    } else if (home[name] != FILENAME)
        fail(FILENAME ":" FNR, home[name] " also declares " name)
}

function check_local(name,    around) {
    around = depth > 1 ? space() : used "local::"
    while (sub(/[a-z_0-9]+::$/, "", around))
        if ((around name) in function_of)
            fail(FILENAME ":" FNR, function_of[around name] " also declares " around name)
}

FNR == 1 {
    depth = 0
    used = return_type = ""
    is_header = FILENAME ~ /\.hpp$/
}

/^using namespace / {
    used = $3
    sub(/;.*/, "::", used)
    next
}

/^namespace .*\{/ {
    inner[++depth] = $2 == "{" ? "local" : $2
    next
}

/^\}.*\/\/ namespace/ { depth-- }

/^template / { next }  # the declaration is in the next line

/^[A-Za-z_\[]/ {
    line = return_type $0
    return_type = ""
    name = name_of(line)
    if (name == "") next
    if (is_header)
        check_header(name)
    else if (is_function && inner[depth] == "local")
        check_local(name)
}

END { exit failed + 0 }
' "${headers[@]}" "${sources[@]}" >&2
