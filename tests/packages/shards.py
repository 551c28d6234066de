"""Shards of validate, search, train and evaluate: 25 parts in a mixed order are the bytes of one run; parts that are hostile
(cut, edited and sealed anew, of another cohort, seed, kernel or program, no file at all) are refused by the name of the file,
and the workspace stays byte for byte what it was.

shards.py DEMUR
"""
import base64
import hashlib
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

demur = os.path.abspath(sys.argv[1])
N = 25
SMALL = ["--epochs", "1", "--datasets-per-epoch", "32", "--dataset-size", "64", "--batch", "8", "--kappa", "2"]
NEW = ["--replace"]
KINDS = {
    "validate": ["validate", "s", "--cohort", "c", "--folds", "25"],
    "search": ["train", "u", "--cohort", "c", *SMALL, "--average", "1", "--search-grid", "kernel_width=0.1,0.2,0.3,0.4,0.5", *NEW],
    "train": ["train", "t", "--cohort", "c", "--method", "network", *SMALL, "--models", "5", "--average", "5", *NEW],
    "evaluate": ["evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "50", "--group-by", "site"],
}
PAYLOAD = {"train": "checkpoint", "evaluate": "numbers"}


def run(*words, status=0):
    result = subprocess.run([demur, "--workspace", "w.demur", "--quiet", "--threads", "1", *words], capture_output=True, text=True,
                            errors="replace", check=False)
    assert result.returncode == status, (words, result.returncode, result.stderr)
    return result


def said(*words):
    """What one document says, but for the clock."""
    document = json.loads(run("--json", *words).stdout)
    return json.dumps({key: value for key, value in document.items() if key != "seconds"}, sort_keys=True)


def sealed(text):
    """With the digest that its content has, as who edits a part on purpose computes it."""
    body = re.sub(r'\n *"digest": "[0-9a-f]{64}",', "", text, count=1)
    digest = hashlib.sha256(body.encode()).hexdigest()
    return re.sub(r'("digest": ")[0-9a-f]{64}', lambda found: found.group(1) + digest, text, count=1)


def member(text, name, value):
    changed, n = re.subn(rf'("{name}": )("[^"]*"|\d+)', lambda found: found.group(1) + value, text, count=1)
    assert n == 1, name
    return sealed(changed)


def first_of(text, name, value):
    """The first element of an array of numbers changed."""
    changed, n = re.subn(rf'("{name}": \[\s*)[0-9.e-]+', lambda found: found.group(1) + value, text, count=1)
    assert n == 1, name
    return sealed(changed)


def hostile_folds(text):
    for name in ("scores", "risks"):
        for value in ("null", "1e999", "-0.1", "1.5", '"x"', "[]", "0.5, 0.5"):
            yield f"{name} {value}", first_of(text, name, value)
    for value in ("99", "18446744073709551615"):
        yield f"fold {value}", member(text, "fold", value)
        yield f"trial {value}", member(text, "trial", value)
    for value in ("99", "0, 0, 0, 0, 0, 0", "-1"):
        yield f"failed {value}", sealed(re.sub(r'"failed": \[\s*\]', f'"failed": [{value}]', text, count=1))


def hostile_bytes(text, name):
    whole = base64.b64decode(re.search(rf'"{name}": "([^"]*)"', text).group(1))

    def put(data):
        return member(text, name, f'"{base64.b64encode(data).decode()}"')
    assert put(whole) == text
    for n in (0, 1, 8, 100, len(whole) // 2, len(whole) - 1):
        yield f"{n} of {len(whole)} bytes", put(whole[:n])
    yield "8 bytes more", put(whole + b"\0" * 8)
    yield "no base64", member(text, name, '"$$$$"')
    for value in ("0", "99", "1000000000000"):
        if name == "numbers":
            yield f"shard {value}", member(text, "shard", value)
            yield f"shards {value}", member(text, "shards", value)


def hostile_texts(kind, text):
    for share in (0, .25, .5, .999):
        yield f"cut at {share}", text[:int(len(text) * share)]
    for name in ("seed", "cohort_digest", "settings", "kernel", "program", "kind", "format"):
        yield f"another {name}", member(text, name, '"other"')
    yield "another version", member(text, "version", "99")
    yield "a member more", sealed(text.replace('"format"', '"more": 1,\n "format"', 1))
    yield "twice", text + text
    yield "deep", "[" * 100000
    yield "a NUL", text.replace('"kernel"', '"ker\0nel"', 1)
    yield from hostile_bytes(text, PAYLOAD[kind]) if kind in PAYLOAD else hostile_folds(text)


def bytes_of_workspace():
    return hashlib.sha256(b"".join(open(name, "rb").read() for name in ("w.demur", "w.demur-wal") if os.path.exists(name))).hexdigest()


def refuses(kind, what, names, bad):
    before = bytes_of_workspace()
    words = ["--json", *KINDS[kind], "--merge", *names]
    result = subprocess.run([demur, "--workspace", "w.demur", "--quiet", "--threads", "1", *words], capture_output=True, text=True,
                            errors="replace", check=False)
    assert result.returncode == 1, (kind, what, result.returncode, result.stdout[:200], result.stderr[:400])
    assert bad in result.stderr, (kind, what, result.stderr)
    assert bytes_of_workspace() == before, (kind, what)


def hostile(kind, names):
    text = open(f"{kind}2", encoding="utf-8").read()
    assert sealed(text) == text
    others = [name for name in names if name != f"{kind}2"]
    for what, changed in hostile_texts(kind, text):
        assert changed != text, what
        with open("bad", "w", encoding="utf-8", newline="") as file:
            file.write(changed)
        refuses(kind, what, [*others[:3], "bad", *others[3:]], "bad")
    os.remove("bad")
    os.mkdir("folder")
    os.symlink("nowhere", "link")
    os.symlink("loop", "loop")
    os.mkfifo("pipe")
    with open("sparse", "wb") as file:
        file.truncate(2 << 30)
    for name in ("folder", "link", "loop", "pipe", "sparse", "none", "w.demur", "/dev/zero", others[0]):
        refuses(kind, name, [*others, name], name)
    refuses(kind, "one that lacks", others, "")
    if os.geteuid() != 0:
        os.chmod(f"{kind}2", 0)
        refuses(kind, "no permission", names, f"{kind}2")
        os.chmod(f"{kind}2", 0o600)
    os.rmdir("folder")
    for name in ("link", "loop", "pipe", "sparse"):
        os.remove(name)


def damaged_numbers(names):
    """Numbers that no run came to, sealed anew: taken or refused, and nothing worse."""
    draw = random.Random(7)
    for kind, name in PAYLOAD.items():
        text = open(f"{kind}2", encoding="utf-8").read()
        whole = base64.b64decode(re.search(rf'"{name}": "([^"]*)"', text).group(1))
        for n in range(24):
            data = bytearray(whole)
            at = draw.randrange(min(len(data) - 8, (400, len(data))[n % 2]))
            data[at:at + 8] = struct.pack("d", draw.choice((float("nan"), float("inf"), -1e300, 1e300, -1., 5e-324))) if n % 3 else draw.randbytes(8)
            with open("bad", "w", encoding="utf-8") as file:
                file.write(member(text, name, f'"{base64.b64encode(bytes(data)).decode()}"'))
            words = [*KINDS[kind], "--merge", *(other for other in names[kind] if other != f"{kind}2"), "bad"]
            result = subprocess.run([demur, "--workspace", "w.demur", "--quiet", "--threads", "1", *words], capture_output=True, check=False)
            assert result.returncode in (0, 1), (kind, at, result.returncode, result.stderr)
    run("verify")


def main():
    os.chdir(tempfile.mkdtemp())
    run("--seed", "2", "cohort", "simulate", "c", "--scans", "1500", "--base-train", "400", "--sites", str(N), "--tune", "300", "--test", "300")
    run("train", "s", "--cohort", "c", "--method", "confidence")
    run("tune", "s", "--cohort", "c", "--coverage", "0.8")
    draw, names = random.Random(5), {}
    for kind, words in KINDS.items():
        whole = said(*words)
        names[kind] = [f"{kind}{i}" for i in range(1, N + 1)]
        for i in draw.sample(range(1, N + 1), N):
            run(*words, "--shard", f"{i}/{N}", "--part", f"{kind}{i}")
        mixed = draw.sample(names[kind], N)
        merged = said(*words, "--merge", *mixed)
        assert merged == whole, f"{kind}: {N} parts in the order {mixed} are not one run"
        hostile(kind, names[kind])
        print(f"{kind}: {hashlib.sha256(whole.encode()).hexdigest()[:16]} by one run and by {N} parts; hostile ones refused", flush=True)
    damaged_numbers(names)
    folder = os.getcwd()
    os.chdir("/")
    shutil.rmtree(folder)


main()
