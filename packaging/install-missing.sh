#!/bin/sh
# Installs those of the Debian packages named that are not installed; changes nothing else. As root or with sudo. Waits
# up to ten minutes for another program that holds the package database.
# Usage: sh install-missing.sh PACKAGE ..
set -eu
missing=""
for package in "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
echo "Installing:$missing" >&2
apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -q"
# apt-get update takes a lock that the option above does not wait for: tried again while another program holds it.
tries=0
until $apt update >&2; do
  tries=$((tries + 1))
  [ $tries -lt 10 ] || { echo "apt-get update does not succeed; see above" >&2; exit 1; }
  sleep 5
done
# shellcheck disable=SC2086
$apt install -y --no-install-recommends $missing >&2
