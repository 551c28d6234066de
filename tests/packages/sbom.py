"""What the bill of materials says of a package that was made here, whose needs are and are not installed.

1. It lists all that the package depends on: with its version what is installed, without one what is not, and why; nothing is left out.
2. Where one of two alternatives is installed, it is that one; where none is, the first.
3. The notices name them too.

Usage: sbom.py SOURCES   (77 where the tools of Debian's packages are not installed)
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

CONTROL = """Package: sample
Version: 1.0
Architecture: all
Maintainer: Demur developers <developers@demur.invalid>
Description: sample
Depends: dpkg (>= 1), demur-nowhere (>= 2), demur-nowhere-either:any | dpkg, demur-neither | demur-nor
"""


def main(sources):
    if not (shutil.which("dpkg-deb") and shutil.which("dpkg-query")):
        print("skipped: dpkg is not installed")
        return 77
    if subprocess.run(["dpkg-query", "--show", "dpkg"], capture_output=True, check=False).returncode != 0:
        print("skipped: the system's packages are not Debian's")
        return 77
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(f"{work}/sample/DEBIAN")
        os.chmod(f"{work}/sample", 0o755)
        with open(f"{work}/sample/DEBIAN/control", "w", encoding="utf-8") as file:
            file.write(CONTROL)
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", f"{work}/sample", f"{work}/sample.deb"], check=True, capture_output=True)
        subprocess.run([sys.executable, f"{sources}/packaging/sbom.py", f"{work}/bill.json", f"{work}/notices", f"{work}/sample.deb"], check=True)
        with open(f"{work}/bill.json", encoding="utf-8") as file:
            bill = json.load(file)
        with open(f"{work}/notices", encoding="utf-8") as file:
            notices = file.read()
    packages = {p["SPDXID"]: p for p in bill["packages"]}
    assert len(packages) == len(bill["packages"])
    for relation in bill["relationships"]:
        assert relation["relatedSpdxElement"] in packages, relation
    direct = {packages[r["relatedSpdxElement"]]["name"] for r in bill["relationships"] if r["spdxElementId"].endswith("-sample")}
    assert direct == {"dpkg", "demur-nowhere", "demur-neither"}, direct
    for package in packages.values():
        there = not package["name"].startswith("demur-")
        assert ("versionInfo" in package) == there and ("comment" in package) != there, package
    for name in direct:
        assert f"\n{name} " in notices, name
    print("the bill leaves nothing out")
    return 0


sys.exit(main(sys.argv[1]))
