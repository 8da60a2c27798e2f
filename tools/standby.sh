#!/usr/bin/env bash
# standby.sh start FOLDER: starts a hot standby of the server at PGHOST and PGPORT, with its data in FOLDER.
# standby.sh stop FOLDER: stops the standby and removes FOLDER.
# PostgreSQL's programs are in PATH. The benchmark runs this script.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
folder=$2
bindir=$(dirname "$(command -v pg_ctl)")

case $1 in
start)
    as_server_user "$bindir/pg_basebackup" -D "$folder" -R -c fast
    # The standby's buffers are small, because the primary uses the memory.
    as_server_user "$bindir/pg_ctl" -D "$folder" -l "$folder/server.log" -w start \
        -o "-p $((PGPORT + 1)) -c shared_buffers=128MB" >/dev/null
    ;;
stop)
    as_server_user "$bindir/pg_ctl" -D "$folder" -m fast -w stop >/dev/null
    as_server_user rm -rf "$folder"
    ;;
esac
