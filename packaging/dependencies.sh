#!/bin/sh
# Installs what building, testing and the demo need on Debian 12; changes nothing else. As root or with sudo.
set -eu
packages="build-essential cmake ninja-build pkg-config python3-minimal binutils
  libglib2.0-dev libjson-glib-dev libsqlite3-dev libcairo2-dev libpango1.0-dev
  libgtk-4-dev gettext desktop-file-utils appstream
  xvfb xauth at-spi2-core python3-pyatspi gir1.2-gtk-4.0 xdotool openbox dbus-x11
  libqpdf-dev libopenblas-dev libdcmtk-dev libopenjp2-7-dev zlib1g-dev
  libcurl4-openssl-dev libssl-dev openssl
  clang-format-14 dcmtk dicom3tools qpdf poppler-utils sqlite3 fonts-dejavu-core fonts-inter fonts-droid-fallback"
missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
echo "Installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q >&2
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2
