#!/usr/bin/python3
"""What a start costs: `demur --version`, `assess` of one scan that is accepted and of one that is held back, by a selector of networks of
a simulated cohort and of each table, and the window until its first frame. Processor time of the whole process, user and system;
each assessment on a fresh copy of its workspace, and all of them in turn. Least, middle and most of RUNS.

  start.py [--short] [--runs N] BUILD_FOLDER [TABLE.csv..]

For times that mean something: before everything else on the machine (chrt -f 50), since what else runs shares caches and cores.
With --short little is trained and run: it shows that it still runs."""
import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

MODEL = "m"


def run(demur, workspace, *arguments):
    done = subprocess.run([demur, "--quiet", "--workspace", workspace, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("demur %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


class Timed:
    """Runs of one command."""

    def __init__(self, label, asked, arguments, workspace=None):
        self.label, self.asked, self.arguments, self.workspace = label, asked, arguments, workspace
        self.processor, self.clock, self.faults = [], [], 0

    def once(self, demur, folder):
        arguments = [demur, *self.arguments]
        if self.workspace is not None:
            copy = os.path.join(folder, "copy.demur")
            shutil.copy(self.workspace, copy)
            arguments += ["--quiet", "--threads", "1", "--workspace", copy]
        nowhere = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
        begin = time.monotonic()
        process = os.posix_spawn(demur, arguments, os.environ, file_actions=nowhere)
        _, status, used = os.wait4(process, 0)
        self.clock.append(1000 * (time.monotonic() - begin))
        if status != 0:
            sys.exit("%s: it ended with %d" % (" ".join(arguments), os.waitstatus_to_exitcode(status)))
        self.processor.append(1000 * (used.ru_utime + used.ru_stime))
        self.faults = used.ru_minflt

    def tell(self):
        times, n = sorted(self.processor), len(self.processor)
        print(
            "%-44s processor least %5.1f, middle %5.1f, most %5.1f ms (asked: %d); clock middle %5.1f; %d page faults"
            % (self.label, times[0], times[n // 2], times[-1], self.asked, sorted(self.clock)[n // 2], self.faults)
        )


def verdicts_of(demur, workspace, cohort):
    told = json.loads(run(demur, workspace, "assess", "s", "--cohort", cohort, "--json"))
    return {v["scan_id"]: v["verdict"] for v in told["verdicts"]}


def one_of_each(demur, folder, name, short, table):
    """The workspace, in which the cohorts "accepted" and "held-back" have one scan each, whose verdicts are those."""
    workspace = os.path.join(folder, name + ".demur")
    exported = os.path.join(folder, name + ".csv")
    if table is None:
        small = ["--scans", "600", "--base-train", "400", "--tune", "300", "--test", "300"] if short else []
        run(demur, workspace, "cohort", "simulate", "drawn", *small)
        run(demur, workspace, "cohort", "export", "drawn", exported)
        table = exported
    run(demur, workspace, "cohort", "import", "c", table, "--model", MODEL)
    little = ["--epochs", "1", "--datasets-per-epoch", "640"] if short else []
    run(demur, workspace, "train", "s", "--cohort", "c", "--method", "network", *little)
    run(demur, workspace, "tune", "s", "--cohort", "c", "--coverage", "0.9")
    apart = os.path.join(folder, "apart.demur")
    shutil.copy(workspace, apart)
    verdicts = verdicts_of(demur, apart, "c")
    for cohort, wanted in (("accepted", "accepted"), ("held-back", "red_flag")):
        scan = next((s for s, v in verdicts.items() if v == wanted), None)
        if scan is None:
            sys.exit("%s: no scan of the test split is %s" % (name, cohort))
        with open(table, newline="") as read, open(os.path.join(folder, "one.csv"), "w", newline="") as written:
            rows = csv.reader(read)
            head = next(rows)
            place = head.index("scan_id" if "scan_id" in head else "patient_id")
            csv.writer(written).writerows([head] + [row for row in rows if row[place] == scan])
        run(demur, workspace, "cohort", "import", cohort, written.name, "--model", MODEL)
        shutil.copy(workspace, apart)
        found = list(verdicts_of(demur, apart, cohort).values())
        if found != [wanted]:
            sys.exit("%s: the scan alone is %s, not %s" % (name, found, wanted))
    return workspace


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("build")
    parser.add_argument("tables", nargs="*")
    options = parser.parse_args()
    runs = options.runs or (2 if options.short else 11)
    demur = os.path.join(options.build, "app/demur")
    with tempfile.TemporaryDirectory() as folder:
        timed = [Timed("--version", 10, ["--version"])]
        for table in [None, *options.tables]:
            name = "simulated" if table is None else os.path.splitext(os.path.basename(table))[0]
            workspace = one_of_each(demur, folder, name, options.short, table)
            for cohort in ("accepted", "held-back"):
                timed.append(Timed("assess, %s, %s" % (name, cohort), 50, ["assess", "s", "--cohort", cohort], workspace))
        for _ in range(runs):
            for one in timed:
                one.once(demur, folder)
        for one in timed:
            one.tell()
        window = os.path.join(options.build, "app/demur-workstation")
        if not os.path.exists(window) or shutil.which("Xvfb") is None:
            print("skipped: the window (no Xvfb, or it is not built)")
            return
        shown = os.path.join(folder, "window.demur")
        run(demur, shown, "cohort", "import", "one", os.path.join(folder, "one.csv"), "--model", MODEL)
        first_frame = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../ui/first-frame.py")
        subprocess.run([sys.executable, first_frame, options.build, shown, str(runs)], check=True)


if __name__ == "__main__":
    main()
