"""demur-mpi: evaluate, validate, search and train by 1 to 4 processes give the bytes of one; a process that is killed (and the work
is done anew), a fault that all meet, and a process of another program or cohort end all of them with a status that is not 0, the
workspace whole, and nothing left to read.

mpi.py DEMUR DEMUR-MPI. 77: no mpirun here.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

demur, demur_mpi = (os.path.abspath(path) for path in sys.argv[1:3])
if shutil.which("mpirun") is None:
    print("no mpirun: not run")
    sys.exit(77)
# mpirun wants to be told that root is meant, and that there may be more ranks than processors.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]
SMALL = ["--epochs", "2", "--datasets-per-epoch", "128", "--dataset-size", "64", "--batch", "8", "--kappa", "2"]


def run(words, status=0):
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode == 0) == (status == 0), (words, result.returncode, result.stderr)
    return result


def one(*words):
    return run([demur, "--workspace", "w.demur", "--quiet", *words]).stdout


def several(n, *words, threads=1):
    return run([*MPIRUN, str(n), demur_mpi, "--workspace", "w.demur", "--quiet", "--threads", str(threads), *words]).stdout


def of_training(text):
    """What of its document does not hang on the clock."""
    document = json.loads(text)
    return json.dumps({key: value for key, value in document.items() if key != "seconds"}, sort_keys=True)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def same_bytes():
    for name, words, part in [
            ("evaluate", ["--json", "evaluate", "--selector", "s", "--cohort", "c", "--group-by", "scanner"], str),
            ("validate", ["--json", "validate", "s", "--cohort", "c"], str),
            ("train --models", ["--json", "train", "t", "--cohort", "c", "--method", "network", *SMALL, "--models", "2", "--average", "2",
                                "--replace"], of_training),
            ("search", ["--json", "train", "t", "--cohort", "c", *SMALL, "--average", "1", "--search-grid", "kernel_width=0.2,0.5",
                        "--replace"], of_training)]:
        right = part(one(*words))
        for n in range(1, 5):
            found = part(several(n, *words, threads=1 + n % 2))
            assert found == right, f"{name} by {n} processes: {digest(found)}, by one {digest(right)}"
        print(f"{name}: {digest(right)} by 1, 2, 3, 4 processes")


def faults():
    # A name that is taken is told before a training that would take days.
    for words in (["train", "s", "--cohort", "c", "--method", "network", "--epochs", "10000", "--models", "100"], ["evaluate", "--selector", "nobody", "--cohort", "c"],
                  ["validate", "s", "--cohort", "c", "--shard", "1/2", "--part", "p"], ["verify"],
                  ["validate", "s", "--cohort", "c", "--folds", "2"]):
        result = run([*MPIRUN, "3", demur_mpi, "--workspace", "w.demur", "--quiet", *words], status=1)
        said = [line for line in result.stderr.splitlines() if line.startswith(("demur: ", "demur-mpi: "))]
        assert len(said) == 1, (words, result.stderr)


def unlike():
    """A rank of another program, and one that reads another cohort under the same name: refused, and nothing kept."""
    before = one("--json", "verify")
    program = open(demur_mpi, "rb").read()
    found = re.search(rb"\d+\.\d+\.\d+ [0-9a-f]{12}\0", program).group()
    with open("other-mpi", "wb") as file:
        file.write(program.replace(found, found[:-2] + (b"0" if found[-2:-1] != b"0" else b"1") + b"\0"))
    os.chmod("other-mpi", 0o755)
    one("workspace", "copy", "w.demur", "other.demur")
    one("--workspace", "other.demur", "cohort", "remove", "c", "--force")
    one("--workspace", "other.demur", "--seed", "8", "cohort", "simulate", "c", "--scans", "1500")
    for name, words in (("evaluate", ["evaluate", "--selector", "s", "--cohort", "c"]),
                        ("validate", ["validate", "s", "--cohort", "c"]),
                        ("train", ["train", "z", "--cohort", "c", "--method", "network", *SMALL, "--average", "2"]),
                        ("search", ["train", "z", "--cohort", "c", *SMALL, "--average", "1", "--search-grid", "kernel_width=0.2,0.5"])):
        for other, at, says in (("./other-mpi", "w.demur", "different programs"), (demur_mpi, "other.demur", "")):
            result = run([*MPIRUN, "1", demur_mpi, "--workspace", "w.demur", "--quiet", *words, ":", "-n", "1", other, "--workspace", at, "--quiet",
                          *words], status=1)
            assert says in result.stderr, (name, result.stderr)
            told = [line for line in result.stderr.splitlines() if line.startswith(("demur: ", "demur-mpi: "))]
            assert told and (says or "another cohort" in told[0] or "don't do the same" in told[0]), (name, result.stderr)
    assert one("--json", "verify") == before


def killed():
    before = one("--json", "verify")
    words = [*MPIRUN, "3", demur_mpi, "--workspace", "w.demur", "--quiet", "--threads", "1", "train", "v", "--cohort", "c", "--method",
             "network", "--average", "3"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while True:  # until all three of them compute
            found = subprocess.run(["pgrep", "-P", str(process.pid), "-f", demur_mpi], capture_output=True, text=True, check=False).stdout.split()
            busy = [pid for pid in found if int(open(f"/proc/{pid}/stat", encoding="ascii").read().split()[13]) > 50]
            if len(busy) == 3:
                break
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(.05)
        os.kill(int(busy[1]), signal.SIGKILL)
        process.communicate()
        assert process.returncode != 0
    assert one("--json", "verify") == before
    several(3, "train", "v", "--cohort", "c", "--method", "network", *SMALL, "--average", "3")
    assert one("--json", "verify") != before


os.environ["TMPDIR"] = tempfile.mkdtemp()
os.chdir(tempfile.mkdtemp())
one("cohort", "simulate", "c", "--scans", "1500")
one("train", "s", "--cohort", "c", "--method", "network", *SMALL, "--average", "2")
one("tune", "s", "--cohort", "c", "--coverage", "0.9")
same_bytes()
faults()
unlike()
killed()
for path, _, names in os.walk(os.environ["TMPDIR"]):
    assert not [name for name in names if name.startswith("part-")], (path, names)
shutil.rmtree(os.environ["TMPDIR"])
shutil.rmtree(os.getcwd())
