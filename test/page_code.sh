# shellcheck shell=bash
# Makes programs of the C++ code in docs/cpp.md, for the tests that compile and run it.

# page_programs PAGE FOLDER: writes FOLDER/1.cpp, FOLDER/2.cpp, and so on. A code block that begins with an #include is a
# program, and another one continues the previous program. A block that begins with `// libpqxx VERSIONS` is skipped
# unless the installed version is one of them. Programs with libpqxx have a transaction `tx` and a table of orders.
page_programs() {
    local major
    major=$(pkg-config --modversion libpqxx)
    mkdir "$2"
    awk -v folder="$2" -v major="${major%%.*}" '
        function finish() {
            if (includes == "") return
            print includes "int main() {" (includes ~ /pqxx/ ? setup : "") "\n" code "}" >(folder "/" ++count ".cpp")
            includes = code = ""
        }
        BEGIN {
            setup = "\npqxx::connection connection;\npqxx::work tx{connection};\n" \
                "tx.exec(\"CREATE TEMPORARY TABLE orders (id ulid PRIMARY KEY DEFAULT next_ulid(), total numeric)\");"
        }
        /^```cpp$/ { in_code = is_first = 1; next }
        /^```/ { in_code = 0 }
        !in_code { next }
        is_first && /^#include/ { finish() }
        is_first { is_skipped = /^\/\/ libpqxx / && $0 !~ (" " major "[.]") }
        { is_first = 0 }
        is_skipped { next }
        /^#include/ { includes = includes $0 "\n"; next }
        { code = code $0 "\n" }
        END { finish() }
    ' "$1"
}
