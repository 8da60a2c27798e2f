# shellcheck shell=bash
# ./dev package docker: carries out the steps of the Dockerfile in chroots, word for word, and checks what the image
# prints. The chroots contain Debian's base system, like Debian's image. Part of ./dev.

# run_dockerfile: sets output to what the image's command prints.
run_dockerfile() {
    local base suite stages=() stage='' user=root environment=() line entry=() command=()
    while read -r line; do
        case $line in
        'FROM debian:'*)
            suite=${line#FROM debian:} suite=${suite%% *} stage=$work/stage-${#stages[@]}
            base=${SNOWDRIFT_CACHE:-/var/cache/snowdrift}/$suite-base
            [ -f "$base/.complete" ] || { create_base "$suite" "$base" && as_root touch "$base/.complete"; } || return
            as_root cp -a "$base" "$stage"
            stages+=("$stage") user=root environment=() ;;
        'RUN '*) say "RUN ${line:4:100}" && run_step "${line#RUN }" >/dev/null || return ;;
        'COPY --from=build /package /') as_root cp -a "${stages[0]}/package/." "$stage" ;;
        'COPY . '*) as_root mkdir "$stage/${line##* }" && git ls-files -z | xargs -0 tar -c | as_root tar -x -C "$stage/${line##* }" ;;
        'COPY '*) copy_files "${line#COPY }" ;;
        'ENV '*) read -ra environment <<<"${line#ENV }" ;;
        'USER '*) user=${line#USER } ;;
        'ENTRYPOINT '*) mapfile -t entry < <(grep -o '"[^"]*"' <<<"$line" | tr -d '"') ;;
        'CMD '*) mapfile -t command < <(grep -o '"[^"]*"' <<<"$line" | tr -d '"') ;;
        '#'* | '') ;;
        *) die "unknown step in Dockerfile: $line" ;;
        esac
    done <Dockerfile
    say "${entry[*]} ${command[*]}"
    output=$(run_step "${entry[*]} ${command[*]}")
}

# copy_files "FILE... FOLDER/"
copy_files() {
    local files
    read -ra files <<<"$1"
    as_root mkdir -p "$stage/${files[-1]}"
    as_root cp "${files[@]:0:${#files[@]}-1}" "$stage/${files[-1]}"
}

# run_step COMMAND: runs it as the step's user in the stage, in its own mount and process namespaces.
run_step() {
    local log=$work/step.log
    # shellcheck disable=SC2016
    interruptibly as_root unshare --mount --pid --fork --kill-child sh -c '
        stage=$0 user=$1; mount --bind "$stage" "$stage" && mount -t proc proc "$stage/proc" && mount --rbind /dev "$stage/dev" &&
        mount -t tmpfs -o mode=1777 tmpfs "$stage/dev/shm" && cp /etc/resolv.conf "$stage/etc/resolv.conf" &&
        shift 1 && command=$1 && shift && exec chroot --userspec="$user" "$stage" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp "$@" sh -c "$command"
    ' "$stage" "$user" "$1" "${environment[@]}" </dev/null >"$log" 2>&1 || { tail -n 20 "$log" >&2; return 1; }
    cat "$log"
}

package_docker() {
    need debootstrap debian-archive-keyring util-linux
    make_work
    local output=
    run_dockerfile || die "the steps of Dockerfile failed"
    grep -qE '^ +40001 +\| +40001 +\| +9$' <<<"$output" || { echo "$output"; die "the demo of the image does not print 40001 distinct IDs"; }
    say "The steps of Dockerfile work, and its command prints the demo."
}
