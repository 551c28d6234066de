"""Installs the build below a folder and works from there.

1. Everything that is installed is made by building demur and demur-workstation, as packaging/demo.sh does: nothing waits for
   another target, so `cmake --install` works right behind it.
2. Installed below DESTDIR, the program draws a cohort, trains, tunes and assesses; the desktop entry, the man pages, the
   service's unit and the words of every language lie where they are looked for, whole.

Usage: install.py CMAKE BUILD NINJA
"""
import configparser
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PROGRAMS = ["demur", "demur-workstation"]


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, (words, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout


def installed_from(build):
    """The files of the build that its install scripts copy."""
    found = set()
    for folder, _, names in os.walk(build):
        if "cmake_install.cmake" in names:
            with open(os.path.join(folder, "cmake_install.cmake"), encoding="utf-8") as file:
                found |= {path for line in file if " OPTIONAL " not in line  # demur-mpi, which may not be built
                          for path in re.findall(r'"(' + re.escape(build) + r'/[^"$]+)"', line)}
    return {path for path in found if os.path.splitext(path)[1] != ".cmake"}


def a_workspace_is_known(types, kind, workspace, folder):
    """By its header, whatever its name; another database is none. Needs shared-mime-info and gio."""
    system = "/usr/share/mime/packages/freedesktop.org.xml"
    if not (shutil.which("update-mime-database") and shutil.which("gio") and os.path.exists(system)):
        print("no shared-mime-info or gio: the type of a workspace is not asked")
        return
    packages = os.path.join(folder, "share", "mime", "packages")
    os.makedirs(packages)
    for path in (types, system):
        shutil.copy(path, packages)
    run(["update-mime-database", os.path.dirname(packages)])
    other = os.path.join(folder, "other")
    sqlite3.connect(other).executescript("CREATE TABLE t (a)").connection.close()
    shutil.copy(workspace, os.path.join(folder, "renamed"))
    home = {**os.environ, "XDG_DATA_HOME": os.path.join(folder, "share"), "XDG_DATA_DIRS": os.path.join(folder, "share")}
    for path, right in (("w.demur", True), ("renamed", True), ("other", False)):
        said = run(["gio", "info", "--attributes", "standard::content-type", os.path.join(folder, path)], env=home)
        assert (f"standard::content-type: {kind}" in said) == right, (path, said)


def main():
    cmake, build, ninja = sys.argv[1], os.path.realpath(sys.argv[2]), sys.argv[3]
    if "ninja" not in os.path.basename(ninja):
        print("skipped: the build is not ninja's")
        sys.exit(77)
    commands = run([ninja, "-C", build, "-t", "commands", *PROGRAMS])
    configured = {path for path in installed_from(build)  # written by cmake itself, before anything is built
                  if path.endswith((".service", ".pc"))}
    wanted = {os.path.relpath(path, build) for path in installed_from(build) - configured} - {f"app/{name}" for name in PROGRAMS}
    assert any(path.endswith("demur.mo") for path in wanted), wanted
    missing = {path for path in wanted if path not in commands}
    assert not missing, f"installed, but not made by building {PROGRAMS}: {missing}"

    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "root")
        run([cmake, "--install", build], env={**os.environ, "DESTDIR": root})
        files = {}
        for where, _, names in os.walk(root):
            for name in names:
                path = os.path.join(where, name)
                assert os.path.getsize(path) > 0, path
                # A completion of the shell's is called as its program is.
                if name not in files or os.access(path, os.X_OK):
                    files[name] = path
        for name in [*PROGRAMS, "libdemur.so", "libdemur.h", "libdemur.pc", "demur.1", "demur-workstation.1", "demur.mo", "demur-serve.service", "serve.conf",
                     "org.demur.Workstation.metainfo.xml", "org.demur.Workstation.svg", "org.demur.Workstation.Open.desktop", "org.demur.Workstation.xml"]:
            assert name in files, f"{name} is not installed"
        for name in ("org.demur.Workstation.desktop", "org.demur.Workstation.Open.desktop"):
            entry = configparser.ConfigParser(interpolation=None)
            entry.read(files[name], encoding="utf-8")
            assert entry["Desktop Entry"]["Exec"].split()[0] in files
        opened = entry["Desktop Entry"]["MimeType"].rstrip(";")
        demur = [files["demur"], "--workspace", os.path.join(folder, "w.demur"), "--quiet"]
        versions = {run([files[name], "--version"]).split()[1] for name in PROGRAMS}
        assert len(versions) == 1, versions
        run([*demur, "cohort", "simulate", "c", "--scans", "400", "--base-train", "400", "--sites", "4", "--tune", "200", "--test",
             "200"])
        run([*demur, "train", "s", "--cohort", "c", "--method", "confidence"])
        run([*demur, "tune", "s", "--cohort", "c", "--coverage", "0.9"])
        assert "SIMULATED" in run([*demur, "assess", "s", "--cohort", "c", "--split", "test"]).upper()
        run([*demur, "verify"])
        a_workspace_is_known(files["org.demur.Workstation.xml"], opened, os.path.join(folder, "w.demur"), folder)
        # Rooms that are loaded when they are first called are found where they were installed.
        assert "two-patients" in run([*demur, "dicom", "rules"])
        assert "coverage-brier" in run([*demur, "chart", "--list"])
        with open(files["demur-serve.service"], encoding="utf-8") as file:
            program = re.search(r"^ExecStart=(\S+)", file.read(), re.M).group(1)
        assert os.path.exists(root + program), program
    print("installed and ran")


main()
