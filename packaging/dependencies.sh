#!/bin/sh
# Installs what building, testing and the demo need on Debian 12; changes nothing else. As root or with sudo.
set -eu
exec sh "$(dirname "$0")/install-missing.sh" \
  build-essential git cmake ninja-build pkg-config python3-minimal python3-yaml binutils mold \
  libglib2.0-dev libjson-glib-dev libsqlite3-dev libpq-dev libcairo2-dev libpango1.0-dev \
  libgtk-4-dev gettext desktop-file-utils appstream \
  xvfb xauth at-spi2-core python3-pyatspi gir1.2-gtk-4.0 xdotool openbox dbus-x11 \
  libqpdf-dev libopenblas-dev libdcmtk-dev libopenjp2-7-dev zlib1g-dev \
  libcurl4-openssl-dev libmicrohttpd-dev libgnutls28-dev libssl-dev openssl \
  clang-format-14 dcmtk dicom3tools qpdf poppler-utils sqlite3 postgresql libxml2-utils fonts-dejavu-core fonts-inter fonts-droid-fallback
