#!/bin/sh
# Runs a command with DEMUR_TEST_STORE set to a PostgreSQL server of its own, on a socket in a temporary folder, which ends with
# it. `sh $DEMUR_TEST_STORE_SERVER kill` and `start` are what happens to a server. 77 (skipped) where none is installed.
# Usage: with-postgres.sh COMMAND [ARGUMENT ..]
set -eu
tools=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
if [ -z "$tools" ] || [ ! -x "$tools/initdb" ]; then
  echo "no PostgreSQL server is installed (packaging/dependencies.sh): skipped"
  exit 77
fi
folder=$(mktemp -d)
as=
# A server refuses to run as root.
if [ "$(id -u)" -eq 0 ]; then
  user=nobody
  chown "$user" "$folder"
  chmod 711 "$folder"
  as="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups"
fi
# -k: a socket and nothing on the network; what is tried here is no disk.
cat >"$folder/server" <<END
set -eu
cd "$folder"
case \$1 in
  kill)
    read -r first <data/postmaster.pid
    kill -9 "\$first"
    ;;
  start) # what the killed one left ends by itself, and keeps the next one from starting until then
    for try in 1 2 3 4 5 6 7 8 9 10; do
      if $as "$tools/pg_ctl" -D data -l log -w -t 120 \
        -o "-k '$folder' -c listen_addresses= -c fsync=off -c max_connections=60" start >/dev/null; then
        exit 0
      fi
      sleep 1
    done
    exit 1
    ;;
esac
END
end() {
  $as "$tools/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' INT TERM HUP
cd "$folder"
$as "$tools/initdb" -D "$folder/data" -A trust -U demur -E UTF8 --locale=C --no-sync >/dev/null
sh "$folder/server" start || { cat "$folder/log"; exit 1; }
cd "$OLDPWD"
DEMUR_TEST_STORE="postgresql:///postgres?host=$folder&user=demur"
DEMUR_TEST_STORE_SERVER=$folder/server
export DEMUR_TEST_STORE DEMUR_TEST_STORE_SERVER
"$@"
