"""Every command that writes, and the power fails: at each of its calls, with what was not synced lost.

One run of the command is recorded (inject.c, FAULT_LOG) and replayed as two disks would have it:
  eager  names arrive at once, contents when they are synced (a file renamed before its sync is empty);
  lazy   nothing arrives before its sync: a content by its file's, a name by its folder's, a folder by the one above it;
and once more as a kill leaves it, with everything that was written (killed). Behind each call what it touched is looked at, for
nothing else can have changed; all of it once in 500 calls.
Right is, behind every call: each final name holds the old file or the whole new one, and the workspace opens sound; and
behind the last one, with exit status 0, all that the run has written is there, on the lazy disk too.

Usage: powerloss.py DEMUR PHANTOM INJECT [--only COMMAND ..] [--demo] | --self-test: a recording from which the syncs of files, or of
folders, are taken out must be found wrong.
"""
import argparse
import functools
import hashlib
import os
import re
import sys
import tempfile

from workbench import DEMO, Bench, commands_of, files_of, is_part, output_of, rows_of

EAGER, LAZY, KILLED = DISKS = "eager", "lazy", "killed"


class File:
    def __init__(self, content=b"", is_folder=False):
        self.now, self.synced, self.is_folder = bytearray(content), bytes(content), is_folder
        self.version = self.n_written = 0  # of what is synced, and of what is written
        self.digests = {}

    def content(self, disk):
        return self.now if disk == KILLED else self.synced

    def digest(self, disk):
        key = (disk == KILLED, self.n_written if disk == KILLED else self.version)
        if key not in self.digests:
            self.digests = {other: digest for other, digest in self.digests.items() if other[0] != key[0]}
            self.digests[key] = hashlib.sha256(self.content(disk)).hexdigest()
        return self.digests[key]


folder_of = functools.lru_cache(None)(os.path.dirname)


class Disk:
    """The folder as the program sees it, and as a loss of power would leave it."""

    def __init__(self, root):
        self.root, self.names, self.kept, self.inodes = root, {}, {}, {}
        for path, folders, names in os.walk(root):
            for name in folders:
                self.names[os.path.join(path, name)] = File(is_folder=True)
            for name in names:
                full = os.path.join(path, name)
                with open(full, "rb") as file:
                    self.names[full] = self.inodes[os.stat(full).st_ino] = File(file.read())
        self.kept = dict(self.names)

    def apply(self, letter, numbers, one, other):
        """The names whose file, or content, may be another now."""
        if letter == "O":
            if one not in self.names:
                self.names[one] = self.inodes[numbers[0]] = File()
            else:
                self.inodes[numbers[0]] = self.names[one]
            return [one]
        if letter in "WTS":
            file = self.inodes[numbers[0]]
            if letter == "S":
                file.synced, file.version = bytes(file.now), file.version + 1
            elif letter == "T":
                file.now = file.now[:numbers[1]] + bytes(max(0, numbers[1] - len(file.now)))
            else:
                at = numbers[1]
                if at > len(file.now):
                    file.now += bytes(at - len(file.now))
                file.now[at:at + len(one)] = one
            file.n_written += letter != "S"
            return [path for names in (self.names, self.kept) for path in names if names[path] is file]
        if letter == "D":
            touched = []
            for path in [path for names in (self.names, self.kept) for path in names if folder_of(path) == one]:
                if self.kept.get(path) is self.names.get(path):
                    continue
                touched.append(path)
                if path in self.names:
                    self.kept[path] = self.names[path]
                else:
                    del self.kept[path]
            below = tuple(path + os.sep for path in touched if path in self.kept and self.kept[path].is_folder)
            return touched + [path for path in self.kept if path.startswith(below)] if below else touched
        if letter == "R":
            self.names[other] = self.names.pop(one)
        elif letter == "L":
            self.names[other] = self.names[one]
        elif letter == "U":
            self.names.pop(one, None)
        elif letter == "M":
            self.names[one] = File(is_folder=True)
        return [one, other] if other else [one]

    def at(self, path, names):
        """The file of that path, where a loss of power leaves it; else None."""
        file, folder = names.get(path), folder_of(path)
        while folder != self.root and folder in names:
            folder = folder_of(folder)
        return file if file and folder == self.root and not file.is_folder else None

    def left(self, disk, paths=None):
        """{relative path: file} that a loss of power leaves; of these paths alone."""
        names = self.kept if disk == LAZY else self.names
        found = ((path, self.at(path, names)) for path in (names if paths is None else paths))
        return {os.path.relpath(path, self.root): file for path, file in found if file}


def records_of(log):
    with open(log, "rb") as file:
        text = file.read()
    at = 0
    while at < len(text):
        end = text.index(b"\n", at)
        letter, *numbers = text[at:end].decode().split()
        numbers = [int(number) for number in numbers]
        at = end + 1
        lengths = {"O": numbers[1:2], "W": numbers[2:3], "R": numbers, "L": numbers, "U": numbers, "M": numbers, "D": numbers, "N": numbers}
        parts = []
        for n in lengths.get(letter, []):
            parts.append(text[at:at + n])
            at += n
        if letter not in "WN":
            parts = [part.decode() for part in parts]
        yield letter, numbers, *(parts + [None, None])[:2]


class Replay:
    def __init__(self, bench, folder, before, reference):
        self.bench, self.disk, self.before, self.reference = bench, Disk(folder), before, reference
        self.sound = {}  # what workspaces hold, by their digests

    def is_workspace(self, path):
        return re.search(r"\.demur(-wal)?$", path) and not is_part(os.path.relpath(path, self.disk.root))

    def rows(self, disk):
        """What the workspaces would hold: read once for each content."""
        there = self.disk.left(disk, [path for path in self.disk.names.keys() | self.disk.kept.keys() if self.is_workspace(path)])
        parts = sorted(there)
        key = tuple((name, there[name].digest(disk)) for name in parts)
        if key not in self.sound:
            with tempfile.TemporaryDirectory(dir=self.bench.folder) as folder:
                for name in parts:
                    with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                        file.write(there[name].content(disk))
                self.sound[key] = rows_of(folder)
        return self.sound[key]

    def wrong(self, disk, paths, written):
        """What is wrong with these of a disk (None: all); written: they were, and not synced."""
        there = self.disk.left(disk, paths)
        for name, file in there.items():
            if os.path.basename(name).startswith("etilqs_"):
                continue  # SQLite's own, in the temporary folder: unlinked as soon as it is open
            if is_part(name) or name not in self.before and name not in self.reference and (".demur" in name or ".journal" in name):
                continue  # a workspace's own files, and parts
            if file.digest(disk) not in (self.before.get(name), self.reference.get(name)):
                return f"{name} is neither the old nor the new one"
        for name in self.before if paths is None else [os.path.relpath(path, self.disk.root) for path in paths]:
            if name in self.before and name not in there:
                return f"{name} is gone"
        # In between two syncs it is a kill's doing, which SQLite's journal is for: tried in faults.py, at every call.
        if paths is None or not written and any(self.is_workspace(path) for path in paths):
            if self.rows(disk) is None:
                return "the workspace is damaged"
        return None

    def missing(self, rows):
        there = self.disk.left(LAZY)
        for name, digest in self.reference.items():
            if name not in there or there[name].digest(LAZY) != digest:
                return f"{name} is not on the disk"
        found = self.rows(LAZY)
        changed = [table for table in rows if found is None or found.get(table) != rows[table]]
        return f"{changed} of the workspace are not on the disk" if changed else None


def try_one(bench, inject, words, without=""):
    folder = bench.copy()
    log = os.path.join(bench.folder, "log")
    if os.path.exists(log):
        os.unlink(log)
    before = files_of(folder)
    disk_before = Disk(folder)
    result = bench.run(folder, words, LD_PRELOAD=os.path.abspath(inject), FAULT_ROOT=folder, FAULT_LOG=log, **output_of(words))
    if result.returncode != 0:
        return 1, f"failed: {result.stderr}"
    replay = Replay(bench, folder, before, files_of(folder))
    replay.disk = disk_before
    rows = rows_of(folder)
    n = 0
    for record in records_of(log):
        if record[0] in without or record[0] == "N":
            continue
        touched = replay.disk.apply(*record)
        n += 1
        for disk in DISKS:
            wrong = replay.wrong(disk, None if n % 500 == 0 else touched, record[0] in "WT")
            if wrong:
                return n, f"behind call {n} ({record[0]} {record[2] if record[0] != 'W' else ''}), {disk}: {wrong}"
    for path, file in replay.disk.names.items():  # else the recording is not what happened
        if not file.is_folder and not path.endswith("-shm"):
            name = os.path.relpath(path, folder)
            if name in replay.reference:
                assert hashlib.sha256(file.now).hexdigest() == replay.reference[name], f"{name}: not as recorded"
    return n, replay.missing(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demur")
    parser.add_argument("phantom")
    parser.add_argument("inject")
    parser.add_argument("--only", action="append")
    parser.add_argument("--demo", action="store_true", help="the demo too (a minute)")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demur-power-") as folder:
        bench = Bench(options.demur, options.phantom, os.path.realpath(folder))
        faults = n_calls = 0
        if options.self_test:
            words = commands_of(bench)["cohort export"]
            assert try_one(bench, options.inject, words)[1] is None
            for without, told in (("S", "neither the old nor the new"), ("D", "not on the disk")):
                wrong = try_one(bench, options.inject, words, without)[1]
                assert wrong and told in wrong, (without, wrong)
            print("found")
            return
        for name, words in {**commands_of(bench), **DEMO}.items():
            if options.only and name not in options.only or name in DEMO and not (options.demo or options.only):
                continue
            if "> file" in name:
                continue  # a shell's file: nobody promised to sync it
            n, wrong = try_one(bench, options.inject, words)
            assert n > 0, f"{name} writes nothing: nothing was recorded"
            n_calls += n
            if wrong:
                faults += 1
                print(f"{name}: {wrong}", flush=True)
            else:
                print(f"{name}: {n} calls", flush=True)
        print(f"the power failed behind {n_calls} calls, on two disks, and the command was killed there: {faults} commands wrong")
        sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
