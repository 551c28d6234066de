"""Every option that names an output, against whatever can stand at its path, and what other users of the machine see.

Usage: outputs.py DEMUR PHANTOM INJECT [--some] [COMMAND ..]: all, or what the tables call so. What takes another user is tried as root
only (setpriv); elsewhere it is reported as skipped. Every file is written in one way (tests/architecture/writers.py): --some tries
at each command SOME of the things that can stand at a file's path, in turn, so that each is met by many commands and by reports,
charts and exports alike.
"""
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading

from workbench import ASK_A_PEER, DEMO, PATIENCE, QUICK, SEARCH, Bench, commands_of, files_of, is_part, name_of, reading_of, rows_of

# Of these the name says the kind: a stream has no ending.
BY_NAME = {"chart svg": ".svg", "chart csv": ".csv", "chart png": ".png", "chart pdf": ".pdf", "report": ".pdf", "report patient": ".pdf",
           "window report": ".pdf", "window case": ".pdf"}
FORMATS = {"export csv": ["--format", "csv"], "export json": ["--format", "json"], "export sr": ["--format", "sr"]}
PUBLIC = {"selector export", "chart svg", "chart csv", "chart png", "chart pdf", "report", "window report"}
WITH_NUMBERS = ("report", "report patient", "window report", "window case")  # JSON beside the PDF
# Folders; of the last one it takes a peer, or half a minute, to see it written whole.
FOLDERS = {"dicom deidentify": "OUT", "dicom retrieve": "FOLDER", "dicom receive": "FOLDER", "demo": "DIR"}


def outputs_of(bench):
    """Names of the commands of the faults' table that write a file where they are told to; each once."""
    return [name for name, words in commands_of(bench).items() if any(word.startswith("out.") for word in words) and not name.endswith(" kept")]


def option_of(bench, name):
    """As the help tells of it."""
    words = commands_of(bench)[name]
    at = next(at for at, word in enumerate(words) if word.startswith("out."))
    option = {"-o": "--output", "--part": "--part"}.get(words[at - 1], "FILE")
    return f"{name_of(name)} {option}"


class Case:
    """A command with its output named anew, in a fresh copy."""

    def __init__(self, bench, name):
        self.bench, self.name = bench, name
        self.words = commands_of(bench)[name]
        self.old = next(word for word in self.words if word.startswith("out."))
        self.ending = os.path.splitext(self.old)[1]
        self.folder = bench.copy()

    def run(self, output, prefix=(), **more):
        words = [output if word == self.old else word for word in self.words]
        if "--format" not in words:
            words += FORMATS.get(self.name, [])
        if prefix:
            command = [*prefix, *self.bench.program(words)]
            return subprocess.run(command, cwd=self.folder, env=self.bench.environment(**more), capture_output=True, text=True,
                                  timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        return self.bench.run(self.folder, words, **more)

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text="old"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


def reference(bench, name):
    case = Case(bench, name)
    result = case.run(case.old)
    assert result.returncode == 0, (name, result.stderr)
    return case.read(case.old)


def refused(case, result, *words):
    assert result.returncode == 1, (case.name, result.returncode, result.stdout, result.stderr)
    for word in words:
        assert word in result.stderr, (case.name, word, result.stderr)


def existing_files_links_and_folders(bench, name, whole):
    case = Case(bench, name)
    case.put(case.old)
    os.chmod(case.path(case.old), 0o640)
    assert case.run(case.old).returncode == 0
    assert case.read(case.old) == whole
    assert stat.S_IMODE(os.stat(case.path(case.old)).st_mode) == 0o640
    case = Case(bench, name)
    case.put("target" + case.ending)
    os.symlink("target" + case.ending, case.path(case.old))
    assert case.run(case.old).returncode == 0
    assert os.path.islink(case.path(case.old)) and case.read("target" + case.ending) == whole
    case = Case(bench, name)
    os.symlink("nowhere" + case.ending, case.path(case.old))
    refused(case, case.run(case.old), "leads nowhere")
    case = Case(bench, name)
    os.mkdir(case.path(case.old))
    refused(case, case.run(case.old), "it is a folder")
    refused(case, case.run("absent/" + case.old), "there is no folder absent")


def what_no_output_replaces(bench, name, whole):
    """The workspace that the command works with, what belongs to it, a ledger of what was told, and a study's documents: refused, and as they were."""
    case = Case(bench, name)
    case.put("told", '{"format": "demur-federate-ledger"}')
    study = ("demur-round", "demur-answer", "demur-federated")[len(name) % 3]  # in turn
    case.put("study", f'{{"format": "{study}"}}')
    rows = rows_of(case.folder)
    # The ending says what a chart or a report is: there a link leads to the workspace.
    for what, said in (("w.demur", "database"), ("w.demur-wal", "belongs to the database"), ("told", "ledger"),
                       ("study", "study between sites")):
        output = what
        if case.ending in BY_NAME.values() and name in BY_NAME:
            if what.endswith("-wal"):
                continue
            output = "link-" + what + case.ending
            os.symlink(what, case.path(output))
        refused(case, case.run(output), said)
        assert rows_of(case.folder) == rows, (name, what)
        assert case.read("told") == b'{"format": "demur-federate-ledger"}', name
        assert case.read("study") == f'{{"format": "{study}"}}'.encode(), name
        case = Case(bench, name)
        case.put("told", '{"format": "demur-federate-ledger"}')
        case.put("study", f'{{"format": "{study}"}}')


def names_of_every_kind_and_rights(bench, name, whole):
    """Of a line break, a turn of direction and 255 bytes; each under another umask."""
    # The JSON beside a report has an ending of one letter more.
    longest = "n" * (255 - len(case_ending(bench, name)) - (1 if name in WITH_NUMBERS else 0)) + case_ending(bench, name)
    for output, mask, private, public in ((longest, 0o000, 0o600, 0o666), ("new\nline" + case_ending(bench, name), 0o022, 0o600, 0o644),
                                          ("\u202ename" + case_ending(bench, name), 0o077, 0o600, 0o600)):
        case = Case(bench, name)
        result = case.run(output, prefix=["sh", "-c", f'umask {mask:o}; exec "$@"', "sh"])
        assert result.returncode == 0, (name, output, result.stderr)
        assert case.read(output) == whole
        assert "\u202e" not in result.stdout + result.stderr and "\x1b" not in result.stdout + result.stderr
        mode = stat.S_IMODE(os.stat(case.path(output)).st_mode)
        assert mode == (public if name in PUBLIC else private), (name, oct(mask), oct(mode))
    case = Case(bench, name)
    refused(case, case.run("n" * 300 + case.ending), "at most 255 bytes")


def case_ending(bench, name):
    return os.path.splitext(next(word for word in commands_of(bench)[name] if word.startswith("out.")))[1]


def streams(bench, name, whole):
    ending = BY_NAME.get(name, "")
    case = Case(bench, name)
    fifo = case.path("fifo" + ending)
    os.mkfifo(fifo)
    if name in WITH_NUMBERS:
        os.mkfifo(case.path("fifo.json"))
    found = []
    readers = [threading.Thread(target=lambda path=path: found.append(open(path, "rb").read()), daemon=True)
               for path in ([case.path("fifo.json")] if name in WITH_NUMBERS else []) + [fifo]]
    for reader in readers:
        reader.start()
    result = case.run("fifo" + ending)
    for reader in readers:
        reader.join(PATIENCE)
    assert result.returncode == 0, (name, result.stderr)
    assert whole in found, name
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)
    if ending:
        return
    for device, status in (("/dev/null", 0), ("/dev/full", 1)):
        result = Case(bench, name).run(device)
        assert result.returncode == status, (name, device, result.stderr)
        assert stat.S_ISCHR(os.stat(device).st_mode)
    for out in ("-", "/dev/stdout"):
        case = Case(bench, name)
        words = [out if word == case.old else word for word in case.words] + FORMATS.get(name, [])
        result = subprocess.run(bench.program(words), cwd=case.folder, env=bench.environment(), capture_output=True, check=False, timeout=PATIENCE)
        assert result.returncode == 0 and result.stdout == whole, (name, out, result.stderr, result.stdout[:200])


def standard_output_that_is_full(bench):
    """Whatever is printed, the help of every command too."""
    helps = {f"{name} --help": [*name.split(), "--help"] for name, _ in bench.commands_of_help()}
    for name, words in {**helps, **{name: words for name, words in reading_of(bench).items() if name not in ASK_A_PEER}}.items():
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run(bench.program(words), cwd=bench.copy(), env=bench.environment(), stdout=full, stderr=subprocess.PIPE,
                                    text=True, check=False, stdin=subprocess.DEVNULL)
        assert result.returncode == 1 and "could not be written" in result.stderr, (name, result.returncode, result.stderr)
    workstation = bench.demur + "-workstation"
    for word in ("--help", "--help-all", "--version") if os.path.exists(workstation) else ():
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([workstation, word], env=bench.environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert result.returncode == 1 and "could not be written" in result.stderr, (word, result.returncode, result.stderr)


def open_to_all(folder):
    """Images are read where they were imported from."""
    for path, folders, names in os.walk(folder):
        os.chmod(path, 0o755)
        for name in names:
            if name.endswith(".dcm"):
                os.chmod(os.path.join(path, name), 0o644)


def another_user(bench, name, whole):
    """A folder that may only be read, and a link that someone left in a folder that all may write."""
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    open_to_all(bench.folder)
    case = Case(bench, name)
    for path, folders, names in os.walk(case.folder):
        for entry in folders + names:
            full = os.path.join(path, entry)
            os.chmod(full, 0o755 if os.path.isdir(full) else 0o644)
    os.chmod(case.folder, 0o755)
    before = files_of(case.folder)
    result = case.run(case.old, prefix=user)
    assert result.returncode == 1 and ("rights" in result.stderr or "can be written" in result.stderr), (name, result.stderr)
    assert files_of(case.folder) == before
    assert not os.path.exists(case.path("w.demur-wal")) and not os.path.exists(case.path("w.demur-shm"))
    case = Case(bench, name)
    os.mkdir(case.path("open"))
    case.put("open/target" + case.ending)
    link = case.path("open/link" + case.ending)
    os.symlink("target" + case.ending, link)
    os.lchown(link, 65534, 65534)
    os.chmod(case.path("open"), 0o1777)
    refused(case, case.run("open/link" + case.ending), "another user's link")
    assert case.read("open/target" + case.ending) == b"old"


def a_sticky_folder(bench, name, whole):
    """Where all may write and nobody may replace another's: a new file is one's own, another user's stays."""
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    open_to_all(bench.folder)
    for theirs in (False, True):
        case = Case(bench, name)
        for path in (case.folder, case.path("w.demur")):
            os.chown(path, 65534, 65534)
        os.mkdir(case.path("open"))
        os.chmod(case.path("open"), 0o1777)
        output = "open/" + case.old
        if theirs:
            case.put(output)
            os.chmod(case.path(output), 0o666)
        result = case.run(output, prefix=user)
        left = [file for file in os.listdir(case.path("open")) if is_part(file)]
        assert not left, (name, left)
        if theirs:
            refused(case, result, "rights")
            assert case.read(output) == b"old"
        else:
            assert result.returncode == 0, (name, result.stderr)
            assert case.read(output) == whole and os.stat(case.path(output)).st_uid == 65534


def a_full_disk(bench, name, whole):
    """No room for the first byte, for the name, or for anything: told with what to do, and nothing is left."""
    for at, there in ((1, True), (2, False), (3, True)):
        case = Case(bench, name)
        os.mkdir(case.path("small"))
        output = case.path("small/" + case.old)
        if there:
            case.put("small/" + case.old)
        result = case.run(output, LD_PRELOAD=os.path.abspath(sys.argv[3]), FAULT_ROOT=case.path("small"), FAULT_KIND="full", FAULT_AT=str(at))
        refused(case, result, "can't be written", "No space left on device", "make room")
        assert os.listdir(case.path("small")) == ([case.old] if there else []), (name, at)
        assert not there or case.read("small/" + case.old) == b"old", (name, at)
        assert rows_of(case.folder) is not None


def a_limit_on_the_size_of_files(bench, name, whole):
    """As `ulimit -f` sets one: the write fails, and no signal ends the program."""
    if len(whole) < 3000 or not shutil.which("prlimit"):
        return
    case = Case(bench, name)
    case.put(case.old)
    result = case.run(case.old, prefix=["prlimit", "--fsize=2000"])
    assert result.returncode == 1 and result.stderr.startswith("demur: "), (name, result.returncode, result.stderr)
    assert case.read(case.old) == b"old", name
    assert not [entry for entry in os.listdir(case.folder) if is_part(entry)], name
    assert rows_of(case.folder) is not None, name


def into(bench, name, output):
    """Its words with another folder."""
    old = {"dicom deidentify": "copies", "demo": "demo"}.get(name, "inbox")
    words = list({**commands_of(bench), **DEMO}[name])
    words[len(words) - 1 - words[::-1].index(old)] = output
    return words


def what_can_stand_at_a_folders_name(bench, name):
    """A file, a pipe, a device, a link to one or to nothing: told, and left as it was."""
    folder = bench.copy()
    path = lambda entry: os.path.join(folder, entry)
    with open(path("file"), "w", encoding="utf-8") as file:
        file.write("old")
    os.mkfifo(path("fifo"))
    os.symlink("file", path("link"))
    os.symlink("nowhere", path("dangling"))
    for output in ("file", "fifo", "/dev/null", "link", "dangling", "file/below", "n" * 300):
        result = bench.run(folder, into(bench, name, output))
        assert result.returncode == 1 and output.split("/")[0][:255] in result.stderr, (name, output, result.returncode, result.stderr)
        with open(path("file"), encoding="utf-8") as file:
            assert file.read() == "old", (name, output)
        assert stat.S_ISFIFO(os.stat(path("fifo")).st_mode) and stat.S_ISCHR(os.stat("/dev/null").st_mode)
        assert not os.path.lexists(path("nowhere")), (name, output)
        assert not [entry for entry in os.listdir(folder) if is_part(entry)], (name, output)


def folders_of_every_name_and_umask(bench, name):
    """A line break, a turn of direction and 255 bytes in the name; closed to others whatever the umask."""
    for mask, output in ((0o000, "new\nline"), (0o022, "n" * 255), (0o077, "\u202ename"), (0o022, "deep/er")):
        folder = bench.copy()
        before = os.umask(mask)
        try:
            result = bench.run(folder, into(bench, name, output))
        finally:
            os.umask(before)
        assert result.returncode == 0, (name, output, result.stderr)
        assert "\u202e" not in result.stdout + result.stderr
        n = 0
        for path, folders, names in os.walk(os.path.join(folder, output)):
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o700, (name, oct(mask), path, oct(os.stat(path).st_mode))
            for entry in names:
                n += entry.endswith(".dcm")
                assert stat.S_IMODE(os.stat(os.path.join(path, entry)).st_mode) == 0o600, (name, oct(mask), entry)
        assert n >= 3, (name, output)


def a_folder_of_another_user(bench, name):
    """One that may only be read: told, and nothing is left in it."""
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    folder = bench.copy()
    open_to_all(bench.folder)
    os.mkdir(os.path.join(folder, "theirs"))
    os.chmod(os.path.join(folder, "theirs"), 0o755)
    os.chown(folder, 65534, 65534)
    os.chown(os.path.join(folder, "w.demur"), 65534, 65534)
    for output in ("theirs", "theirs/below"):
        result = subprocess.run([*user, *bench.program(into(bench, name, output)), *(["--port", "11999", "--once"] if name == "dicom receive" else [])],
                                cwd=folder, env=bench.environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
                                stdin=subprocess.DEVNULL)
        assert result.returncode == 1 and "theirs" in result.stderr, (name, output, result.returncode, result.stderr)
        assert os.listdir(os.path.join(folder, "theirs")) == [], (name, output)


def a_killed_demo_leaves_the_one_before(bench):
    """And a demo that fails; what stood in its folder is not touched before the new one is whole."""
    for ending in ("kill", "interrupt"):
        folder = bench.copy()
        demo = os.path.join(folder, "demo")
        os.makedirs(os.path.join(demo, "dicom", "study-01"))
        shutil.copy(os.path.join(folder, "w.demur"), os.path.join(demo, "workspace.demur"))
        for name in ("report.pdf", "phantom-scores.csv", "mine.txt", "dicom/study-01/slice-001.dcm"):
            with open(os.path.join(demo, name), "w", encoding="utf-8") as file:
                file.write("old")
        before = files_of(demo), rows_of(demo)
        program = subprocess.Popen([bench.demur, "--quiet", "demo", "--replace", demo], cwd=folder, env=bench.environment(folder),
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in program.stdout:  # the first step is done
            if line.startswith("$ demur train"):
                break
        program.send_signal(signal.SIGKILL if ending == "kill" else signal.SIGINT)
        program.stdout.close()
        assert program.wait(PATIENCE) != 0
        left = {name: digest for name, digest in files_of(demo).items() if not is_part(name)}
        assert (left, rows_of(demo)) == before, ending
        assert ending == "kill" or files_of(demo) == before[0], "a demo that was interrupted left something"


def read_only_workspace(bench):
    """Another user reads, verifies and exports from an archived copy, and leaves nothing beside it."""
    case = Case(bench, "export csv")
    os.chmod(bench.folder, 0o755)
    os.chmod(case.folder, 0o1777)
    os.chmod(case.path("w.demur"), 0o644)
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    for words in (["verify"], ["cohort", "list"], ["cohort", "show", "c"], ["selector", "list"], ["dicom", "list"],
                  ["export", "theirs.csv", "--cohort", "c"]):
        result = subprocess.run([*user, bench.demur, "--workspace", "w.demur", *words], cwd=case.folder, env=bench.environment(),
                                capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert result.returncode == 0, (words, result.stderr)
        assert not os.path.exists(case.path("w.demur-wal")) and not os.path.exists(case.path("w.demur-shm")), words
    assert stat.S_IMODE(os.stat(case.path("theirs.csv")).st_mode) == 0o600
    assert bench.run(case.folder, ["tune", "s", "--cohort", "c", "--coverage", "0.5"]).returncode == 0, "the owner is locked out"
    assert rows_of(case.folder) is not None


def a_read_only_medium(bench):
    """A disk that nobody can write to, not the administrator either, as an archived copy lies on one. False where none can be made."""
    case = Case(bench, "export csv")
    mounted = ["unshare", "-m", "sh", "-c", 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"', "sh"]
    if subprocess.run([*mounted, "true"], cwd=case.folder, capture_output=True, check=False).returncode != 0:
        return False
    for words, said in (["verify"], None), (["cohort", "show", "c"], None), (["dicom", "list"], None), \
            (["export", "-", "--format", "csv", "--cohort", "c"], None), (["export", "out.csv", "--cohort", "c"], "Read-only file system"), \
            (["tune", "s", "--cohort", "c", "--coverage", "0.5"], "open for reading only"):
        before = sorted(os.listdir(case.folder))
        result = subprocess.run([*mounted, bench.demur, "--workspace", "w.demur", *words], cwd=case.folder, env=bench.environment(),
                                capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert result.returncode == (1 if said else 0) and (said or "") in result.stderr, (words, result.returncode, result.stderr)
        assert sorted(os.listdir(case.folder)) == before, words
    return True


def inputs_that_never_end(bench):
    folder = bench.copy()
    os.mkfifo(os.path.join(folder, "fifo"))
    for path in ("fifo", "/dev/zero", folder):
        result = subprocess.run([bench.demur, "--workspace", path, "cohort", "list"], cwd=folder, env=bench.environment(),
                                capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert result.returncode == 1 and "--workspace" in result.stderr, (path, result.stderr)


INPUTS = {
    "cohort import FILE": ["cohort", "import", "x", "IT", "--model", "m"],
    "cohort import --columns": ["cohort", "import", "x", "cohort.csv", "--model", "m", "--columns", "IT"],
    "cohort import --embeddings": ["cohort", "import", "x", "cohort.csv", "--model", "m", "--embeddings", "IT"],
    "cohort import --embedding-ids": ["cohort", "import", "x", "cohort.csv", "--model", "m", "--embeddings", "e.npy",
                                      "--embedding-ids", "IT"],
    "cohort import --nlst-persons": ["cohort", "import", "x", "--nlst-persons", "IT", "--scores", "nlst.csv"],
    "cohort import --scores": ["cohort", "import", "x", "--nlst-persons", "nlst.csv", "--scores", "IT"],
    "cohort import --nlst-images": ["cohort", "import", "x", "--nlst-persons", "nlst.csv", "--scores", "nlst.csv", "--nlst-images", "IT"],
    "cohort attach --rename": ["cohort", "attach", "d", "more.csv", "--key", "patient_id", "--rename", "IT"],
    "scores import --columns": ["scores", "import", "scores.csv", "--model", "m", "--columns", "IT"],
    "audit apply --columns": ["audit", "apply", "s", "audit.csv", "--columns", "IT"],
    "accept run --columns": ["accept", "run", "s", "accept.csv", "--columns", "IT"],
    "watch labels --columns": ["watch", "labels", "accept.csv", "--columns", "IT"],
    "shift --mix-table": ["shift", "s", "--cohort", "c", "--mix-table", "IT"],
    **{f"dicom {command} --tls-{kind}": ["dicom", command, *words, *(word for other in ("ca", "cert", "key") for word in
                                         (f"--tls-{other}", "IT" if other == kind else "audit.csv"))]
       for command, words in (("echo", ["127.0.0.1:1"]), ("query", ["127.0.0.1:1"]), ("send", ["127.0.0.1:1", "in"]),
                              ("receive", ["inbox"])) for kind in ("ca", "cert", "key")},
    "dicom query --login": ["dicom", "query", "https://127.0.0.1:1", "--login", "IT"],
    "dicom send --login": ["dicom", "send", "https://127.0.0.1:1", "in", "--login", "IT"],
    "dicom retrieve --login": ["dicom", "retrieve", "https://127.0.0.1:1", "inbox", "--study", "1.2", "--login", "IT"],
    "cohort attach FILE": ["cohort", "attach", "d", "IT", "--key", "patient_id"],
    "dicom import PATH": ["dicom", "import", "IT"],
    "dicom import --rules": ["dicom", "import", "in", "--rules", "IT"],
    "dicom import --site-map": ["dicom", "import", "in", "--site-map", "IT"],
    "dicom rules --rules": ["dicom", "rules", "--rules", "IT"],
    "dicom deidentify IN": ["dicom", "deidentify", "IT", "copies"],
    "dicom deidentify --key": ["dicom", "deidentify", "in", "copies", "--key", "IT"],
    "dicom receive --rules": ["dicom", "receive", "inbox", "--rules", "IT"],
    "dicom receive --site-map": ["dicom", "receive", "inbox", "--site-map", "IT"],
    "dicom send PATH": ["dicom", "send", "127.0.0.1:1", "IT"],
    "scores import FILE": ["scores", "import", "IT", "--model", "m"],
    "scores import FILE as JSON": ["scores", "import", "IT", "--model", "m", "--scan", "SCAN"],
    "scores import --map": ["scores", "import", "scores.json", "--model", "m", "--map", "IT"],
    "selector import FILE": ["selector", "import", "x", "IT"],
    "report verify FILE": ["report", "verify", "IT.pdf"],
    "export --pdf": ["export", "out.dcm", "--scan", "SCAN", "--format", "pdf", "--pdf", "IT"],
    "audit apply FILE": ["audit", "apply", "s", "IT"],
    "accept run FILE": ["accept", "run", "s", "IT"],
    "watch labels FILE": ["watch", "labels", "IT"],
    "train FILE": ["train", "t", "--cohort", "c", *QUICK, *SEARCH, "--merge", "t1.json", "IT"],
    "federate answer ROUND": ["federate", "answer", "IT", "--as", "a", "--cohort", "c"],
    "federate answer --ledger": ["federate", "answer", "round.json", "--as", "a", "--cohort", "c", "--ledger", "IT"],
    "federate merge ROUND": ["federate", "merge", "IT", "round-a.json", "round-b.json", "-o", "x.json"],
    "federate merge ANSWER": ["federate", "merge", "round.json", "IT", "round-b.json", "-o", "x.json"],
    "federate show ANSWER": ["federate", "show", "round.json", "IT"],
    "federate install RESULT": ["federate", "install", "IT", "x"],
    "federate show ROUND": ["federate", "show", "IT"],
    "evaluate FILE": ["evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "100", "--merge", "e1.json", "IT"],
    "validate FILE": ["validate", "s", "--cohort", "c", "--folds", "2", "--merge", "v1.json", "IT"],
}
LIMITED = {"dicom echo --tls-ca": 1, "dicom receive --tls-key": 1, "dicom import --rules": 1, "dicom rules --rules": 1, "dicom receive --rules": 1, "dicom deidentify --key": 1,
           "scores import FILE as JSON": 512, "scores import --map": None, "selector import FILE": 512, "report verify FILE": 256,
           "export --pdf": 256, "cohort import --embeddings": None}


def inputs_are_files_of_bounded_size(bench):
    """No input waits for a FIFO's writer, reads a device, or asks memory for a file that is too large for its kind."""
    folder = bench.copy()
    with open(os.path.join(folder, "scores.json"), "w", encoding="utf-8") as file:
        file.write('{"a": {"risk": 0.5}}')
    with open(os.path.join(folder, "nlst.csv"), "w", encoding="utf-8") as file:
        file.write("pid\n1\n")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (60, 1), }"
    with open(os.path.join(folder, "e.npy"), "wb") as file:
        file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(240))
    for name, words in INPUTS.items():
        for ending in ("", ".pdf"):
            os.mkfifo(os.path.join(folder, "fifo" + ending)) if not os.path.lexists(os.path.join(folder, "fifo" + ending)) else None
        for it in ("fifo", "/dev/zero", "/dev/random", "large"):
            if it == "large":
                size = LIMITED.get(name)
                if size is None:
                    continue
                for ending in ("", ".pdf"):
                    with open(os.path.join(folder, it + ending), "wb") as file:
                        file.truncate((size << 20) + 1)
            if it.startswith("/") and name == "report verify FILE":
                continue  # its name says that it is no PDF
            actual = [word.replace("IT", it) if word in ("IT", "IT.pdf") else bench.scan if word == "SCAN" else word for word in words]
            limit = ["prlimit", f"--as={3 << 30}"] if shutil.which("prlimit") else []
            result = subprocess.run([*limit, bench.demur, "--workspace", "w.demur", "--quiet", "--threads", "1", *actual], cwd=folder,
                                    env=bench.environment(), capture_output=True, text=True, check=False, timeout=PATIENCE,
                                    stdin=subprocess.DEVNULL)
            assert result.returncode == 1, (name, it, result.returncode, result.stderr)
            said = result.stdout + result.stderr
            if it == "large":
                assert "larger than" in said, (name, said)
            else:
                assert "not a regular file" in said or "device, pipe or socket" in said, (name, it, said)
    assert rows_of(folder) is not None


def every_path_is_in_a_table(bench):
    """What a command's help calls a file or folder is tried here: one that is new and in no table fails."""
    tried = {name.replace(" as JSON", "") for name in INPUTS}
    # Over https certificates are read by libcurl, once a server answers: not tried here.
    tried |= {f"dicom retrieve --tls-{kind}" for kind in ("ca", "cert", "key")}
    tried |= {f"{name} {word}" for name, word in FOLDERS.items()}
    tried.add("workspace backup FILE")  # takes only a name that is free: tests/commands, where there is a file already
    tried |= {option_of(bench, name) for name in outputs_of(bench) if not name.startswith("window ")}
    found = set(bench.paths_of_help())
    assert found == tried, f"only in the help: {sorted(found - tried)}; only here: {sorted(tried - found)}"


def what_is_shown_steers_no_terminal(bench):
    """Texts of a selector's file, of tables and of names, on standard output and standard error."""
    folder = bench.copy()
    with open(os.path.join(folder, "odd.csv"), "w", encoding="utf-8") as file:
        file.write("patient_id,site,split,label,risk,\u202ename\n" +
                   "".join(f"\u202eTXEN{i},S\u2066{i % 3},test,{i % 2},0.{i % 9 + 1},x\u202d\n" for i in range(60)))
    runs = [["cohort", "import", "odd", "odd.csv", "--model", "m\u202em"], ["cohort", "show", "odd"], ["cohort", "list"],
            ["cohort", "show", "\x1b[31mred\a"], ["selector", "import", "x", "\u202e.json"], ["frob\x1b[2J"],
            ["export", "o.csv", "--cohort", "\u202e"], ["cohort", "import", "\u202ex", "odd.csv"]]
    for words in runs:
        for form in ([], ["--json"]):
            result = bench.run(folder, [*words, *form])
            for character in ("\x1b", "\a", "\u202e", "\u202d", "\u2066"):
                assert character not in result.stdout + result.stderr, (words, form, result.stdout, result.stderr)


def hostile_names_on_paper_and_in_files(bench):
    """A patient's ID and name that would turn the order of what is read, in every output that may tell them."""
    folder = bench.copy()
    for path, _, names in os.walk(os.path.join(folder, "in")):
        for name in names:
            with open(os.path.join(path, name), "r+b") as file:
                text = file.read()
                odd = text.replace(b"PHANTOM-1", "\u202eNEXT07".encode())
                odd = odd.replace(b"Simulated^Phantom", "\u202eTXEN^70\u2066<b>x".encode())
                assert odd != text and len(odd) == len(text)
                file.seek(0)
                file.write(odd)
    words = ["--workspace", "odd.demur"]
    for command in (["cohort", "import", "c", "c.csv", "--model", bench.model], ["selector", "import", "s", "s.json"],
                    ["tune", "s", "--cohort", "c", "--coverage", "0.9"], ["dicom", "import", "in"],
                    ["scores", "import", "scores.csv", "--model", bench.model], ["assess", "s", "--all"],
                    ["report", "patient", "p.pdf", "--scan", bench.scan], ["report", "verify", "p.pdf"], ["dicom", "show", bench.scan],
                    ["dicom", "list"], ["export", "v.csv"], ["export", "v.json"], ["export", "sr.dcm", "--scan", bench.scan],
                    ["log"]):
        result = bench.run(folder, [*command, *words])
        assert result.returncode == 0, (command, result.stderr)
        for character in "\u202e\u2066":
            assert character not in result.stdout + result.stderr, (command, result.stdout)
    for name in ("p.json", "v.csv", "v.json"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        assert "NEXT07" in text, name
        assert "\u202e" not in text and "\u2066" not in text, name
    with open(os.path.join(folder, "p.json"), encoding="utf-8") as file:
        assert "\u202eNEXT07" in json.dumps(json.load(file), ensure_ascii=False), "the identifier itself is kept"
    if shutil.which("pdftotext"):
        page = subprocess.run(["pdftotext", os.path.join(folder, "p.pdf"), "-"], capture_output=True, text=True, check=True).stdout
        assert "[U+202E]NEXT07" in page and "\u202e" not in page and "TXEN" not in page.replace("[U+202E]TXEN", ""), page
    with open(os.path.join(folder, "sr.dcm"), "rb") as file:  # goes back to the archive under the archive's own identifier
        assert "\u202eNEXT07".encode() in file.read()


def a_receiver_that_could_not_keep_all_says_so(bench):
    """Also where it is ended by hand: what was refused for want of room, and did not come again."""
    folder = bench.copy()
    inbox = os.path.join(folder, "inbox")  # whole: a relative name counts as below the root
    words = [inbox if word == "inbox" else word for word in commands_of(bench)["dicom receive"]]
    result = bench.run(folder, words, LD_PRELOAD=os.path.abspath(sys.argv[3]), FAULT_KIND="full", FAULT_AT="1",
                       FAULT_ROOT=os.path.join(inbox, bench.study))
    assert not bench.received and result.returncode == 1 and "were not sent again: 3; make room" in result.stderr, (result.returncode, result.stderr)


def a_patient_is_not_in_the_list_of_programs(bench):
    with socket.socket() as archive:
        archive.bind(("127.0.0.1", 0))
        archive.listen(1)
        peer = f"127.0.0.1:{archive.getsockname()[1]}"
        for words in (["--patient", "PAT-0815"], ["--patient=PAT-0815"], ["--patient", "-"], ["--accession", "PAT-0815"]):
            program = subprocess.Popen([bench.demur, "--workspace", "w.demur", "dicom", "query", peer, "--called", "A", *words],
                                       cwd=bench.template, env=bench.environment(), stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            program.stdin.write(b"PAT-0815\n")
            program.stdin.close()
            connection, _ = archive.accept()
            with open(f"/proc/{program.pid}/cmdline", "rb") as file:
                assert b"PAT-0815" not in file.read(), words
            connection.close()
            program.wait(PATIENCE)


SOME = 3  # shares no factor with the number of things tried: in turn each command meets others


def tried_of(at, tests, some):
    """Which of them the command at that place of the table meets."""
    return [tests[(at * SOME + i) % len(tests)] for i in range(SOME)] if some else tests


def main():
    skipped = []
    some = "--some" in sys.argv
    only = [word for word in sys.argv[4:] if not word.startswith("-")]  # names of the tables
    with tempfile.TemporaryDirectory(prefix="demur-outputs-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        bench = Bench(sys.argv[1], sys.argv[2], folder)
        as_root = os.geteuid() == 0 and shutil.which("setpriv")
        tests = [existing_files_links_and_folders, what_no_output_replaces, names_of_every_kind_and_rights, streams, a_full_disk,
                 a_limit_on_the_size_of_files, another_user, a_sticky_folder]
        for at, name in enumerate(only or outputs_of(bench)):
            if name in FOLDERS:
                continue
            whole = reference(bench, name)
            for test in tried_of(at, tests, some):
                if as_root or test not in (another_user, a_sticky_folder):
                    test(bench, name, whole)
            print(f"{name}: right", flush=True)
        for name in [name for name in FOLDERS if not only or name in only]:
            what_can_stand_at_a_folders_name(bench, name)
            if name != "demo":
                folders_of_every_name_and_umask(bench, name)
            if as_root:
                a_folder_of_another_user(bench, name)
            print(f"{name}: right", flush=True)
        if only:
            return
        a_killed_demo_leaves_the_one_before(bench)
        standard_output_that_is_full(bench)
        every_path_is_in_a_table(bench)
        inputs_that_never_end(bench)
        inputs_are_files_of_bounded_size(bench)
        what_is_shown_steers_no_terminal(bench)
        hostile_names_on_paper_and_in_files(bench)
        a_patient_is_not_in_the_list_of_programs(bench)
        a_receiver_that_could_not_keep_all_says_so(bench)
        if as_root:
            read_only_workspace(bench)
            if not a_read_only_medium(bench):
                skipped.append("a read-only medium (takes the right to mount)")
        else:
            skipped.append("another user (takes root and setpriv)")
    for what in skipped:
        print(f"skipped: {what}")
    sys.exit(77 if skipped else 0)


main()
