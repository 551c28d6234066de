"""Every fault (inject.c) at the n-th call that writes, for a running `demur serve`, for each n and kind (or --points of each).

Right: every object that the peer was told is kept is there, whole, after a kill and a start without fault; one that was
not kept was told so (A700), or the association broke off; a study all of which was acknowledged is on its way, held or
answered; a service that ends says why; the workspace is sound.

With --power the power fails instead, behind each call of one run (powerloss.py says on which disks): the service is started on
what each has left, and must have what it had acknowledged by then.

Usage: serve.py DEMUR PHANTOM INJECT [--points N] [--kind KIND ..] [--power] [--jobs N] [--folder F]
"""
import argparse
import copy
import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from powerloss import EAGER, LAZY, Disk, records_of
from workbench import KINDS, PATIENCE, Bench, counted, points_of, spread

PORTS = iter(range(20000 + os.getpid() % 1000, 32000))  # below those that the system gives out: several run side by side


def free_port():
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    raise AssertionError("no port is free")


class Run:
    """One service on a copy of the workspace."""

    def __init__(self, bench, inject, folder):
        self.bench, self.inject, self.folder, self.port = bench, inject, folder, free_port()
        self.log = os.path.join(os.path.dirname(folder), "log")
        shutil.copytree(bench.template, folder)
        self.received = os.path.join(folder, "received")
        self.settings = os.path.join(folder, "serve.conf")
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write(f"[receive]\nfolder = {self.received}\nport = {self.port}\nsettle = 0\nreserve = 0\ntimeout = 30\n"
                       f"[model]\nname = {bench.model}\ncommand = sh {bench.folder}/one.sh {{series}} {{output}}\npause = 1\n"
                       f"[assess]\nselector = s\n[answer nobody]\nto = 127.0.0.1:1\n"
                       "verdicts = accepted red_flag not_eligible failed\nobjects = sr picture\n")
        self.process = None

    def demur(self, *words):
        return subprocess.run([self.bench.demur, "--workspace", "w.demur", "--quiet", *words], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def start(self, **faults):
        """Whether it listens; False where it ended."""
        environment = {**os.environ, **faults}
        if faults:
            environment |= {"LD_PRELOAD": self.inject, "FAULT_ROOT": self.folder}
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([self.bench.demur, "--workspace", "w.demur", "serve", self.settings],
                                            cwd=self.folder, env=environment, stdout=log, stderr=log)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self.process.poll() is not None:
                return False
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return True
            time.sleep(0.02)
        raise AssertionError("the service never listened")

    def end(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(timeout=PATIENCE)

    def send(self, uids):
        """UIDs of the objects that the service says it keeps; None: who knows, the association broke off."""
        sent = self.demur("--json", "dicom", "send", f"127.0.0.1:{self.port}", os.path.join(self.folder, "few"), "--called",
                          "DEMUR", "--timeout", "30")
        if sent.returncode != 0:
            return None
        document = json.loads(sent.stdout)
        told = {problem.split(":")[0] for problem in document["problems"]}
        for problem in document["problems"]:
            assert "0xA700" in problem, f"the peer was told {problem}"
        assert document["n_sent"] == len(uids) - len(told)
        return uids - told

    def kept(self):
        names = set()
        for _, folders, files in os.walk(self.received):
            folders[:] = [name for name in folders if not name.startswith(".")]  # the answers
            names |= {name[:-4] for name in files if name.endswith(".dcm")}
        return names

    def status(self):
        return json.loads(self.demur("--json", "serve", "--status", self.settings).stdout)

    def settle(self):
        """Until nothing moves but answers that nobody takes."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            status = self.status()
            if status["n_arriving"] == status["n_broken"] and status["n_queue"] == status["n_answer"]:
                return status
            time.sleep(0.1)
        raise AssertionError(f"it never settled: {json.dumps(status)}")


def uids_of(bench):
    """SOPInstanceUIDs of the objects to be sent: as a service without faults names their files."""
    run = Run(bench, "", os.path.join(bench.folder, "first", "run"))
    assert run.start(), open(run.log, encoding="utf-8").read()
    subprocess.run([bench.demur, "--quiet", "dicom", "send", f"127.0.0.1:{run.port}", os.path.join(run.folder, "few"), "--called",
                    "DEMUR"], check=True, stdout=subprocess.DEVNULL)
    run.settle()
    run.end(signal.SIGTERM)
    uids = run.kept()
    assert len(uids) == 3
    return uids


def calls_of(bench, inject, uids):
    run = Run(bench, inject, os.path.join(bench.folder, "count", "run"))
    count = os.path.join(bench.folder, "calls")
    assert run.start(FAULT_COUNT=count), open(run.log, encoding="utf-8").read()
    assert run.send(uids) == uids
    run.settle()
    run.end(signal.SIGTERM)
    return [traits for traits, _ in counted(count)]


def try_one(bench, inject, uids, kind, at):
    """UIDs that were acknowledged; None where the association broke off."""
    top = os.path.join(bench.folder, f"{kind}-{at}")
    os.makedirs(top)
    run = Run(bench, inject, os.path.join(top, "run"))
    acknowledged = set()
    if run.start(FAULT_AT=str(at), FAULT_KIND=kind):
        acknowledged = run.send(uids)
        time.sleep(1)  # it may go on for a while
    elif kind not in ("kill", "after"):
        with open(run.log, encoding="utf-8") as log:
            assert log.read().strip(), "it ended without a word"
    run.end(signal.SIGKILL)
    assert run.start(), "without the fault it does not start: " + open(run.log, encoding="utf-8").read()
    status = run.settle()
    kept = run.kept()
    if acknowledged:
        assert acknowledged <= kept, f"acknowledged and lost: {acknowledged - kept}"
        known = status["n_queue"] + status["n_held"] + status["n_answered"] + status["n_arriving"]
        assert known == 1, f"its study is not known: {json.dumps(status)}"
    run.end(signal.SIGTERM)
    sound = run.demur("verify")
    assert sound.returncode == 0, sound.stderr + sound.stdout
    shutil.rmtree(top)
    return acknowledged


def told_to_be_kept(said, uids):
    """UIDs that a peer was told are kept: their C-STORE responses of status 0 among these bytes."""
    return {uid for uid in uids if uid.encode() in said and b"\0\0\0\x09\x02\0\0\0\0\0" in said}


def lay_down(disk, kind):
    """The folder as a loss of power leaves it."""
    shutil.rmtree(disk.root)
    os.mkdir(disk.root)
    names = disk.kept if kind == LAZY else disk.names
    for path in sorted(names):
        if names[path].is_folder and os.path.isdir(os.path.dirname(path)):
            os.mkdir(path, 0o700)
    for name, file in disk.left(kind).items():
        with open(os.open(os.path.join(disk.root, name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
            out.write(file.content(kind))


def start_on_what_is_left(run, told):
    """Nothing that was told to be kept is lost, and its study is known."""
    assert run.start(), "it does not start: " + open(run.log, encoding="utf-8").read()
    status = run.settle()
    assert told <= run.kept(), f"acknowledged and lost: {told - run.kept()}"
    known = status["n_queue"] + status["n_held"] + status["n_answered"] + status["n_arriving"]
    assert known == 1 or not told, f"its study is not known: {json.dumps(status)}"
    run.end(signal.SIGTERM)
    sound = run.demur("verify")
    assert sound.returncode == 0, sound.stderr + sound.stdout


def lose_power(work):
    """Numbers of calls, of disks that the service was started on, and what is wrong; of each n disks the one of this number."""
    (bench, inject, uids), number, n, n_points = work
    begin_worker(bench, inject, uids)
    top = os.path.join(bench.folder, f"power-{number}")
    os.makedirs(top)
    run, log = Run(bench, inject, os.path.join(top, "run")), os.path.join(top, "calls")
    disk = Disk(run.folder)
    assert run.start(FAULT_LOG=log), open(run.log, encoding="utf-8").read()
    assert run.send(uids) == uids
    run.settle()
    run.end(signal.SIGTERM)
    states, told, n_calls = {}, frozenset(), 0
    for record in records_of(log):
        if record[0] == "N":
            told |= told_to_be_kept(record[2], uids)
        else:
            n_calls += 1
            disk.apply(*record)
        if record[0] not in "WT":
            for kind in (EAGER, LAZY):
                left = {name: (file.digest(kind), file) for name, file in disk.left(kind).items()}
                key = told, kind == LAZY and frozenset(disk.kept), frozenset((name, digest) for name, (digest, _) in left.items())
                if key not in states:
                    states[key] = n_calls, kind, told, snapshot_of(disk, kind)
    assert told == uids, f"the peer was told of {told} alone"
    chosen = list(states.values())[number::n]
    wrong = []
    for n_calls_then, kind, told, kept in spread(chosen, n_points):
        try:
            lay_down(kept, kind)
            start_on_what_is_left(run, told)
        except Exception as fault:  # told with its place
            wrong.append(f"behind call {n_calls_then} of {n_calls}, {kind}: {type(fault).__name__}: {fault}")
        finally:
            run.end(signal.SIGKILL)
    return n_calls, len(spread(chosen, n_points)), wrong


def snapshot_of(disk, kind):
    """The disk as it is by now: names, and contents of that kind."""
    kept = copy.copy(disk)
    files = {}
    for names in ("names", "kept"):
        setattr(kept, names, {path: files.setdefault(id(file), frozen(file, kind)) for path, file in getattr(disk, names).items()})
    return kept


def frozen(file, kind):
    other = copy.copy(file)
    other.synced = bytes(file.content(kind))
    return other


here = None  # what a worker inherits: bench, injector, UIDs


def begin_worker(*inherited):
    global here, PORTS
    here = inherited
    first = 20000 + os.getpid() % 400 * 30
    PORTS = iter([*range(first, 32000), *range(20000, first)])


def try_point(point):
    """What was acknowledged, and what is wrong or None."""
    try:
        return point, try_one(*here, *point), None
    except Exception as fault:  # told with its place
        return point, None, f"{type(fault).__name__}: {fault}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demur")
    parser.add_argument("phantom")
    parser.add_argument("inject")
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--folder")
    options = parser.parse_args()
    tempfile.tempdir = options.folder if options.folder and os.access(options.folder, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="demur-serve-") as folder:
        bench = Bench(options.demur, options.phantom, folder)
        for name in ("first", "count"):
            os.makedirs(os.path.join(folder, name))
        inject = os.path.abspath(options.inject)
        uids = uids_of(bench)
        if options.power:
            with multiprocessing.Pool(options.jobs) as pool:
                found = pool.map(lose_power, [((bench, inject, uids), number, options.jobs, options.points) for number in range(options.jobs)])
            for _, _, wrong in found:
                print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
            n_wrong = sum(len(wrong) for _, _, wrong in found)
            print(f"the power failed behind {found[0][0]} calls: started on {sum(n for _, n, _ in found)} disks, {n_wrong} wrong; "
                  f"{sum(os.times()[:4]):.0f} s of processor")
            sys.exit(1 if n_wrong else 0)
        calls = calls_of(bench, inject, uids)
        points = [(kind, at) for kind in options.kind or KINDS for at in points_of(kind, calls, options.points)]
        whole = some = broke = wrong = 0
        with multiprocessing.Pool(options.jobs, begin_worker, (bench, inject, uids)) as pool:
            for (kind, at), acknowledged, fault in pool.imap_unordered(try_point, points):
                if fault:
                    wrong += 1
                    print(f"{kind} at call {at} of {len(calls)}: {fault}", flush=True)
                    continue
                broke += acknowledged is None
                whole += acknowledged == uids
                some += acknowledged is not None and acknowledged != uids
        print(f"{len(calls)} calls, {len(points)} faults, {wrong} wrong: all acknowledged {whole} times, some or none {some} times, "
              f"association broken off {broke} times; {sum(os.times()[:4]):.0f} s of processor")
        sys.exit(1 if wrong else 0)


main()
