#!/bin/sh
# The Debian packages of the last commit: built twice to the same bytes, clean for lintian, and what they hold works.
# Usage: deb.sh SOURCES   (77 where the tools that pack are not installed, or the sources are no git tree)
set -eu
for tool in dpkg-buildpackage dh lintian dh_python3; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed; packaging/dependencies-long.sh installs it"; exit 77; }
done
git -C "$1" rev-parse HEAD >/dev/null 2>&1 || { echo "skipped: packages are made of a commit, and this is no git tree"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$1/packaging/build-deb.sh" "$work/first" >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
sh "$1/packaging/build-deb.sh" "$work/second" >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
(cd "$work/first" && sha256sum -- *.deb demur.spdx.json third-party.txt) >"$work/digests"
(cd "$work/second" && sha256sum -c "$work/digests")
python3 "$1/tests/packages/bill.py" "$work/first"
for package in demur demur-workstation libdemur0 libdemur-dev python3-demur demur-doc; do
  dpkg-deb -x "$work/first/$package"_*.deb "$work/root"
done
root=$work/root/usr
LD_LIBRARY_PATH=$(dirname "$(find "$root/lib" -name 'libdemur.so.0')")
export LD_LIBRARY_PATH
"$root/bin/demur" --version
"$root/bin/demur" --workspace "$work/w.demur" --quiet cohort simulate c --scans 400 --base-train 400 --sites 4 --tune 200 --test 200
"$root/bin/demur" --workspace "$work/w.demur" --quiet train s --cohort c --method confidence
"$root/bin/demur" --workspace "$work/w.demur" verify
"$root/bin/demur-workstation" --version
test -s "$work/root/lib/systemd/system/demur-serve.service"
echo "packed twice alike, and works from there"
status=0
sh "$1/tests/packages/installed.sh" "$work/first" || status=$?
[ $status = 77 ] || exit $status # what lacks is said
