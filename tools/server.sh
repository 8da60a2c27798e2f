# shellcheck shell=bash
# Throwaway servers, the staged extension that they load, and ./dev psql. Part of ./dev.

work=            # this run's folder: staged extension, data, sockets; removed when the run ends
server_running=

as_server_user() {
    if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

make_work() {
    [ -z "$work" ] || return 0
    work=$(mktemp -d /tmp/snowdrift.XXXXXX)
    chmod 755 "$work"
    # A command that starts no server needs no user for it.
    if [ "$(id -u)" -eq 0 ] && id postgres >/dev/null 2>&1; then chown postgres: "$work"; fi
}

# Installs the extension into $work/root, and writes $work/extension.conf, the configuration with which a
# server finds it there.
stage() {
    build
    make_work
    [ ! -f "$work/extension.conf" ] || return 0
    quietly "Staging the extension for a throwaway server" make -s install DESTDIR="$work/root"
    extension_conf "$PG_CONFIG" "$work/root" >"$work/extension.conf"
    [ "$pg_version" -ge 18 ] ||
        grep -q extension_destdir "$("$PG_CONFIG" --sharedir)/postgresql.conf.sample" ||
        install_in_place
}

# extension_conf PG_CONFIG ROOT: prints the configuration with which a server finds the extension in ROOT.
extension_conf() {
    echo "dynamic_library_path = '$2$("$1" --pkglibdir):\$libdir'"
    if [ "$(major_version "$1")" -ge 18 ]; then echo "extension_control_path = '$2$("$1" --sharedir):\$system'"
    else echo "extension_destdir = '$2'"
    fi
}

# For a PostgreSQL that is older than 18 and not Debian's: it finds extensions only in its own folders. Does not replace
# equal files, which another run may use.
install_in_place() {
    say "Installing the extension in PostgreSQL's own folders, because this version finds extensions only there"
    as_root make -s install PG_CONFIG="$PG_CONFIG" INSTALL="install -C" >/dev/null
    : >"$work/extension.conf"
}

# start_server [CONF-LINE...]
start_server() {
    make_work
    mkdir -p "$work/socket"
    [ "$(id -u)" -ne 0 ] || chown postgres: "$work/socket"
    rm -rf "$work/data"
    as_server_user "$bindir/initdb" -D "$work/data" -U postgres --auth=trust --encoding=UTF8 \
        --no-locale --no-sync >"$work/initdb.log" 2>&1 || { cat "$work/initdb.log" >&2; die "initdb failed"; }
    {
        printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$work/socket'" \
            "max_connections = 150" "fsync = off" "log_line_prefix = '%m [%p] '"
        [ ! -f "$work/extension.conf" ] || cat "$work/extension.conf"
        printf '%s\n' "$@"
    } >"$work/snowdrift.conf"
    as_server_user sh -c "cat '$work/snowdrift.conf' >>'$work/data/postgresql.conf'"
    server_running=1
    local log=${server_log:-$work/data/server.log}
    as_server_user "$bindir/pg_ctl" -D "$work/data" -l "$log" -p "${server_program:-$bindir/postgres}" \
        -w start >/dev/null ||
        { tail -n 20 "$log" >&2; die "the throwaway server did not start"; }
    export PGHOST=$work/socket PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

stop_server() {
    [ -n "$server_running" ] || return 0
    server_running=
    as_server_user "$bindir/pg_ctl" -D "$work/data" -m immediate -w stop >/dev/null
}

# Stops all servers in this run's folder: the one that start_server started, and those of tests.
stop_servers() {
    local pid_file
    [ -n "$work" ] || return 0
    find "$work" -name postmaster.pid | while read -r pid_file; do
        as_server_user "$bindir/pg_ctl" -D "${pid_file%/*}" -m immediate -w stop >/dev/null 2>&1 || true
    done
}

run_psql() { "$bindir/psql" -X -v ON_ERROR_STOP=1 "$@"; }

cmd_psql() {
    stage
    start_server
    run_psql -q -c 'CREATE EXTENSION snowdrift'
    say "Programs connect with: export PGHOST=$PGHOST PGUSER=$PGUSER PGDATABASE=$PGDATABASE"
    "$bindir/psql" "$@"
}
