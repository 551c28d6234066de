#!/bin/sh
# Runs a program of the tests of commands on the server that DEMUR_TEST_STORE names (support/with-postgres.sh), each workspace a
# database of its own, but for the tests that on-server.txt leaves out. Ends as run-test.sh does, and with 1 where the table
# names a test that is none, or a database is left behind tests that passed.
# Usage: on-server.sh PROGRAM
here=$(cd "$(dirname "$0")" && pwd)
program=$1
names=$(awk -v program="${program##*/}" '$1 == program { print $2 }' "$here/on-server.txt")
set --
for name in $names; do
  if ! "$program" -l | grep -qxF "$name"; then
    echo "on-server.txt: ${program##*/} has no test $name"
    exit 1
  fi
  set -- "$@" -s "$name"
done
sh "$here/../support/run-test.sh" "$program" "$@"
status=$?
if [ "$status" -eq 0 ] || [ "$status" -eq 77 ]; then
  left=$(psql -Atq "$DEMUR_TEST_STORE" -c "SELECT string_agg(datname, ' ') FROM pg_database WHERE datname <> 'postgres' AND NOT datistemplate") || exit 1
  if [ -n "$left" ]; then
    echo "databases are left: $left"
    exit 1
  fi
fi
exit "$status"
