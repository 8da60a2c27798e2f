# shellcheck shell=bash
# ./dev web: the page for the browser in build/web/site, its edition in one file, and its test. Part of ./dev.

web=$PWD/build/web

cmd_web() {
    case ${1:-} in
    "") build_web && say "The page is in build/web/site. To open it: python3 -m http.server -d build/web/site" ;;
    --one-file) build_web && build_one_file && say "The page in one file is build/web/snowdrift.html." ;;
    --screenshots) need_browser && build_web && node web/screenshots.mjs "$web" docs ;;
    *) die "usage: ./dev web [--one-file|--screenshots]" ;;
    esac
}

# need_web: installs the compiler for WebAssembly, and the npm packages of web/package-lock.json in build/web.
need_web() {
    need clang lld libc++-dev-wasm32 wasi-libc
    need "libclang-rt-$(/usr/bin/clang -dumpversion | cut -d . -f 1)-dev-wasm32"
    command -v npm >/dev/null || need nodejs npm
    mkdir -p "$web"
    cmp -s web/package-lock.json "$web/package-lock.json" && [ -d "$web/node_modules" ] && return
    cp web/package.json web/package-lock.json "$web"
    quietly "Installing the npm packages of the page in build/web" \
        npm ci --prefix "$web" --silent --no-audit --no-fund --ignore-scripts || { rm -f "$web/package-lock.json"; return 1; }
}

need_browser() { need chromium; }

build_web() {
    need_web
    rm -rf "$web/site"
    mkdir -p "$web/site/pglite"
    quietly "Compiling the inspector" /usr/bin/clang++ --target=wasm32-wasi -std=c++20 -Os -flto -fno-exceptions -fno-rtti -DNDEBUG \
        -Wall -Wextra -Iinclude web/inspect.cpp -nostartfiles -nodefaultlibs -lc \
        -Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=32768 -o "$web/inspect.wasm"
    # In a script, so that it also works from a file, which a page cannot fetch
    printf "const INSPECT_WASM = '%s';\n" "$(base64 -w 0 "$web/inspect.wasm")" >"$web/site/inspect.wasm.js"
    node web/build.mjs "$web/node_modules/@electric-sql/pglite" "$web/site"
}

# build_one_file: packs the page into one file of 7 MB, which works from a file.
build_one_file() {
    quietly "Packing the page into one file" node web/one_file.mjs "$web/node_modules" "$web/site" "$web/snowdrift.html"
}

# The tests of the page: the inspector in Node.js, then all in a browser.
suite_web() {
    need_browser
    build_web
    build_one_file
    local log=$work/web.log status=0
    interruptibly node --test-reporter=tap web/test/page_test.mjs "$web" test/vectors >"$log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || cat "$log"
    tally "web" "$(count '^ok ' "$log")" "$(count '^not ok ' "$log")" "$status"
}
