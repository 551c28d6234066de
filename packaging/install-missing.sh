#!/bin/sh
# Installs those of the Debian packages named that are not installed; changes nothing else. As root or with sudo. Waits
# up to ten minutes for another program that holds the package database, its lists or its archives.
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
patience=600
apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=$patience -q"

# Whether a lock that the option above does not wait for is held: the kernel's table of locks names files by their inode.
held() {
  for lock in /var/lib/apt/lists/lock /var/cache/apt/archives/lock; do
    [ ! -e "$lock" ] || ! grep -q ":$(stat -c %i "$lock") " /proc/locks || return 0
  done
  return 1
}

# Runs apt-get, and again where it failed while, or just before, such a lock was held. Another failure (a mirror that does not answer)
# is tried three times.
try() {
  began=$(date +%s) tries=0
  until $apt "$@" >&2; do
    if held; then
      [ $(($(date +%s) - began)) -lt $patience ] || { echo "another program holds apt's locks for $patience seconds" >&2; exit 1; }
    else
      tries=$((tries + 1))
      [ $tries -lt 3 ] || { echo "apt-get $1 does not succeed; see above" >&2; exit 1; }
    fi
    sleep 5
  done
}
try update
# shellcheck disable=SC2086
try install -y --no-install-recommends $missing
