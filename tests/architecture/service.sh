#!/bin/sh
# The settings that are shipped are right, and the unit is one that systemd takes. Usage: service.sh ROOT DEMUR UNIT
set -eu
root=$1 demur=$2 unit=$3
"$demur" serve --check "$root/packaging/systemd/serve.conf"
# Every key that the program knows stands in the manual, and every section.
"$demur" serve --help | awk '/^\[/ { print; next } /^  [a-z-]+ +/ && seen { print $1 } /^SETTINGS/ { seen = 1 }' | sort -u | while read -r key; do
  grep -qF "$key" "$root/docs/serve.md" || { echo "docs/serve.md does not tell of $key" >&2; exit 1; }
done
if ! command -v systemd-analyze >/dev/null; then
  echo "systemd-analyze is not installed: the unit was not looked at" >&2
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The program need not be installed for this.
sed "s#=[^ ]*/demur #=$demur #" "$unit" > "$scratch/demur-serve.service"
systemd-analyze verify --man=no "$scratch/demur-serve.service"
systemd-analyze security --offline=true --threshold=25 "$scratch/demur-serve.service" | tail -1
