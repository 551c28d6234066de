"""Every command that writes meets every fault at every call that writes.

Right is: with exit status 0 the files and the workspace are those of a run without fault; otherwise every file that has
its final name is the old one or the whole new one, the workspace is sound, nothing but .demur-*.part is left beside,
and only by a kill; and the same command, run again, ends as if nothing had been.

Every command of the program's help is in one of two tables (workbench.py): those that write meet the faults, and those that
only read must leave files and workspace as they were. One that is new, or begins to write, fails here.

Usage: faults.py DEMUR PHANTOM INJECT [--points N] [--only COMMAND ..] [--jobs N] [--folder F]: at most N calls a command and
fault, spread evenly; N runs at a time, in a folder below F (one in memory is quickest: no fault is of the disk's).
"""
import argparse
import multiprocessing
import os
import signal
import sys
import tempfile

from workbench import DEMO, ELSEWHERE, Bench, commands_of, files_of, is_part, name_of, reading_of, rows_of

# What a call must be able to for a kind of fault to change anything (inject.c).
KINDS = {"full": 1, "io": 0, "short": 4, "eintr": 2, "kill": 0, "after": 0}


class Outcome:
    def __init__(self, folder):
        self.files = files_of(folder)
        self.rows = rows_of(folder)


class Tried:
    """One command, and what a run of it without fault leaves."""

    def __init__(self, bench, inject, name, words, before):
        self.bench, self.inject, self.name, self.words, self.before = bench, inject, name, words, before
        self.calls, self.reference = count_calls(bench, inject, words)
        assert self.calls, f"{name} writes nothing: the injector saw no call"

    def fault(self, point):
        """The status of a run with that fault, and what is wrong, for one process of several."""
        kind, at = point
        self.bench.work = os.path.join(self.bench.folder, f"work-{os.getpid()}")
        try:
            status, wrong = run_one(self, kind, at)
        except Exception as error:  # told with its place
            status, wrong = 1, f"{type(error).__name__}: {error}"
        return kind, at, status, wrong


def differs(rows, reference):
    """Tables that differ; what is random or a time in them is left out by the caller's choice of reference."""
    if rows is None:
        return ["(damaged)"]
    return [table for table in sorted(set(rows) | set(reference)) if rows.get(table) != reference.get(table)]


# What goes into the workspace step by step, each step whole; every other command is one transaction.
IN_STEPS = {"assess", "train", "validate", "scores run", "dicom receive", "a new workspace", *DEMO}


def check(bench, name, status, after, before, reference):
    """What is wrong, in words; None where all is right."""
    if after.rows is None:
        return "the workspace is damaged"
    if status < 0 and name not in IN_STEPS and differs(after.rows, before.rows) and differs(after.rows, reference.rows):
        return f"half of it is in the workspace: {differs(after.rows, before.rows)} are not as before, " \
            f"{differs(after.rows, reference.rows)} not as behind it"
    if status == 0 and bench.received is False:
        return "the receiver ended well without what was sent"
    parts = [file for file in after.files if is_part(file)]
    whole = {file: digest for file, digest in after.files.items() if not is_part(file)}
    if parts and status >= 0:
        return f"{parts} was left"
    for file, digest in whole.items():
        if digest not in (before.files.get(file), reference.files.get(file)):
            return f"{file} is neither the old nor the new one"
    for file in before.files:
        if file not in whole:
            return f"{file} is gone"
    if bench.received and any(whole.get(file) != digest for file, digest in reference.files.items()):
        return "the peer was told that all is kept, and it is not"
    if status == 0:
        if whole != reference.files:
            return f"exit 0, but {sorted(set(reference.files) ^ set(whole))} differ"
        if differs(after.rows, reference.rows):
            return f"exit 0, but {differs(after.rows, reference.rows)} differ"
    return None


def run_one(tried, kind, at):
    """Status, and what is wrong or None."""
    bench, before, reference = tried.bench, tried.before, tried.reference
    folder = bench.copy()
    result = bench.run(folder, tried.words, LD_PRELOAD=os.path.abspath(tried.inject), FAULT_ROOT=folder, FAULT_KIND=kind,
                       FAULT_AT=str(at))
    status = result.returncode
    killed = kind in ("kill", "after")
    if killed and status not in (0, -signal.SIGKILL):
        return status, f"status {status}: {result.stderr.strip()}"
    if not killed and status not in (0, 1):
        return status, f"status {status}: {result.stderr.strip()}"
    if status == 1 and not result.stderr.startswith("demur: "):
        return status, f"failed without a word: {result.stderr!r}"
    wrong = check(bench, tried.name, status, Outcome(folder), before, reference)
    if wrong:
        return status, f"{wrong}; it said {result.stderr.strip()!r}"
    if status != 0:  # again, without a fault
        state = rows_of(folder)
        again = bench.run(folder, tried.words)
        done = "already" in again.stderr or "is there" in again.stderr or "not empty" in again.stderr or \
            "no cohort" in again.stderr or "there is no " in again.stderr or "conflicts with nothing" in again.stderr or "holds" in again.stderr
        if again.returncode != 0 and not done:
            return status, f"run again: {again.stderr.strip()!r}"
        if again.returncode == 0 and any(is_part(file) for file in files_of(folder)):
            return status, "run again: a part stayed"
        if again.returncode == 0:
            wrong = check(bench, tried.name, 0, Outcome(folder), before, reference) if state == before.rows else None
            if wrong:
                return status, f"run again: {wrong}"
    return status, None


def count_calls(bench, inject, words):
    folder = bench.copy()
    count = os.path.join(bench.folder, "count")
    result = bench.run(folder, words, LD_PRELOAD=os.path.abspath(inject), FAULT_ROOT=folder, FAULT_COUNT=count)
    assert result.returncode == 0, (words, result.stderr)
    with open(count, encoding="utf-8") as file:
        return [int(traits) for traits in file.read()], Outcome(folder)


def spread(points, n):
    """At most n of them, evenly; all for n = 0."""
    if n == 0 or len(points) <= n:
        return points
    return sorted({points[i * (len(points) - 1) // max(n - 1, 1)] for i in range(n)})


def points_of(kind, calls, n):
    """The calls at which a fault of this kind is tried. Behind a call is before the next one: only the last is tried behind."""
    if kind == "after":
        return [len(calls)]
    return spread([at for at, traits in enumerate(calls, 1) if traits & KINDS[kind] == KINDS[kind]], n)


def every_command_is_in_a_table(bench):
    """And what is said to read changes nothing."""
    writing = {name_of(name) for name in [*commands_of(bench), *DEMO]}
    reading = reading_of(bench)
    there = {name for name, _ in bench.commands_of_help()} - ELSEWHERE
    assert there == writing | set(reading), f"not in one table: {sorted(there ^ (writing | set(reading)))}"
    assert not writing & set(reading)
    for name, words in reading.items():
        folder = bench.copy()
        before = Outcome(folder)
        result = bench.run(folder, words)
        assert result.returncode in (0, 1), (words, result.stderr)
        after = Outcome(folder)
        assert after.files == before.files, f"{name} writes {sorted(set(after.files) ^ set(before.files))}"
        assert not differs(after.rows, before.rows), f"{name} changes {differs(after.rows, before.rows)}"


def try_all(tried, n_points, n_jobs):
    """Each kind of fault at the calls that can meet it: number of runs, and of those that were wrong."""
    total = len(tried.calls)
    points = [(kind, at) for kind in KINDS for at in points_of(kind, tried.calls, n_points)]
    n_wrong, ended = 0, {kind: [] for kind in KINDS}
    with multiprocessing.Pool(n_jobs) as pool:
        for kind, at, status, wrong in pool.imap_unordered(tried.fault, points):
            ended[kind].append(status)
            if wrong:
                n_wrong += 1
                print(f"{tried.name}: {kind} at call {at} of {total}: {wrong}", flush=True)
    for kind in ("full", "io", "kill", "after"):
        if not any(ended[kind]):
            n_wrong += 1
            print(f"{tried.name}: no run met {kind}: the injector does nothing", flush=True)
    print(f"{tried.name}: {total} calls, {len(points)} faults", flush=True)
    return len(points), n_wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demur")
    parser.add_argument("phantom")
    parser.add_argument("inject")
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--demo", type=int, default=0, metavar="N", help="try the demo too, at N calls (half a minute each)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    place = options.folder if options.folder and os.access(options.folder, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="demur-faults-", dir=place) as folder:
        bench = Bench(options.demur, options.phantom, folder)
        before = Outcome(bench.template)
        n_wrong = n_runs = 0
        if not options.only:
            every_command_is_in_a_table(bench)
        for name, words in {**commands_of(bench), **DEMO}.items():
            if options.only and name not in options.only or name in DEMO and not options.demo:
                continue
            tried = Tried(bench, options.inject, name, words, before)
            runs, wrong = try_all(tried, options.demo if name in DEMO else options.points, options.jobs)
            n_runs, n_wrong = n_runs + runs, n_wrong + wrong
        print(f"{n_runs} runs with a fault, {n_wrong} wrong")
        sys.exit(1 if n_wrong else 0)


main()
