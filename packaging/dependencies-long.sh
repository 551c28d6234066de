#!/bin/sh
# Installs what only the benchmarks of `check.sh --long` need beside dependencies.sh: the libraries that are timed and
# compared with. Changes nothing else. As root or with sudo.
set -eu
packages="orthanc orthanc-dicomweb gcovr python3-numpy python3-scipy python3-sklearn python3-torch"
missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
echo "Installing:$missing" >&2
$sudo apt-get update -q >&2
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2
