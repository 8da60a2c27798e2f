#!/bin/sh
# The image's entry point: starts the server, and runs the demo or another command.
set -e
pg_ctl start --wait --silent --log=/tmp/postgresql.log || { cat /tmp/postgresql.log; exit 1; }
status=0
if [ "$1" = demo ]; then
    psql -X -q -v ON_ERROR_STOP=1 -v bold= -v plain= -f /snowdrift/demo.sql || status=$?
else
    "$@" || status=$?
fi
pg_ctl stop --silent
exit "$status"
