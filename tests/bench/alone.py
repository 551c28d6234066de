#!/usr/bin/env python3
"""How long one thread of a command works alone, and in which functions.

    alone.py [--least PERCENT] [--depth N] [--stretches | --no-chains] COMMAND ..

Every 5 ms it looks which threads of the command can run (state R in /proc/PID/task/*/stat) and how long each has run
(schedstat). What ran while one thread alone could is S seconds of processor, all else P: on a machine with a processor
for each of n threads that would be S + P / n by the clock, and S is printed in percent of it. Beside it stands what the
clock said. Before all other programs (chrt -f 50) both are about the same; on a busy machine both are less than they
should be, since a thread that waits for a processor can run.

Where perf may record, the call chains of threads that ran alone follow as a tree, in the same percent; with --stretches
one after the other, from when on and for how long, and the functions that most of their samples have in common.
"""
import argparse
import bisect
import collections
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PERIOD = 0.005  # seconds
SHORTEST = 0.02  # seconds, of a stretch that is printed
SAMPLES_A_SECOND = 199
SAMPLE = re.compile(r"\s*(\d+)\s+(\d+\.\d+):")
FRAME = re.compile(r"\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)?$")
STOPPED = ["sh", "-c", 'kill -STOP $$ && exec "$@"', "sh"]


def watch_from_above(pid):
    """A command of real-time priority would leave those that watch it no processor."""
    if os.sched_getscheduler(0) == os.SCHED_FIFO:
        priority = os.sched_getparam(0).sched_priority + 1
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(priority))


def state_of(path):
    try:
        with open(path + "/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1]
    except OSError:
        return b""


def run_time(path):
    try:
        with open(path + "/schedstat", "rb") as file:
            return int(file.read().split()[0]) * 1e-9
    except (OSError, IndexError):
        return 0.0


def look(pid):
    """Threads that can run, and how long all have run; None at the command's end."""
    try:
        names = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    if len(names) == 1 and state_of(f"/proc/{pid}") in (b"Z", b""):
        return None
    paths = {int(name): f"/proc/{pid}/task/{name}" for name in names}
    return [thread for thread, path in paths.items() if state_of(path) == b"R"], sum(map(run_time, paths.values()))


def record(command, folder, chains):
    """Runs it. Times of the looks, what each found, and whether perf recorded."""
    child = subprocess.Popen(STOPPED + command, stdout=subprocess.DEVNULL)
    while state_of(f"/proc/{child.pid}") != b"T":
        time.sleep(PERIOD)
    perf = None
    if chains and shutil.which("perf"):
        perf = subprocess.Popen(["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND),
                                 "--call-graph", "dwarf,16384", "-m", "1024", "-o", folder + "/perf", "-p", str(child.pid)],
                                stderr=subprocess.DEVNULL)
        watch_from_above(perf.pid)
        time.sleep(1.0)  # until it has attached itself
    watch_from_above(0)
    times, found = [], []
    os.kill(child.pid, signal.SIGCONT)
    while True:
        times.append(time.monotonic())
        seen = look(child.pid)
        if seen is None:
            break
        found.append(seen)
        time.sleep(PERIOD)
    if child.wait() != 0:
        sys.exit(f"{command[0]} ended with {child.returncode}")
    return times, found, perf is not None and perf.wait() == 0


def chains(folder):
    """Of each sample: thread, time, functions from the outermost."""
    script = subprocess.Popen(["perf", "script", "-i", folder + "/perf", "--no-inline", "-F", "tid,time,ip,sym"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    thread, at, frames = None, 0.0, []
    for line in script.stdout:
        sample, frame = SAMPLE.match(line), FRAME.match(line)
        if sample:
            thread, at, frames = int(sample[1]), float(sample[2]), []
        elif frame:
            frames.append(frame[1])
        elif thread is not None and frames:
            yield thread, at, frames[::-1]
            thread = None
    script.wait()


def print_tree(counts, scale, least, depth, prefix=(), indent=0):
    below = collections.Counter()
    for chain, n in counts.items():
        if len(chain) > len(prefix) and chain[: len(prefix)] == prefix:
            below[chain[len(prefix)]] += n
    for name, n in below.most_common():
        if n * scale < least:
            break
        print(f"{n * scale:6.1f} %  {'  ' * indent}{name}")
        if indent < depth:
            print_tree(counts, scale, least, depth, prefix + (name,), indent + 1)


def print_stretches(times, found, samples):
    """samples: places among the looks, and chains."""
    by_place = collections.defaultdict(list)
    for place, chain in samples:
        by_place[place].append(chain)
    alone = [len(threads) == 1 for threads, _ in found]
    first = 0
    while first < len(found):
        if not alone[first]:
            first += 1
            continue
        end = first
        while end < len(found) and any(alone[end : end + 3]):  # a short look at another thread ends no stretch
            end += 1
        length = times[min(end, len(times) - 1)] - times[first]
        chains_here = [chain for place in range(first, end) for chain in by_place[place]]
        if length >= SHORTEST:
            common = []
            while chains_here:
                names = collections.Counter(chain[len(common)] for chain in chains_here if len(chain) > len(common))
                if not names or names.most_common(1)[0][1] < 0.6 * len(chains_here):
                    break
                common.append(names.most_common(1)[0][0])
                chains_here = [chain for chain in chains_here if chain[: len(common)] == common]
            print(f"{times[first] - times[0]:8.2f} s  {1000 * length:5.0f} ms  {' < '.join(common[::-1][:6])}")
        first = end + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--least", type=float, default=0.5, help="percent of the clock that a function is printed from")
    parser.add_argument("--depth", type=int, default=12, help="of the tree")
    parser.add_argument("--stretches", action="store_true", help="one after the other")
    parser.add_argument("--no-chains", action="store_true", help="without perf")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp()
    try:
        times, found, recorded = record(arguments.command, folder, not arguments.no_chains)
        ran = [max(after[1] - before[1], 0.0) for before, after in zip(found, found[1:])] + [0.0]
        single = [len(threads) == 1 for threads, _ in found]
        work = sum(ran)
        lone = sum(itertools.compress(ran, single))
        n_threads = min(max(len(threads) for threads, _ in found), os.cpu_count() or 1)
        clock = lone + (work - lone) / max(n_threads, 1)
        seconds = times[-1] - times[0]
        print(f"one thread alone {lone:.2f} s of {clock:.2f} s: {100 * lone / clock:.1f} % "
              f"({work:.2f} s of processor, {n_threads} at a time)")
        print(f"by the clock {seconds:.2f} s, one thread alone {100 * sum(single) / len(found):.1f} %, "
              f"nobody {100 * sum(not threads for threads, _ in found) / len(found):.1f} %; load {os.getloadavg()[0]:.1f}")
        if arguments.no_chains:
            return
        if not recorded:
            print("perf can't record here: no call chains")
            return
        samples = []
        for thread, at, chain in chains(folder):
            place = bisect.bisect(times, at) - 1
            if 0 <= place < len(found) and found[place][0] == [thread]:
                while chain and (chain[0] == "main" or "start" in chain[0] or "unknown" in chain[0]):
                    chain = chain[1:]
                samples.append((place, chain))
        if arguments.stretches:
            print_stretches(times, found, samples)
        elif samples:
            counts = collections.Counter(tuple(chain) for _, chain in samples)
            print_tree(counts, 100 * lone / clock / len(samples), arguments.least, arguments.depth)
    finally:
        shutil.rmtree(folder)


main()
