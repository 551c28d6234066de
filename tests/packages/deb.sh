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
python3 - "$work/first" << 'END'
import hashlib, json, os, sys
folder = sys.argv[1]
bill = json.load(open(f"{folder}/demur.spdx.json"))
packages = {p["SPDXID"]: p for p in bill["packages"]}
assert bill["spdxVersion"] == "SPDX-2.3" and len(packages) == len(bill["packages"])
for relation in bill["relationships"]:
    assert relation["relatedSpdxElement"] in packages, relation
    assert relation["spdxElementId"] in packages or relation["spdxElementId"] == bill["SPDXID"], relation
described = {r["relatedSpdxElement"] for r in bill["relationships"] if r["relationshipType"] == "DESCRIBES"}
names = {packages[d]["name"] for d in described}
assert names == {"demur", "demur-workstation", "libdemur0", "libdemur-dev", "python3-demur", "demur-doc"}, names
for d in described:
    with open(os.path.join(folder, packages[d]["packageFileName"]), "rb") as file:
        assert hashlib.sha256(file.read()).hexdigest() == packages[d]["checksums"][0]["checksumValue"]
direct = {packages[r["relatedSpdxElement"]]["name"] for r in bill["relationships"]
          if r["spdxElementId"].endswith("-demur")}
assert {"libsqlite3-0", "libglib2.0-0", "libdcmtk17", "libopenblas0"} <= direct, direct
END
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
