#!/bin/sh
# Installs the R package into a library folder, against an installed or a built libdemur.
# Usage: sh packaging/r/install.sh FOLDER [INCLUDE-DIR LIBRARY-DIR]   (without the last two: what pkg-config finds)
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
if [ $# -eq 3 ]; then
  LIBDEMUR_CFLAGS="-I$(readlink -f "$2")"
  LIBDEMUR_LIBS="-L$(readlink -f "$3") -ldemur -Wl,-rpath,$(readlink -f "$3")"
  export LIBDEMUR_CFLAGS LIBDEMUR_LIBS
fi
work=$(mktemp -d) # R builds in the folder of the sources
trap 'rm -rf "$work"' EXIT
cp -r "$(dirname "$0")" "$work/demur"
R CMD INSTALL --clean --library="$out" "$work/demur"
