#!/bin/sh
# Builds the wheel of the Python module around a built libdemur.so. Needs setuptools, wheel and pip.
# Usage: sh packaging/python/build.sh LIBDEMUR.SO FOLDER
set -eu
library=$(readlink -f "$1")
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r pyproject.toml setup.py demur "$work"
cp "$library" "$work/demur/libdemur.so"
${PYTHON:-python3} -m pip wheel --no-deps --no-build-isolation --no-index --quiet --wheel-dir "$out" "$work"
