"""Every command that writes meets every fault at every call that writes.

Right is: with exit status 0 the files and the workspace are those of a run without fault; otherwise every file that has
its final name is the old one or the whole new one, the workspace is sound, nothing but .demur-*.part is left beside,
and only by a kill; and the same command, run again, ends as if nothing had been.

Every command of the program's help is in one of two tables (workbench.py): those that write meet the faults, and those that
only read must leave files and workspace as they were. One that is new, or begins to write, fails here.

The same command from the same bytes is the same run: what a fault left is tried again once for each state of folder and
workspace (so not at all where a run left everything as it was). The rule of alike calls: calls made at one place (the same
return addresses on the stack, so that the same lines meet the fault) can't differ, and of those the first two and the last are
tried. The demo, which makes tens of thousands, is tried so (and what must be survived at every call of one run), and with --alike
every command. The rule is tested by every run, most
where all calls are tried: a kind of fault at one place must have one ending (status, and message without paths and numbers), else
the run fails; and all calls of a command taken for one place must break the rule, else it sees nothing. Nothing else is left out.

Usage: faults.py DEMUR PHANTOM INJECT [--points N] [--kinds N] [--only COMMAND ..] [--demo] [--alike] [--jobs N] [--folder F] [--table FILE]: at most N
calls a command and fault, spread evenly; N of the kinds of fault a command, in turn, so that each is met by many commands; N runs at a time, in a folder below F (one in memory is quickest: no fault is of the
disk's); the numbers as a table in FILE.
"""
import argparse
import contextlib
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile

from workbench import (DEMO, ELSEWHERE, KINDS, PATIENCE, STDOUT, Bench, Copy, Held, Server, commands_of, files_of, counted, is_part, name_of, output_of, points_of, reading_of,
                       rows_of, spread)


class Outcome:
    def __init__(self, folder, copy=None):
        digest = copy and copy.digest
        self.files = files_of(folder, digest)
        self.rows = rows_of(folder, digest)


class Tried:
    """One command, and what a run of it without fault leaves."""

    def __init__(self, bench, inject, name, words, before):
        self.bench, self.inject, self.name, self.words, self.before = bench, inject, name, words, before
        self.calls, self.places, self.reference = count_calls(bench, inject, words)
        assert self.calls, f"{name} writes nothing: the injector saw no call"
        self.copy = self.server = None  # of a worker
        self.again = {}  # what is wrong with a run from a state: {state: words or None}

    def begin(self):
        self.copy = Copy(self.bench.template, os.path.join(self.bench.folder, f"work-{os.getpid()}"))
        self.again[self.copy.state()] = None  # the run without fault
        if self.words[:2] != ["dicom", "receive"]:  # which a peer must send to
            self.server = Server(self.bench, self.inject, self.copy.folder, self.words)

    def run(self, kind, at):
        if self.server and at != EVERYWHERE:
            self.bench.received = None
            return self.server.run(kind, at)
        result = self.bench.run(self.copy.folder, self.words, LD_PRELOAD=os.path.abspath(self.inject), FAULT_ROOT=self.copy.folder,
                                FAULT_KIND=kind, FAULT_AT=str(at))
        return result.returncode, result.stderr

    def state(self):
        return self.copy.state()

    @contextlib.contextmanager
    def again_in(self):
        """The folder in which what a fault left is tried again."""
        yield self.copy.folder

    def run_again_in(self, folder):
        return self.bench.run(folder, self.words)

    def points(self, n, alike, kinds=tuple(KINDS)):
        """(kind, call): at most n of a kind, 0: all; alike: of the calls that are made at one place the first two and the last."""
        at_place = {}
        for at, place in enumerate(self.places, 1):
            at_place.setdefault(place, []).append(at)
        chosen = {at for all_of in at_place.values() for at in ([*all_of[:2], all_of[-1]] if alike else all_of)}
        for kind in kinds:
            able = [at for at in points_of(kind, self.calls, 0) if at in chosen or kind == "after"]
            yield from ((kind, at) for at in spread(able, n))

    def fault(self, kind, at):
        """The status of a run with that fault, how it ended in words, and what is wrong."""
        said = ""
        try:
            self.copy.restore()
            status, said, wrong = run_one(self, kind, at)
        except Exception as error:  # told with its place
            status, wrong = 1, f"{type(error).__name__}: {error}"
        # How often a thing is said hangs on how much is behind the call that met a full disk.
        return kind, at, status, re.sub(r"^(.*\n)\1+", r"\1", PATHS.sub("..", said), flags=re.M), wrong


class Staged(Tried):
    """A command that takes half a minute and makes tens of thousands of calls. It runs once, and stops before each call that is to
    meet a fault: what it has done by then is done once for all faults at that call, each in a copy of the process (inject.c,
    FAULT_STOPS). What must be survived, a short write and an interruption of what is no sync, is met by every call of one run: a
    run for each would be a command for each. What the command keeps holds the path of its folder, in digests too: it runs, and runs again,
    at the path of the run without fault."""

    def begin(self):
        """The folder's own template: that of the others stays."""
        template = self.bench.copy() + "-template"
        shutil.rmtree(template, ignore_errors=True)
        shutil.copytree(self.bench.template, template, symlinks=True)
        self.copy, self.bench.copied = Copy(template, self.bench.work), None

    def points(self, n, alike, kinds=tuple(KINDS)):
        yield from ((kind, EVERYWHERE) for kind in SURVIVED if kind in kinds)
        yield from ((kind, at) for kind, at in super().points(n, alike, kinds) if kind not in SURVIVED or self.calls[at - 1] == KINDS[kind])

    def all(self, points):
        """The results of these, as fault() gives them; at the end the command itself has done what it does without one."""
        for kind, at in points:
            if at == EVERYWHERE:
                yield self.fault(kind, at)
        self.copy.restore()
        at_call = {}
        for kind, at in points:
            if at != EVERYWHERE:
                at_call.setdefault(at, []).append(kind)
        stops = sorted(at_call)
        self.server = Server(self.bench, self.inject, self.copy.folder, self.words, FAULT_STOPS=str(stops[0]))
        stop = self.server.stopped()
        for at, following in zip(stops, [*stops[1:], 0]):
            assert stop == at, f"stopped before call {stop}, expected {at}"
            self.copy.keep()
            self.copy.held = Held(self.server.process.pid, self.copy.folder)
            for kind in at_call[at]:
                yield self.fault(kind, at)
            self.copy.restore()
            self.copy.held.end()
            self.copy.held = None
            stop = self.server.go(following)
        assert stop is None
        assert self.server.process.wait(PATIENCE) == 0
        wrong = check(self.bench, self.name, 0, Outcome(self.copy.folder), self.before, self.reference)
        assert not wrong, f"the run between the faults: {wrong}"

    @contextlib.contextmanager
    def again_in(self):
        """A copy in its place: the process that stands still holds the locks of what it made, and its folder, by whatever name."""
        folder, aside = self.copy.folder, self.copy.folder + "-aside"
        os.rename(folder, aside)
        try:
            shutil.copytree(aside, folder, symlinks=True)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(aside, folder)

    def run_again_in(self, folder):
        """With the random bytes of the other runs."""
        return self.bench.run(folder, self.words, LD_PRELOAD=os.path.abspath(self.inject))

    def state(self):
        """Where what is left is of the same kinds, the next run begins alike: which names stand in the folder, parts among them, and
        what the workspaces hold."""
        folders, files = self.copy.names()
        names = {re.sub(r"[0-9a-f]{8}\b|\d+", "#", name) for name in [*folders, *files] if name.count(os.sep) < 3}
        return tuple(sorted(names)), tuple(sorted(rows_of(self.copy.folder, self.copy.digest).items()))


EVERYWHERE = -1  # in place of a call's number
SURVIVED = ("short", "eintr")

# What takes seconds to come to most of its calls.
STAGED = {"train search", *DEMO}

PATHS = re.compile(r"\S*[/.0-9]\S*")  # words that hold a path or a number

tried_here = None  # of a worker, which inherits it


def begin_worker(tried):
    global tried_here
    tried_here = tried
    tried.begin()


def try_point(point):
    return tried_here.fault(*point)


def differs(rows, reference):
    """Tables that differ; what is random or a time in them is left out by the caller's choice of reference."""
    if rows is None:
        return ["(damaged)"]
    return [table for table in sorted(set(rows) | set(reference)) if rows.get(table) != reference.get(table)]


# What goes into the workspace step by step, each step whole (of a family of horizons each selector and threshold); every other command is
# one transaction. A training keeps how far it came (CHECKPOINT), and the rest is one.
CHECKPOINT = ("w.demur", "checkpoint")
IN_STEPS = {"assess", "train horizons", "tune horizons", "validate", "scores run", "dicom receive", "a new workspace", *DEMO}


def check(bench, name, status, after, before, reference):
    """What is wrong, in words; None where all is right."""
    if after.rows is None:
        return "the workspace is damaged"
    if status < 0 and name not in IN_STEPS:
        ends = [[table for table in differs(after.rows, end.rows) if name_of(name) != "train" or table != CHECKPOINT]
                for end in (before, reference)]
        if all(ends):
            return f"half of it is in the workspace: {ends[0]} are not as before, {ends[1]} not as behind it"
    parts = [file for file in after.files if is_part(file)]
    whole = {file: digest for file, digest in after.files.items() if not is_part(file)}
    if status == 0 and bench.received is False and whole != reference.files:
        return "the receiver ended well without what was sent"
    if parts and status >= 0:
        return f"{parts} was left"
    for file, digest in whole.items():
        if file == STDOUT and status != 0:
            continue  # what a shell opened, and the command began to fill
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


# What a second run may say where the first one had done it, or where the workspace was no more than begun.
DONE = ("already", "is there", "not empty", "no cohort", "there is no ", "conflicts with nothing", "holds",
        "is a round, an answer or a result")


def run_one(tried, kind, at):
    """Status, what it said, and what is wrong or None."""
    bench, before, reference, folder = tried.bench, tried.before, tried.reference, tried.copy.folder
    status, said = tried.run(kind, at)
    killed = kind in ("kill", "after")
    if killed and status not in (0, -signal.SIGKILL):
        return status, said, f"status {status}: {said.strip()}"
    if not killed and status not in (0, 1):
        return status, said, f"status {status}: {said.strip()}"
    if status == 1 and not said.startswith("demur: "):
        return status, said, f"failed without a word: {said!r}"
    left = Outcome(folder, tried.copy)
    wrong = check(bench, tried.name, status, left, before, reference)
    if wrong:
        return status, said, f"{wrong}; it said {said.strip()!r}"
    if status != 0:  # again, without a fault
        state = tried.state()
        if state not in tried.again:
            tried.again[state] = run_again(tried, left)
        if tried.again[state]:
            return status, said, f"run again: {tried.again[state]}"
    return status, said, None


def run_again(tried, left):
    with tried.again_in() as folder:
        again = tried.run_again_in(folder)
        if again.returncode != 0:
            return None if any(words in again.stderr for words in DONE) else repr(again.stderr.strip())
        after = Outcome(folder, tried.copy)
    if any(is_part(file) for file in after.files):
        return "a part stayed"
    # A demo behind a killed one puts its studies beside those of that one, and removes these.
    after.files = {re.sub(r"\bdicom-\d+\b", "dicom", file): digest for file, digest in after.files.items()}
    return check(tried.bench, tried.name, 0, after, tried.before, tried.reference) if left.rows == tried.before.rows else None


def count_calls(bench, inject, words):
    """What each call can meet, where it is made, and what the run leaves."""
    folder = bench.copy()
    count = os.path.join(bench.folder, "count")
    result = bench.run(folder, words, LD_PRELOAD=os.path.abspath(inject), FAULT_ROOT=folder, FAULT_COUNT=count, **output_of(words))
    assert result.returncode == 0, (words, result.stderr)
    calls = counted(count)
    return [traits for traits, _ in calls], [place for _, place in calls], Outcome(folder)


def every_command_is_in_a_table(bench):
    """And what is said to read changes nothing."""
    writing = {name_of(name) for name in [*commands_of(bench), *DEMO] if not re.search("^window | > file$| (kept|keep)$", name)}
    reading = reading_of(bench)
    read = {name_of(name) for name in reading}
    there = {name for name, _ in bench.commands_of_help()} - ELSEWHERE
    assert there == writing | read, f"not in one table: {sorted(there ^ (writing | read))}"
    assert not writing & read
    for name, words in reading.items():
        folder = bench.copy()
        before = Outcome(folder)
        result = bench.run(folder, words)
        assert result.returncode in (0, 1), (words, result.stderr)
        after = Outcome(folder)
        written = {file for file in set(after.files) ^ set(before.files) if file not in words}  # but the file it is told to write
        assert not written, f"{name} writes {sorted(written)}"
        for file, found in before.files.items():
            assert after.files.get(file) == found, f"{name} changes {file}"
        assert not differs(after.rows, before.rows), f"{name} changes {differs(after.rows, before.rows)}"


def all_at_once(tried, points, n_jobs):
    with multiprocessing.Pool(n_jobs, begin_worker, [tried]) as pool:
        yield from pool.imap_unordered(try_point, points, 4)
        pool.close()
        pool.join()


def ways(results, places):
    """The kinds of fault that ended in several ways at one place, and how; results as fault() gives them."""
    endings = {}
    for kind, at, status, said, _ in results:
        if at == EVERYWHERE:
            continue
        endings.setdefault((kind, places[at - 1]), {}).setdefault((status, said), at)
    return [(kind, found) for (kind, _), found in endings.items() if len(found) > 1]


def kinds_of(place, n_kinds):
    """The kinds that the command at that place of the table meets: n_kinds of them, in turn; 0: all."""
    order = list(KINDS)
    return [order[(place + i) % len(order)] for i in range(n_kinds or len(order))]


def try_all(tried, n_points, n_jobs, alike, kinds):
    """Each kind of fault at the calls that can meet it: number of runs, of those that were wrong, processor seconds, and whether calls
    that differ are seen to differ."""
    total, began = len(tried.calls), os.times()
    alike = alike or tried.name in DEMO
    points = list(tried.points(n_points, alike, kinds))
    if isinstance(tried, Staged):
        tried.begin()
        found = tried.all(points)
    else:
        found = all_at_once(tried, points, n_jobs)
    n_wrong, ended, results = 0, {kind: [] for kind in KINDS}, []
    for result in found:
        kind, at, status, _, wrong = result
        results.append(result)
        ended[kind].append(status)
        if wrong:
            n_wrong += 1
            print(f"{tried.name}: {kind} at call {at} of {total}: {wrong}", flush=True)
    n_wrong += tell_what_never_failed(tried, {kind: ended[kind] for kind in kinds})
    for kind, endings in ways(results, tried.places):
        n_wrong += 1
        print(f"{tried.name}: {kind} ends in {len(endings)} ways at one place: {endings}", flush=True)
    seconds = sum(os.times()[2:4]) - sum(began[2:4])
    print(f"{tried.name}: {total} calls, {len(set(tried.places))} places, {len(points)} faults{' by the rule' if alike else ''}, "
          f"{n_wrong} wrong, {seconds:.0f} s", flush=True)
    return total, len(points), n_wrong, seconds, bool(ways(results, [0] * total))


def tell_what_never_failed(tried, ended):
    n = 0
    for kind in ("full", "io", "kill", "after"):
        if kind in ended and not any(ended[kind]):
            n += 1
            print(f"{tried.name}: no run met {kind}: the injector does nothing", flush=True)
    return n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demur")
    parser.add_argument("phantom")
    parser.add_argument("inject")
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--kinds", type=int, default=0)
    parser.add_argument("--demo", action="store_true", help="the demo too (it takes half a minute, several times)")
    parser.add_argument("--alike", action="store_true", help="every command by the rule of alike calls")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder")
    parser.add_argument("--only", action="append")
    parser.add_argument("--table")
    options = parser.parse_args()
    place = options.folder if options.folder and os.access(options.folder, os.W_OK) else None
    tempfile.tempdir = place
    with tempfile.TemporaryDirectory(prefix="demur-faults-") as folder:
        bench = Bench(options.demur, options.phantom, folder)
        before = Outcome(bench.template)
        table = []
        if not options.only:
            every_command_is_in_a_table(bench)
        commands = {**commands_of(bench), **DEMO}
        for place, name in enumerate(options.only or (name for name in commands if options.demo or name not in DEMO)):
            tried = (Staged if name in STAGED else Tried)(bench, options.inject, name, commands[name], before)
            # The receiver waits for its peer, not for the processor.
            jobs = options.jobs * 4 if name == "dicom receive" else options.jobs
            table.append((name, *try_all(tried, options.points, jobs, options.alike, kinds_of(place, options.kinds))))
        if options.table:
            with open(options.table, "w", encoding="utf-8") as file:
                file.write("| command | calls | faults | wrong | processor seconds |\n|---|--:|--:|--:|--:|\n")
                file.writelines(f"| {name} | {calls} | {faults} | {wrong} | {seconds:.0f} |\n" for name, calls, faults, wrong, seconds, _ in table)
        assert any(differ for *_, differ in table), "all calls taken for one place end alike: the rule would never be broken"
        n_wrong = sum(row[3] for row in table)
        print(f"{sum(row[2] for row in table)} runs with a fault, {n_wrong} wrong")
        sys.exit(1 if n_wrong else 0)


main()
