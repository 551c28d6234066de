"""What the tests of faults share: a small workspace with everything in it, and the commands that write."""
import csv
import hashlib
import http.server
import marshal
import os
import re
import select
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import tempfile
import threading
import time

SIZES = ["--scans", "120", "--sites", "4", "--base-train", "100", "--tune", "60", "--test", "60", "--base-rate-logit", "2"]
QUICK = ["--epochs", "1", "--datasets-per-epoch", "64", "--batch", "8", "--kappa", "2", "--dataset-size", "60", "--hidden",
         "2", "--validation-datasets", "3", "--average", "1", "--features", "confidence,class"]

SEARCH = ["--search", "--search-grid", "kernel_width=0.2,0.5"]


# What a call must be able to for a kind of fault to change anything (inject.c).
KINDS = {"full": 1, "io": 0, "short": 4, "eintr": 2, "kill": 0, "after": 0}

PATIENCE = 1200  # seconds for what must end, on a busy machine too

STDOUT = "stdout.txt"  # a command's standard output, where its words end in "> stdout.txt"

GLOBAL = ["--workspace", "w.demur", "--threads", "1", "--quiet"]


class Bench:
    """A folder with a workspace that holds a cohort, a selector that is tuned, a DICOM series with a score and verdicts;
    every run of a command works on a copy of it."""

    def __init__(self, demur, phantom, folder):
        self.demur, self.folder = os.path.abspath(demur), folder
        beside = os.path.dirname(os.path.abspath(phantom))
        self.window = os.path.join(beside, "fault-window")  # absent in a build without the window
        self.copied = None
        self.work = os.path.join(folder, "work")  # of a run; another for each of several at a time
        self.received = None  # whether the last run's peer was told that all it sent is kept; None: it was no receiver
        self.template = os.path.join(folder, "template")
        os.makedirs(os.path.join(self.template, "tmp"))
        self.scan = self.series(phantom, "in", 1, 60)
        # Of the second series come two versions under other patients: a conflict, or a correction.
        self.second = self.series(phantom, "in2", 2, 4)
        self.series(phantom, "few", 3, 3)  # to be sent, and to be fetched
        self.serve_web(os.path.join(self.template, "few"))
        shutil.copytree(os.path.join(self.template, "in2"), os.path.join(self.template, "in3"))
        for path, _, names in os.walk(os.path.join(self.template, "in3")):
            for name in names:
                with open(os.path.join(path, name), "r+b") as file:
                    text = file.read()
                    assert text.count(b"PHANTOM-1") >= 1
                    file.seek(0)
                    file.write(text.replace(b"PHANTOM-1", b"PHANTOM-9"))
        self.write("cohort.csv", "patient_id,site,split,label,risk\n" +
                   "".join(f"p{i},S{i % 3},test,{i % 2},0.{i % 9 + 1}\n" for i in range(60)))
        self.write("more.csv", "patient_id,colour\n" + "".join(f"p{i},c{i % 4}\n" for i in range(60)))
        self.write("key", "not a secret, but long enough\n")
        self.must("cohort", "simulate", "c", *SIZES)
        self.must("cohort", "export", "c", "c.csv")
        with open(os.path.join(self.template, "c.csv"), encoding="utf-8") as file:
            row = next(row for row in csv.DictReader(file) if row["split"] == "test")
        self.site = row["site"]
        names = [name for name in row if name.startswith("emb_")]
        self.write("scores.csv", f"series_uid,risk,simulated,{','.join(names)}\n"
                   f"{self.scan},0.2,yes,{','.join(row[name] for name in names)}\n")
        self.must("cohort", "import", "d", "cohort.csv", "--model", "m")
        self.must("train", "s", "--cohort", "c", *QUICK)
        self.must("tune", "s", "--cohort", "c", "--coverage", "0.9")
        self.must("dicom", "import", "in")
        self.must("dicom", "import", "in2")
        self.must("dicom", "import", "in3")
        self.other = next(scan for (scan,) in self.query("SELECT scan_id FROM series") if scan not in (self.scan, self.second))
        model = self.query("SELECT model FROM cohort WHERE name = 'c'")[0][0]
        self.model = model
        self.must("scores", "import", "scores.csv", "--model", model)
        self.must("assess", "s", "--cohort", "c")
        self.must("assess", "s", "--all")
        self.must("selector", "export", "s", "s.json", "--with-reference")

        self.must("audit", "plan", "s", "--cohort", "c", "--site", self.site, "--scans", "12", "-o", "audit.csv")
        self.must("accept", "plan", "s", "--cohort", "c", "--site", self.site, "-o", "accept.csv")
        self.must("report", "r.pdf", "--selector", "s", "--cohort", "c", "--bootstrap", "100")
        self.write("outcome.csv", f"scan_id,label\n{self.scan},1\n")
        self.must("watch", "start", "s", "--cohort", "c", "--rule", "note")
        self.alarm = subprocess.run([os.path.join(beside, "fault-alarm"), os.path.join(self.template, "w.demur")], check=True,
                                    capture_output=True, text=True).stdout.strip()
        for name in ("audit.csv", "accept.csv"):
            self.label(name)
        for part in ("1", "2"):
            self.must("train", "t", "--cohort", "c", *QUICK, *SEARCH, "--shard", f"{part}/2", "--part", f"t{part}.json")
            self.must("validate", "s", "--cohort", "c", "--folds", "2", "--shard", f"{part}/2", "--part", f"v{part}.json")
            self.must("evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "100", "--shard", f"{part}/2", "--part", f"e{part}.json")
        self.must("train", "t", "--cohort", "c", *QUICK, "--shard", "1/1", "--part", "n1.json")
        self.must("federate", "start", "round.json", "--study", "recalibration", "--selector", "s", "--sites", "a,b")
        # A workspace is one site's; the other's are scans of another split.
        shutil.copy(os.path.join(self.template, "w.demur"), os.path.join(self.template, "b.demur"))
        other = ["--workspace", "b.demur", "--split", "tune"]
        for site in "ab":
            words = [] if site == "a" else other
            self.must("federate", "answer", "round.json", "--as", site, "--cohort", "c", "-o", f"round-{site}.json", *words)
        self.must("federate", "start", "audit.json", "--study", "audit", "--selector", "s", "--sites", "a,b")
        for site in "ab":
            words = [] if site == "a" else other
            self.must("federate", "answer", "audit.json", "--as", site, "--cohort", "c", "-o", f"audit-{site}.json", *words)
        for name in ("b.demur", "b.demur.federate"):
            os.remove(os.path.join(self.template, name))
        self.must("federate", "merge", "audit.json", "audit-a.json", "audit-b.json", "-o", "result.json")
        for name in ("round.json", "round-a.json", "round-b.json", "result.json", "w.demur.federate"):
            os.chmod(os.path.join(self.template, name), 0o644)  # outputs.py writes as another user, too
        self.write("persons.csv", "pid,cen,scr_days0,candx_days,fup_days,death_days\n" +
                   "".join(f"{i},{i % 4},0,{'' if i % 3 else (i % 5 + 1) * 300},2500,\n" for i in range(180)))
        self.write("years.csv", f"pid,study_yr,split,{','.join(f'risk_year_{year}' for year in range(1, 7))}\n" + "".join(
            f"{i},0,{'selector_train' if i < 120 else 'tune'},{','.join(f'{.01 * (i % 9 + 1) * year:.2f}' for year in range(1, 7))}\n"
            for i in range(180)))
        self.must("cohort", "import", "y", "--nlst-persons", "persons.csv", "--scores", "years.csv", "--model", "m")
        self.must("train", "h", "--cohort", "y", *QUICK, "--horizons", "1,6")
        self.images = next(digest for scan, digest in self.query("SELECT scan_id, images_digest FROM series") if scan == self.scan)
        shutil.copy(os.path.join(self.template, "w.demur"), os.path.join(self.template, "kept.demur"))
        self.must("log", "--keep-openings", "on", "--workspace", "kept.demur")
        with open(os.path.join(folder, "one.sh"), "w", encoding="utf-8") as file:  # the external model
            file.write('echo \'{"predictions": [[0.01, 0.02, 0.03, 0.04, 0.05, 0.06]]}\' > "$2/scores.json"\n')

    def label(self, name):
        """Fills the labels of a plan as someone would who knows the outcomes."""
        with open(os.path.join(self.template, "c.csv"), encoding="utf-8") as file:
            labels = {row["scan_id"]: row["label"] for row in csv.DictReader(file)}
        path = os.path.join(self.template, name)
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            for row in rows:
                writer.writerow({**row, "label": labels[row["scan_id"]]})

    def series(self, phantom, name, seed, n_slices):
        """A phantom's series in the template; its UID."""
        return subprocess.run([phantom, os.path.join(self.template, name), str(seed), str(n_slices)], check=True, capture_output=True,
                              text=True).stdout.strip()

    def write(self, name, text):
        with open(os.path.join(self.template, name), "w", encoding="utf-8") as file:
            file.write(text)

    def must(self, *words):
        result = self.run(self.template, words)
        assert result.returncode == 0, (words, result.stderr)

    def query(self, sql):
        database = sqlite3.connect(os.path.join(self.template, "w.demur"))
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def environment(self, folder=None, **more):
        return {"PATH": os.environ["PATH"], "HOME": self.folder, "XDG_CACHE_HOME": os.path.join(self.folder, "cache"),
                "SOURCE_DATE_EPOCH": "1700000000", "OPENBLAS_NUM_THREADS": "1", "LANG": "C.UTF-8",
                "TMPDIR": os.path.join(folder or self.work, "tmp"), **more}

    def program(self, words):
        """The command with its words; what begins with "window" is done as the window does it (window.c)."""
        if words[0] == "window":
            return [self.window, "w.demur", *words[1:]]
        return [self.demur, *GLOBAL, *(words[:words.index(">")] if STDOUT in words else words)]

    def run(self, folder, words, timeout=PATIENCE, **more):
        """One command in the folder, on its workspace. Words may name another; `dicom receive` is sent something."""
        words, self.received = list(words), None
        if words[:2] == ["dicom", "receive"] and "--help" not in words:
            return self.receive(folder, words, **more)
        result = subprocess.run(self.program(words), cwd=folder, env=self.environment(folder, **more), capture_output=True, text=True,
                                timeout=timeout, check=False, stdin=subprocess.DEVNULL)
        if STDOUT in words and "LD_PRELOAD" not in more:  # the injector opens it itself
            with open(os.path.join(folder, STDOUT), "w", encoding="utf-8") as file:
                file.write(result.stdout)
        return result

    def serve_web(self, folder):
        """A web server for `dicom retrieve`, for as long as this process lives: every study is the files in folder."""
        objects = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                objects.append(file.read())
        at = objects[0].index(b"\x20\x00\x0d\x00UI") + 8
        self.study = objects[0][at:at + objects[0][at - 2]].rstrip(b"\0 ").decode()
        body = b"".join(b"--part\r\nContent-Type: application/dicom\r\n\r\n" + content + b"\r\n" for content in objects) + b"--part--\r\n"

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", 'multipart/related; type="application/dicom"; boundary=part')
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.web = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def receive(self, folder, words, **more):
        """A receiver that ends with its first study, and a peer that sends once more where its first association broke."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        said = tempfile.TemporaryFile("w+", dir=self.folder, encoding="utf-8")
        receiver = subprocess.Popen([self.demur, *GLOBAL, *words, "--port", port, "--once", "--settle", "5"], cwd=folder,
                                    env=self.environment(folder, **more), stdout=subprocess.DEVNULL, stderr=said, stdin=subprocess.DEVNULL)
        self.received = False
        for _ in range(200):
            with socket.socket() as probe:
                if receiver.poll() is not None or probe.connect_ex(("127.0.0.1", int(port))) == 0:
                    break
            time.sleep(0.05)
        n_sent, error = 0, ""
        for _ in range(5 * PATIENCE):
            ended = receiver.poll() is not None
            said.seek(0)
            error = said.read()
            if ended:
                break
            # As someone would who reads it: nothing comes whole, or is read, where there is no room.
            if "make room" in error or (n_sent == 2 and not self.received):
                receiver.send_signal(signal.SIGINT)
                receiver.wait(PATIENCE)
            elif n_sent < 2 and (not self.received or "broke off" in error):
                sender = subprocess.run([self.demur, "--workspace", f"{folder}-sender.demur", "dicom", "send",
                                         f"127.0.0.1:{port}", "few", "--called", "DEMUR", "--timeout", "30"], cwd=folder, env=self.environment(folder),
                                        capture_output=True, check=False, timeout=PATIENCE)
                self.received, n_sent = sender.returncode == 0, n_sent + 1
            else:
                time.sleep(0.2)
        said.close()
        # One that read what another had acknowledged may end before its own peer calls: it is started again.
        if not more and receiver.returncode == 0 and not self.received:
            return self.receive(folder, words)
        return subprocess.CompletedProcess(words, receiver.wait(PATIENCE), "", error)

    def help_of(self, *words):
        return subprocess.run([self.demur, *words, "--help"], capture_output=True, text=True, check=True).stdout

    def commands_of_help(self):
        """Every command and its help; what `demur report` keeps for itself too."""
        names = re.findall(r"^  ([a-z]+)  +\S", self.help_of().split("Commands:")[1].split("Global options")[0], re.M)
        for name in names:
            text = self.help_of(name)
            if " COMMAND .." in text.splitlines()[0]:
                for word in re.findall(r"^  ([a-z]+)  +\S", text, re.M):
                    yield f"{name} {word}", self.help_of(name, word)
                continue
            yield name, text
            for word in re.findall(rf"`demur {name} ([a-z]+) FILE", text):
                yield f"{name} {word}", self.help_of(name, word)

    def paths_of_help(self):
        """"COMMAND WORD" and "COMMAND --option" of each word and option that names a file or folder."""
        path = re.compile(r"^[(\[]?(FILE|DIR|FOLDER|PATH|IN|OUT|ROUND|ANSWER|RESULT)\b")
        for name, text in self.commands_of_help():
            usage = text.splitlines()[1].split("\u2014")[0]
            for word in usage.split():
                if path.match(word) and not re.search(rf"--\S+ {re.escape(word)}", usage):
                    yield f"{name} {path.match(word)[1]}"
            for option, value in re.findall(r"--([a-z-]+)=(\S+)", text):
                if path.match(value) or re.match(r"\w+\.(csv|json|npy|pdf)$", value):
                    yield f"{name} --{option}"

    def copy(self):
        """The work folder as the template is."""
        if self.copied is None or self.copied.folder != self.work:
            self.copied = Copy(self.template, self.work)
        return self.copied.restore()


class Copy:
    """The template, copied once and mended behind each run: only what the run touched is copied and read again. A file that is as
    it was made has its inode, size, mode and the template's time of change, which lies in the past."""

    def __init__(self, template, folder):
        self.template, self.folder, self.digests = template, folder, {}
        self.held = None
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder, symlinks=True)
        self.made = {name: self.look(name) for name in self.names()[1]}
        for name in self.made:
            self.digests[name] = digest_of(os.path.join(template, name))

    def names(self):
        """Folders, the top one too, and files below, by relative path. A link is a file, whatever it leads to."""
        folders, files = ["."], []
        for path, inner, names in os.walk(self.folder):
            for name in inner + names:
                full = os.path.join(path, name)
                (folders if os.path.isdir(full) and not os.path.islink(full) else files).append(os.path.relpath(full, self.folder))
        return folders, files

    def look(self, name):
        status = os.lstat(os.path.join(self.folder, name))
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode, status.st_uid

    def digest(self, name):
        """Of any file's bytes."""
        return self.digests[name] if self.made.get(name) == self.look(name) else digest_of(os.path.join(self.folder, name))

    def state(self):
        """All that a later run can see, as a key; what stands in a part's name is random."""
        folders, files = self.names()
        names = [(re.sub(r"\.demur-[^.]+\.part", ".part", name), self.digest(name)) for name in files if not name.endswith("-shm")]
        return tuple(sorted(folders)), tuple(sorted(names))

    def keep(self):
        """What is there by now is the template from here on."""
        folders, files = self.names()
        for name in sorted(folders):
            there = os.path.join(self.template, name)
            os.makedirs(there, exist_ok=True)
            shutil.copystat(os.path.join(self.folder, name), there)
        for name in set(self.made) - set(files):
            os.unlink(os.path.join(self.template, name))
            del self.made[name], self.digests[name]
        for name in files:
            if self.made.get(name) != self.look(name):
                here, there = os.path.join(self.folder, name), os.path.join(self.template, name)
                if os.path.lexists(there):
                    os.unlink(there)
                shutil.copy2(here, there, follow_symlinks=False)
                self.made[name], self.digests[name] = self.look(name), digest_of(here)
        for path, inner, _ in os.walk(self.template, topdown=False):
            for name in inner:
                relative = os.path.relpath(os.path.join(path, name), self.template)
                if relative not in folders and not os.path.islink(os.path.join(path, name)):
                    os.rmdir(os.path.join(path, name))

    def restore(self):
        folders, files = self.names()
        for name in files:
            if self.made.get(name) != self.look(name):
                os.unlink(os.path.join(self.folder, name))
        for name in sorted(folders, key=len, reverse=True):
            here, there = os.path.join(self.folder, name), os.path.join(self.template, name)
            if not os.path.isdir(there):
                os.rmdir(here)
                continue
            if any(getattr(os.stat(here), part) != getattr(os.stat(there), part) for part in ("st_mode", "st_uid")):
                os.chown(here, os.stat(there).st_uid, -1)
                shutil.copymode(there, here)
        for path, inner, _ in os.walk(self.template):
            for name in inner:
                full = os.path.join(path, name)
                if not os.path.islink(full):
                    here = os.path.join(self.folder, os.path.relpath(full, self.template))
                    if not os.path.isdir(here):
                        os.mkdir(here)
                        shutil.copymode(full, here)
        if self.held:
            self.held.restore()
        for name in self.made:
            here, there = os.path.join(self.folder, name), os.path.join(self.template, name)
            if not os.path.lexists(here):
                os.makedirs(os.path.dirname(here), exist_ok=True)
                shutil.copy2(there, here, follow_symlinks=False)
                self.made[name] = self.look(name)
        return self.folder


class Held:
    """The files below folder that a process which stands still has open: put back in their place, for it writes into these and no
    others."""

    def __init__(self, pid, folder):
        self.links, self.files = f"{folder}-held", {}
        os.makedirs(self.links, exist_ok=True)
        for number in os.listdir(f"/proc/{pid}/fd"):
            way = f"/proc/{pid}/fd/{number}"
            # One that a copy removed has its name again, and is told as deleted for all time.
            path, status = os.readlink(way).removesuffix(" (deleted)"), os.stat(way)
            if stat.S_ISREG(status.st_mode) and path.startswith(folder + os.sep) and status.st_ino not in self.files:
                has_name = os.path.lexists(path) and os.lstat(path).st_ino == status.st_ino
                link = os.path.join(self.links, number) if has_name else None
                if link:
                    os.link(path, link)
                with open(way, "rb") as file:
                    self.files[status.st_ino] = (way, path, link, status, file.read())

    def restore(self):
        for way, path, link, before, content in self.files.values():
            if link and not (os.path.lexists(path) and os.lstat(path).st_ino == before.st_ino):
                if os.path.lexists(path):
                    os.unlink(path)
                os.link(link, path)
            now = os.stat(way)
            # What is mapped into memory changes without a change of its time.
            if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns) or path.endswith("-shm"):
                with open(way, "r+b") as file:
                    file.write(content)
                    file.truncate()
                os.utime(way, ns=(before.st_atime_ns, before.st_mtime_ns))
            if now.st_mode != before.st_mode:
                os.chmod(way, stat.S_IMODE(before.st_mode))

    def end(self):
        shutil.rmtree(self.links)


class Server:
    """A command in a folder that stands before its main, and runs from there once for each fault (inject.c)."""

    def __init__(self, bench, inject, folder, words, **more):
        to_read, self.orders = os.pipe()
        self.answers, to_write = os.pipe()
        self.said = os.path.join(bench.folder, f"said-{os.getpid()}")
        with open(self.said, "a", encoding="utf-8") as said:
            self.process = subprocess.Popen(
                bench.program(words), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                pass_fds=(to_read, to_write), start_new_session=True,
                env=bench.environment(folder, LD_PRELOAD=os.path.abspath(inject), FAULT_ROOT=folder, FAULT_SERVER=f"{to_read} {to_write}",
                                      **output_of(words), **more))
        os.close(to_read)
        os.close(to_write)
        self.lines = open(self.answers, encoding="utf-8", closefd=True)

    def go(self, number):
        """To that call (FAULT_STOPS), 0: to the end. The number of the one before which it stops; None where it has ended."""
        os.write(self.orders, f"go {number}\n".encode())
        return self.stopped()

    def stopped(self):
        line = self.lines.readline()
        return int(line.split()[1]) if line else None

    def run(self, kind, at, timeout=PATIENCE):
        """Exit status as subprocess tells it, and standard error."""
        os.truncate(self.said, 0)
        os.write(self.orders, f"{kind} {at}\n".encode())
        if not select.select([self.answers], [], [], timeout)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise AssertionError(f"{kind} at call {at}: it did not end within {timeout} s")
        status = os.waitstatus_to_exitcode(int(self.lines.readline()))
        with open(self.said, encoding="utf-8") as said:
            return status, said.read()


def digest_of(path):
    if os.path.islink(path):
        return os.readlink(path)
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def output_of(words):
    """For the injector, where standard output goes to a file."""
    return {"FAULT_STDOUT": STDOUT} if STDOUT in words else {}


def counted(path):
    """(what it can meet, where it is made) of each call, as the injector's FAULT_COUNT tells them."""
    with open(path, encoding="utf-8") as file:
        return [(int(traits), place) for traits, place in (line.split() for line in file)]


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


def files_of(folder, digest=None):
    """{relative path: digest} of every file but the workspace; digest(relative path) where it is known better."""
    found = {}
    for path, folders, names in os.walk(folder):
        for name in folders:  # an empty one too
            if is_part(name):
                found[os.path.relpath(os.path.join(path, name), folder)] = "a folder"
        for name in names:
            # SQLite's own, unlinked as soon as it is open and before it holds anything: a kill in between leaves it empty, and where the
            # disk does not unlink it nobody can.
            if name.startswith("etilqs_"):
                continue
            full = os.path.join(path, name)
            relative = os.path.relpath(full, folder)
            if is_part(relative):
                found[relative] = "unfinished"
            elif not re.search(r"\.demur(-wal|-shm|-journal)?$", name) and "/.journal/" not in "/" + relative:
                found[relative] = digest(relative) if digest else digest_of(full)
    return found


def is_part(name):
    """What a killed run may leave: an unfinished file, or its own folder with all in it."""
    return any(part.startswith(".demur-") and part.endswith(".part") or re.match(r"demur-[a-z]+-[0-9a-f]{8}$|\.demur-[a-z]+-[0-9a-f]{8}$", part)
               for part in name.split(os.sep))


def rows_of(folder, digest=None):
    """What the workspaces hold: {(file, table): digest of its rows}; None where one can't be read."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names if not is_part(os.path.relpath(path, folder)) else []:
            if name.endswith(".demur") and os.path.getsize(os.path.join(path, name)) > 0:
                rows = rows_of_one(os.path.join(path, name), digest and (lambda full: digest(os.path.relpath(full, folder))))
                if rows is None:
                    return None
                found.update({(name, table): kept for table, kept in rows.items()})
    return found


rows_known = {}  # by the digests of workspace and -wal


def rows_of_one(path, digest=None):
    """Read in a copy: what a killed run left is for the next run to put right."""
    parts = [part for part in (path, path + "-wal", path + "-journal") if os.path.exists(part)]
    key = tuple((digest or digest_of)(part) for part in parts)
    if key not in rows_known:
        with tempfile.TemporaryDirectory() as folder:
            for part in parts:
                shutil.copy(part, folder)
            rows_known[key] = read_rows(os.path.join(folder, os.path.basename(path)))
    return rows_known[key]


def read_rows(path):
    database = sqlite3.connect(path)
    try:
        if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return None
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        found = {}
        for table in tables:
            rows = database.execute(f"SELECT * FROM \"{table}\"")
            # What a run of the external model took, when a received file was written, and whether it was old enough for its pixels
            # to be known by it (base/file-stamp.h), is another each time; so is what seals a row that holds it, the chain over
            # that, the folder of a run, and the key that a workspace draws for itself.
            kept = [at for at, column in enumerate(rows.description)
                    if column[0] not in ("seconds", "modified", "stamp", "pixel_digest", "decodes", "seal", "previous", "chain") and
                    (table, column[0]) != ("selector_key", "key")]
            texts = sorted(marshal.dumps([re.sub(r"\b(work|dicom)-[0-9]+\b", r"\1", row[at]) if isinstance(row[at], str) else row[at]
                                          for at in kept], 2) for row in rows)
            found[table] = hashlib.sha256(b"".join(texts)).hexdigest()
        return found
    except sqlite3.DatabaseError:
        return None
    finally:
        database.close()


def commands_of(bench):
    """Every command that writes, with words that make it write."""
    scan, model = bench.scan, bench.model
    chart = ["--selector", "s", "--cohort", "c", "--bootstrap", "100"]
    kept = ["--workspace", "kept.demur"]
    window = {
        "window opinion": ["window", "opinion", scan],
        "window worklist": ["window", "worklist", "out.csv"],
        "window report": ["window", "report", "out.pdf", "s", "c"],
        "window case": ["window", "case", "out.pdf", scan],
        "window settings": ["window", "settings", "workstation.ini"],
        "window measure": ["window", "measure", scan, bench.images],
    }
    return {
        "cohort import": ["cohort", "import", "e", "cohort.csv", "--model", "m"],
        "cohort attach": ["cohort", "attach", "d", "more.csv", "--key", "patient_id"],
        "cohort export": ["cohort", "export", "c", "out.csv"],
        "cohort remove": ["cohort", "remove", "d"],
        "train": ["train", "t", "--cohort", "c", *QUICK],
        "tune": ["tune", "s", "--cohort", "c", "--coverage", "0.7"],
        "assess": ["assess", "s", "--cohort", "c"],
        "selector import": ["selector", "import", "u", "s.json"],
        "selector export": ["selector", "export", "s", "out.json", "--with-reference"],
        "audit plan": ["audit", "plan", "s", "--cohort", "c", "--site", bench.site, "--scans", "12", "-o", "out.csv"],
        "accept plan": ["accept", "plan", "s", "--cohort", "c", "--site", bench.site, "-o", "out.csv"],
        "chart svg": ["chart", "coverage-brier", "out.svg", *chart],
        "chart csv": ["chart", "coverage-brier", "out.csv", *chart],
        "chart png": ["chart", "coverage-brier", "out.png", *chart],
        "chart pdf": ["chart", "coverage-brier", "out.pdf", *chart],
        "report": ["report", "out.pdf", "--selector", "s", "--cohort", "c", "--bootstrap", "100"],
        "report patient": ["report", "patient", "out.pdf", "--scan", scan],
        "export csv": ["export", "out.csv", "--cohort", "c"],
        "export json": ["export", "out.json"],
        "export sr": ["export", "out.dcm", "--scan", scan],
        "export pdf": ["export", "out.dcm", "--scan", scan, "--format", "pdf"],
        "dicom import": ["dicom", "import", "in"],
        "dicom deidentify": ["dicom", "deidentify", "in", "copies", "--key", "key"],
        "scores import": ["scores", "import", "scores.csv", "--model", model + "2"],
        "scores run": ["scores", "run", "--command", f"sh {os.path.join(bench.folder, 'one.sh')} {{series}} {{output}}", "--model", "m3",
                       "--scan", scan],
        "cohort simulate": ["cohort", "simulate", "e", *SIZES],
        "a new workspace": ["cohort", "import", "e", "cohort.csv", "--model", "m", "--workspace", "made/new.demur"],
        "selector remove": ["selector", "remove", "s", "--force"],
        "validate": ["validate", "s", "--cohort", "c", "--folds", "2"],
        "validate part": ["validate", "s", "--cohort", "c", "--folds", "2", "--shard", "1/2", "--part", "out.json"],
        "validate merge": ["validate", "s", "--cohort", "c", "--folds", "2", "--merge", "v1.json", "v2.json"],
        "train part": ["train", "t", "--cohort", "c", *QUICK, *SEARCH, "--shard", "1/2", "--part", "out.json"],
        "train merge": ["train", "t", "--cohort", "c", *QUICK, *SEARCH, "--merge", "t1.json", "t2.json"],
        "train networks part": ["train", "t", "--cohort", "c", *QUICK, "--shard", "1/1", "--part", "out.json"],
        "train networks merge": ["train", "t", "--cohort", "c", *QUICK, "--merge", "n1.json"],
        "train search": ["train", "t", "--cohort", "c", *QUICK, *SEARCH],
        "train horizons": ["train", "g", "--cohort", "y", *QUICK, "--horizons", "1,6"],
        "train replace": ["train", "s", "--cohort", "c", *QUICK, "--replace", "--force"],
        "tune horizons": ["tune", "h", "--cohort", "y", "--coverage", "0.8", "--horizons", "1,6"],
        "selector import replace": ["selector", "import", "s", "s.json", "--replace", "--force"],
        "federate start": ["federate", "start", "out.json", "--study", "audit", "--selector", "s", "--sites", "a,b"],
        "federate answer": ["federate", "answer", "round.json", "--as", "a", "--cohort", "c", "-o", "out.json"],
        "federate merge": ["federate", "merge", "round.json", "round-a.json", "round-b.json", "-o", "out.json"],
        "federate install": ["federate", "install", "result.json", "f"],
        "log keep": ["log", "--keep-openings", "on"],
        # Who opened a patient is written where that is kept, by what else only reads.
        "dicom show kept": ["dicom", "show", scan, *kept],
        "report patient kept": ["report", "patient", "out.pdf", "--scan", scan, *kept],
        "export sr kept": ["export", "out.dcm", "--scan", scan, *kept],
        "audit apply": ["audit", "apply", "s", "audit.csv"],
        "accept run": ["accept", "run", "s", "accept.csv"],
        "watch start": ["watch", "start", "s", "--cohort", "c"],
        "workspace copy": ["workspace", "copy", "w.demur", "copied.demur"],
        "workspace backup": ["workspace", "backup", "copied.demur"],
        "watch labels": ["watch", "labels", "outcome.csv"],
        "watch lift": ["watch", "lift", bench.alarm, "--reason", "a test"],
        "dicom choose": ["dicom", "choose", scan, "--reason", "a test"],
        "dicom resolve": ["dicom", "resolve", bench.second, "--keep", "--reason", "a test"],
        "dicom correct": ["dicom", "correct", bench.other, "--reason", "a test"],
        "dicom remove": ["dicom", "remove", "--scan", scan, "--reason", "a test"],
        "dicom receive": ["dicom", "receive", "inbox"],
        "dicom retrieve": ["dicom", "retrieve", bench.web, "inbox", "--study", bench.study],
        **(window if os.path.exists(bench.window) else {}),
        # What only reads, with its standard output in a file: on a full disk it must not end well.
        **{f"{name} > file": [*words, ">", STDOUT] for name, words in reading_of(bench).items() if name not in ASK_A_PEER},
    }


ASK_A_PEER = {"dicom echo", "dicom query", "dicom send"}


# Tens of thousands of calls, over half a minute: steps that are commands of this table, one behind the other (faults.py: Staged).
DEMO = {"demo": ["demo", "demo"]}


# Not tried here: a service that runs for weeks (serve.py tries it). It receives as `dicom receive` does, and imports, scores, assesses and
# exports by the tasks of those commands; its journal is written as every file is.
# Roles are a server's (tests/postgres/roles.c).
ELSEWHERE = {"serve", "workspace roles"}


def reading_of(bench):
    """Every command that only reads, with words that make it read."""
    nobody = "127.0.0.1:1"
    return {
        "cohort list": ["cohort", "list"],
        "cohort show": ["cohort", "show", "c"],
        "dicom list": ["dicom", "list"],
        "dicom show": ["dicom", "show", bench.scan],
        "dicom rules": ["dicom", "rules"],
        "dicom echo": ["dicom", "echo", nobody],
        "dicom query": ["dicom", "query", nobody, "--patient", "p"],
        "dicom send": ["dicom", "send", nobody, "in"],
        "evaluate": ["evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "100"],
        "selector list": ["selector", "list"],
        "selector show": ["selector", "show", "s"],
        "report verify": ["report", "verify", "r.pdf"],
        "verify": ["verify"],
        "shift": ["shift", "s", "--cohort", "c", "--mix", f"site={bench.site}:1"],
        "log": ["log"],
        "log messages": ["log", "--audit-messages"],
        "evaluate part": ["evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "100", "--shard", "1/2", "--part", "out.json"],
        "evaluate merge": ["evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "100", "--merge", "e1.json", "e2.json"],
        "evaluate json": ["evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "100", "--json"],
        "watch show": ["watch", "show"],
        "federate show": ["federate", "show", "round.json", "round-a.json"],
        "ablate": ["ablate", "s", "--cohort", "c", "--without", "without_class", "--bootstrap", "100"],
    }


def name_of(entry):
    """The command of an entry's name: "export csv" is of export."""
    entry = re.sub(r"( kept| > file)$", "", entry)
    if entry == "a new workspace":
        return "cohort import"
    return re.sub(r"^(export|chart|validate|train|tune|log|evaluate|selector import) .*", r"\1", entry)
