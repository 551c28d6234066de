"""The library as it is installed: what a program of another tree compiles, links and runs against.

1. Its header compiles alone, in C and in C++, by what pkg-config says, with every warning an error.
2. The program of docs/library.md compiles, and says of a cohort's risks what `demur assess` says.
3. What it exports is the list of packaging/debian/libdemur0.symbols, each with its version: no more, no less, and all that the header
   declares. Sizes and numbers that programs compiled before rely on are those of the first release.

Usage: library.py DEMUR SOURCES BUILD C-COMPILER C++-COMPILER   (77 where pkg-config is not installed)
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pedantic-errors"]
ALONE = "#include <libdemur.h>\n#include <libdemur.h>\nint main(void) { return libdemur_version() == 0; }\n"

# The binary interface of LIBDEMUR_0 on machines with 8-byte pointers. A line changes only with the version's name.
FROZEN = """
#include <libdemur.h>
int main(void) {
  typedef char error_is[sizeof(libdemur_error) == 1024 ? 1 : -1];
  typedef char sample_is[sizeof(void *) != 8 || sizeof(libdemur_sample) == 40 ? 1 : -1];
  typedef char settings_is[sizeof(libdemur_loss_settings) == 32 ? 1 : -1];
  typedef char point_is[LIBDEMUR_REALISED == 0 && LIBDEMUR_SBCE1 == 1 && LIBDEMUR_SBCE2 == 2 && LIBDEMUR_SBCE_INF == 3 &&
                        LIBDEMUR_DEBIASED2 == 4 && LIBDEMUR_BRIER == 5 && LIBDEMUR_ACCURACY == 6 && LIBDEMUR_N_POINT == 7 ? 1 : -1];
  typedef char calibration_is[LIBDEMUR_OE == 0 && LIBDEMUR_INTERCEPT == 1 && LIBDEMUR_SLOPE == 2 && LIBDEMUR_SLOPE_INTERCEPT == 3 &&
                              LIBDEMUR_ICI == 4 && LIBDEMUR_E50 == 5 && LIBDEMUR_E90 == 6 && LIBDEMUR_AUROC == 7 &&
                              LIBDEMUR_N_CALIBRATION == 8 ? 1 : -1];
  typedef char outlier_is[LIBDEMUR_KNN == 0 && LIBDEMUR_KDE == 1 && LIBDEMUR_OCSVM == 2 && LIBDEMUR_IFOREST == 3 &&
                          LIBDEMUR_LOF == 4 && LIBDEMUR_N_OUTLIER == 5 ? 1 : -1];
  return (int)(sizeof(error_is) + sizeof(sample_is) + sizeof(settings_is) + sizeof(point_is) + sizeof(calibration_is) +
               sizeof(outlier_is)) - 6;
}
"""


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, (words, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def example(sources):
    """The C program of docs/library.md: the first block of four blanks that includes the header."""
    with open(os.path.join(sources, "docs", "library.md"), encoding="utf-8") as file:
        blocks = re.findall(r"(?m)(?:^(?: {4}.*)?\n)+", file.read())
    return next(re.sub(r"(?m)^ {4}", "", block) for block in blocks if "#include <libdemur.h>" in block)


def exported(library):
    """{name@version} of the symbols that others can link."""
    found = set()
    for line in run(["readelf", "--dyn-syms", "--wide", library]).splitlines():
        words = line.split()
        if len(words) >= 8 and words[6] not in ("UND", "Ndx") and words[4] in ("GLOBAL", "WEAK"):
            found.add(words[7].replace("@@", "@"))
    return found


def keeps_its_interface(sources, library):
    with open(os.path.join(sources, "packaging", "debian", "libdemur0.symbols"), encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    version = "LIBDEMUR_0@LIBDEMUR_0"  # itself a symbol, or not, as the linker has it: "(optional)" in the list
    listed = {line.split()[0] for line in lines if not line.startswith(" (optional)")}
    assert head.split()[:2] == [os.path.basename(library), "libdemur0"], head
    found = exported(library) - {version}
    assert found == listed, f"exported and not listed: {sorted(found - listed)}; listed and not exported: {sorted(listed - found)}"
    with open(os.path.join(sources, "core", "library", "libdemur.h"), encoding="utf-8") as file:
        declared = set(re.findall(r"\b(libdemur_\w+)\(", file.read()))
    assert {name.split("@")[0] for name in found} == declared, declared
    assert f"[{os.path.basename(library)}]" in run(["readelf", "--dynamic", library]), "SONAME"


def works_as_the_page_says(program, compiled, environment, folder):
    """Scores and shown risks of a test split by the page's program, beside what assess says of the same scans."""
    command = [program, "--workspace", os.path.join(folder, "w.demur"), "--quiet"]
    rows = [(f"p{i}", ("selector_train", "tune", "test")[i % 3], int(i * 37 % 100 < i), round(.005 + i * .0099, 6)) for i in range(100)]
    write(os.path.join(folder, "c.csv"), "patient_id,site,split,label,risk\n" +
          "".join(f"{name},H{i % 4},{split},{label},{risk}\n" for i, (name, split, label, risk) in enumerate(rows)))
    run([*command, "cohort", "import", "c", os.path.join(folder, "c.csv"), "--model", "m"])
    run([*command, "train", "s", "--cohort", "c", "--method", "entropy"])
    run([*command, "tune", "s", "--cohort", "c", "--coverage", "0.8"])
    run([*command, "selector", "export", "s", os.path.join(folder, "s.json")])
    told = json.loads(run([*command, "--json", "assess", "s", "--cohort", "c", "--split", "test", "--reveal", "test"]))
    risks = {name: risk for name, _, _, risk in rows}
    said = run([compiled, os.path.join(folder, "s.json"), *(str(risks[v["scan_id"]]) for v in told["verdicts"])], env=environment)
    lines = [[float(word) for word in line.split()] for line in said.splitlines()]
    assert len(lines) == len(told["verdicts"]) > 20, said
    for (score, shown), verdict in zip(lines, told["verdicts"]):
        assert abs(score - verdict["score"]) < 1e-6 and abs(shown - verdict["risk"]) < 1e-6, (score, shown, verdict)
    wrong = subprocess.run([compiled, os.path.join(folder, "none.json"), "0.5"], env=environment, capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and "none.json" in wrong.stderr, wrong


def main():
    if shutil.which("pkg-config") is None:
        print("skipped: pkg-config is not installed; packaging/dependencies.sh installs it")
        sys.exit(77)
    program, sources, build, c, cc = sys.argv[1:6]
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "root")
        run(["cmake", "-P", os.path.join(build, "core", "cmake_install.cmake")], env={**os.environ, "DESTDIR": root})
        found = {name: os.path.join(where, name) for where, _, names in os.walk(root) for name in names}
        environment = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(found["libdemur.pc"]), "PKG_CONFIG_SYSROOT_DIR": root}
        flags, links = (run(["pkg-config", what, "libdemur"], env=environment).split() for what in ("--cflags", "--libs"))
        assert run(["pkg-config", "--modversion", "libdemur"], env=environment).split()[0] in run([program, "--version"])
        compiled = os.path.join(folder, "compiled")
        for text in (ALONE, FROZEN):
            for compiler, name, standards in ((c, "t.c", ("c99", "c17")), (cc, "t.cc", ("c++11", "c++17"))):
                for standard in standards:
                    run([compiler, f"-std={standard}", *STRICT, *flags, write(os.path.join(folder, name), text), "-o", compiled, *links],
                        env=environment)
        library = os.path.realpath(found["libdemur.so"])
        soname = os.path.join(os.path.dirname(library), "libdemur.so.0")
        assert os.path.realpath(soname) == library
        keeps_its_interface(sources, soname)
        source = write(os.path.join(folder, "verdicts.c"), example(sources))
        run([c, "-std=c99", *STRICT, *flags, source, "-o", compiled, *links], env=environment)
        environment["LD_LIBRARY_PATH"] = os.path.dirname(library)
        works_as_the_page_says(program, compiled, environment, folder)
    print("header, program and list of the installed library")


main()
