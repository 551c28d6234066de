"""What the tests look for is installed by packaging/dependencies.sh or dependencies-long.sh, and before anything is configured: a program
that CMake or a test does not find leaves tests out, and nobody is told.

Each name that a CMakeLists.txt, a Python or C test or a script looks for is looked up in Debian's database, and its package must be one
of the two lists, one that these depend on (of alternatives any: who installs takes the first), or of a smallest Debian. What is
not installed here is not judged, unless all of both lists is.

Usage: dependencies.py SOURCES   (77 where this is no Debian)
"""
import os
import re
import shutil
import subprocess
import sys

LOOKS = {"CMakeLists.txt": [r"find_program\(\w+ ([\w.-]+)"],
         ".py": [r'shutil\.which\("([^"]+)"', r"^NEEDED = \(([^)]*)\)", r"^NEEDED = \[([^\]]*)\]"],
         ".c": [r'g_find_program_in_path\("([^"]+)"'],
         ".sh": [r'command -v "?([a-z][\w.-]*)', r"for (?:tool|program) in ([^;$\n]*[^;$\n/]); do\s+command -v"]}
BENCHMARKS = os.path.join("tests", "bench")  # compare with what is there, and say what is not


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def listed(sources, name):
    """The packages that a script of packaging installs."""
    text = read(sources, "packaging", name).split('install-missing.sh"', 1)[1]
    return set(text.replace("\\", " ").split())


def looked_for(sources):
    """{program: file that looks for it}"""
    found = {}
    for top in ("tests", "po", "ui", "app", "packaging"):
        for folder, _, files in os.walk(os.path.join(sources, top)):
            if os.path.relpath(folder, sources).startswith(BENCHMARKS):
                continue
            for file in files:
                for ending, patterns in LOOKS.items():
                    if file.endswith(ending):
                        text = read(folder, file)
                        for words in (each for pattern in patterns for each in re.findall(pattern, text, re.MULTILINE)):
                            for word in re.findall(r"[\w.-]+", words):
                                found.setdefault(word, os.path.relpath(os.path.join(folder, file), sources))
    return found


def names(field):
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]+)", field)


def installed():
    """({package: what it depends on}, packages of the smallest system), with what a package provides as one that depends on it."""
    shown = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}\t${Package}\t${Essential}\t${Priority}\t${Depends}, ${Pre-Depends}\t${Provides}\n"],
                           capture_output=True, text=True, check=True).stdout
    needs, smallest = {}, set()
    for line in shown.splitlines():
        status, package, essential, priority, depends, provides = line.split("\t")
        if status != "installed":
            continue
        needs.setdefault(package, set()).update(names(depends))
        for name in names(provides):
            needs.setdefault(name, set()).add(package)
        if essential == "yes" or priority == "required":
            smallest.add(package)
    return needs, smallest


def reached(needs, packages):
    known, open_ = set(), list(packages)
    while open_:
        package = open_.pop()
        if package not in known:
            known.add(package)
            open_ += needs.get(package, ())
    return known


def packages_of(program):
    """Who owns the program's file, under the name by which it is called or by which it stands behind links."""
    path = shutil.which(program, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    if path is None:
        return None
    merged = [path, os.path.realpath(path)]
    merged += [each[len("/usr"):] for each in merged if each.startswith("/usr/")]
    shown = subprocess.run(["dpkg-query", "-S", *merged], capture_output=True, text=True, check=False).stdout
    return {word.split(":")[0].strip() for line in shown.splitlines() if not line.startswith("diversion") for word in line.rsplit(": ", 1)[0].split(",")}


def main():
    sources = sys.argv[1]
    if shutil.which("dpkg-query") is None:
        print("skipped: no dpkg-query: this is no Debian")
        sys.exit(77)
    steps = read(sources, "packaging", "check.sh").splitlines()
    configured = next(number for number, line in enumerate(steps) if re.match(r"(\w+=\S+ )*cmake --preset", line))
    for name in ("dependencies.sh", "dependencies-long.sh"):
        at = [number for number, line in enumerate(steps) if not line.startswith("#") and f"sh packaging/{name}" in line]
        assert at and at[0] < configured, f"check.sh installs what {name} names only after something is configured, or never"
    needs, smallest = installed()
    asked = listed(sources, "dependencies.sh") | listed(sources, "dependencies-long.sh")
    known = reached(needs, asked | smallest)
    whole = all(package in needs for package in asked)
    programs, judged, lacking = looked_for(sources), 0, []
    assert {"valgrind", "mpirun", "qemu-aarch64", "storescp", "sbatch"} <= set(programs), f"what is looked for is not seen: {sorted(programs)}"
    for program, file in sorted(programs.items()):
        owners = packages_of(program)
        if owners is None and not whole:
            continue
        judged += 1
        if not owners or not owners & known:
            lacking.append(f"{file} looks for {program}, of {' or '.join(sorted(owners or ())) or 'no installed package'}")
    assert not lacking, "neither dependencies.sh nor dependencies-long.sh installs it:\n" + "\n".join(lacking)
    print(f"{judged} programs of {len(programs)} that the tests look for are installed, and before anything is configured")


main()
