# shellcheck shell=bash
# ./dev matrix --arch ARCH -- unit: C++ tests without a server, compiled on this machine for another architecture. QEMU
# runs them. Part of ./dev.

# is_cross_compiled NAME...: whether these suites and files need neither a server nor a chroot.
is_cross_compiled() { [[ "$* " =~ ^((unit|test/(unit|fuzz)/[^ ]*\.cpp)\ )+$ ]]; }

# Prints the files of the suite unit, without the simulations of servers, which take QEMU minutes each, and without the
# tests of chaos and bench.
cross_compiled_files() {
    printf '%s\n' test/unit/*_test.cpp test/unit/threads/*_test.cpp test/fuzz/*_fuzz.cpp |
        grep -vE '/(mark_protocol|many_servers|watermark|chaos_checker|bench_statistics)_test'
}

# test_cross_compiled NAME...: runs the suite unit, or files, on $architecture.
test_cross_compiled() {
    local name files=() target=${processor/ppc64/powerpc64}-linux-gnu
    for name; do
        if [ "$name" = unit ]; then mapfile -t -O "${#files[@]}" files < <(cross_compiled_files)
        elif [ -n "$(test_file "$name")" ]; then files+=("$name")
        else no_such_test "$name"
        fi
    done
    need qemu-user "g++-$target" googletest ninja-build
    make_work
    cmake_folder=build/cmake-$architecture
    # Without -O2 and -g, compiling takes half the time. A static program needs no other files in QEMU.
    cmake_options=(-G Ninja -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$processor"
        "-DCMAKE_C_COMPILER=$target-gcc" "-DCMAKE_CXX_COMPILER=$target-g++" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1
        -DCMAKE_EXE_LINKER_FLAGS=-static "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-$processor")
    # shellcheck disable=SC2046
    build_cmake $(cmake_targets "${files[@]}")
    run_ctest "unit, $architecture" -R "^($(IFS='|' && echo "${files[*]%.cpp}"))\."
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] || exit 1
}
