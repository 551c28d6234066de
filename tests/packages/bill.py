"""The bill of materials of built packages, and what they say that they need, beside what their files load.

1. The bill is sound SPDX: every relation is between things that it lists, each package has the digest of its file.
2. The bill names all that a package says that it depends on, also what is not installed where it was built.
3. Every library that a program, a library or a room that is loaded late (a module beside the program) asks the loader for is of a package that the
   one which holds the file depends on, and the bill says so. Nothing else is loaded by name: no file has another library's name in it.

Usage: bill.py FOLDER   (of packaging/build-deb.sh; on the machine that built them)
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

PACKAGES = {"demur", "demur-workstation", "libdemur0", "libdemur-dev", "python3-demur", "demur-doc"}
LIBRARY = re.compile(rb"\0(lib[\w+-]+\.so(?:\.\d+)*)(?=\0)")


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def sound_bill(folder):
    """{name: names that it depends on} of the bill."""
    with open(f"{folder}/demur.spdx.json", encoding="utf-8") as file:
        bill = json.load(file)
    packages = {p["SPDXID"]: p for p in bill["packages"]}
    assert bill["spdxVersion"] == "SPDX-2.3" and len(packages) == len(bill["packages"])
    needs = {p["name"]: set() for p in bill["packages"]}
    for relation in bill["relationships"]:
        assert relation["relatedSpdxElement"] in packages, relation
        assert relation["spdxElementId"] in packages or relation["spdxElementId"] == bill["SPDXID"], relation
        if relation["relationshipType"] == "DEPENDS_ON":
            needs[packages[relation["spdxElementId"]]["name"]].add(packages[relation["relatedSpdxElement"]]["name"])
    described = {r["relatedSpdxElement"] for r in bill["relationships"] if r["relationshipType"] == "DESCRIBES"}
    assert {packages[d]["name"] for d in described} == PACKAGES
    for d in described:
        with open(os.path.join(folder, packages[d]["packageFileName"]), "rb") as file:
            assert hashlib.sha256(file.read()).hexdigest() == packages[d]["checksums"][0]["checksumValue"]
    return needs


def owners():
    """{file name of a shared library: the installed package that holds it}."""
    found = {}
    for line in run("ldconfig", "-p").splitlines()[1:]:
        name, arrow, path = line.strip().partition(" => ")
        if arrow and "x86-64" in name or arrow and os.uname().machine != "x86_64":
            found.setdefault(name.split()[0], path)
    return found


def owner_of(path):
    """The package of a library; where /lib is /usr/lib, the file may be listed by either."""
    real = os.path.realpath(path)
    for name in (path, real, real.removeprefix("/usr")):
        said = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True, check=False)
        if said.returncode == 0:
            return said.stdout.split(":")[0]
    raise AssertionError(f"{path} is of no package")


def groups(depends):
    """[[alternative, ..], ..] of a Depends field, versions and architectures left out."""
    return [[re.sub(r"[\s(:].*", "", word.strip()) for word in group.split("|")] for group in depends.split(",") if group.strip()]


def holders(path):
    """The packages whose installation brings a library: its own; and where the system chooses it among alternatives (the BLAS is one), those
    that depend on one of them."""
    owner = owner_of(path)
    found = {owner}
    if os.path.islink(path) and os.readlink(path).startswith("/etc/alternatives/"):
        for line in run("dpkg-query", "--show", "--showformat", "${Package}\t${Depends}\n").splitlines():
            package, _, depends = line.partition("\t")
            if any(owner in group for group in groups(depends)):
                found.add(package)
    return found


def elf_files(root):
    for where, _, names in os.walk(root):
        for name in names:
            path = os.path.join(where, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    if file.read(4) == b"\x7fELF":
                        yield path


def loads_what_it_depends_on(folder, needs):
    libraries, seen = owners(), {}
    with tempfile.TemporaryDirectory() as work:
        for package in sorted(PACKAGES):
            deb = next(name for name in os.listdir(folder) if re.fullmatch(package + r"_[^_]*_\w+\.deb", name))
            run("dpkg-deb", "-x", os.path.join(folder, deb), os.path.join(work, package))
            depends = groups(run("dpkg-deb", "--field", os.path.join(folder, deb), "Depends"))
            named = {name for group in depends for name in group}
            for group in depends:
                assert needs[package] & set(group), f"{package} depends on {' | '.join(group)}, which is not in the bill"
            for path in elf_files(os.path.join(work, package)):
                needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", path))
                with open(path, "rb") as file:
                    others = {name.decode() for name in LIBRARY.findall(file.read())} - set(needed)
                soname = re.findall(r"\(SONAME\).*\[(.*)\]", run("readelf", "--dynamic", path))
                assert others <= set(soname), f"{path} has the names of {sorted(others)}"
                for library in needed:
                    brings = {"libdemur0"} if library.startswith("libdemur.") else holders(libraries[library])
                    assert brings & named, f"{package}: {os.path.basename(path)} needs {library} of {brings}, which is not in Depends"
                    assert brings & named & needs[package], f"{package}: none of {brings} is in the bill"
                    seen.setdefault(package, set()).update(brings & named)
    modules = {"libdcmtk17", "libopenblas0", "libpq5", "libcairo2", "libqpdf29"}
    assert len(seen["demur"] & modules) >= 5, seen["demur"]  # of its rooms that are loaded late
    return seen


def main():
    needs = sound_bill(sys.argv[1])
    for package, owners_of in sorted(loads_what_it_depends_on(sys.argv[1], needs).items()):
        print(package, "loads", " ".join(sorted(owners_of)))


main()
