#!/bin/sh
# The shared object named by $1 depends only on libc and the loader, and uses no symbol of libstdc++, and none that
# PostgreSQL's headers of November 2026 refer to and earlier minor releases lack.
set -eu
[ -f "$1" ] || { echo "$1 is not built"; exit 1; }
needed=$(objdump -p "$1" | sed -n 's/.*NEEDED *//p' | grep -vE '^(libc\.so|ld-linux)' || true)
[ -z "$needed" ] || { echo "needs $needed"; exit 1; }
undefined=$(nm -D --undefined-only "$1")
cxx=$(echo "$undefined" | grep -E ' (_Z|__cxa_(throw|guard|begin|pure)|__gxx)' || true)
[ -z "$cxx" ] || { echo "takes from libstdc++: $cxx"; exit 1; }
newer=$(echo "$undefined" | grep -w heap_datum_check || true)
[ -z "$newer" ] || { echo "needs a minor release of November 2026: $newer"; exit 1; }
