#!/bin/sh
# Builds the Debian packages of the last commit into a folder, and lets lintian look at them, with a bill of materials (SPDX) and the notices of what they
# need beside them. What was built twice from one
# commit is the same to the byte.
# Usage: sh packaging/build-deb.sh FOLDER   (needs debhelper, dh-python, lintian: packaging/dependencies-long.sh)
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/demur-0.1.0"
git archive HEAD | tar -x -C "$work/demur-0.1.0"
cp -r "$work/demur-0.1.0/packaging/debian" "$work/demur-0.1.0/debian"
cd "$work/demur-0.1.0"
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
export SOURCE_DATE_EPOCH
dpkg-buildpackage --build=binary --no-sign --jobs="${DEMUR_JOBS:-$(nproc)}"
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs ../*.changes
cp ../*.deb ../*.changes ../*.buildinfo "$out"
python3 packaging/sbom.py "$out/demur.spdx.json" "$out/third-party.txt" "$out"/*[!m]_0.1.0_*.deb
