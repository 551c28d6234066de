#!/usr/bin/env python3
"""packaging/wrappers/sybil with a stand-in for Sybil, which writes what Sybil writes: six yearly risks, and
embeddings. usage: test-sybil.py WRAPPER DEMUR. The stand-in's own numbers are the right ones."""
import collections
import csv
import os
import pickle
import subprocess
import sys
import tempfile

wrapper, demur = sys.argv[1:3]
folder = tempfile.TemporaryDirectory()
here = folder.name

STAND_IN = '''
import collections
Prediction = collections.namedtuple("Prediction", "scores attentions embeddings", defaults=(None, None))
Prediction.__module__ = "sybil"
class Serie:
    def __init__(self, files):
        self.files = files
class Sybil:
    def __init__(self, name):
        self.name = name
    def predict(self, series):
        n = len(series[0].files)
        return Prediction([[n / 100 + k / 1000 for k in range(6)]], None, [[float(n), 0.5]])
'''
os.makedirs(os.path.join(here, "sybil"))
with open(os.path.join(here, "sybil", "__init__.py"), "w") as file:
    file.write(STAND_IN)
environment = dict(os.environ, PYTHONPATH=here)
sys.path.insert(0, here)
import sybil  # noqa: E402


def path(name):
    return os.path.join(here, name)


def call(*words, status=0, says=""):
    words = ((sys.executable,) if words[0] == wrapper else ()) + words
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    assert says in done.stdout + done.stderr, (words, says, done.stdout, done.stderr)
    return done.stdout


def dump(name, thing):
    with open(path(name), "wb") as file:
        pickle.dump(thing, file)
    return path(name)


def table(name):
    with open(path(name), newline="") as file:
        return list(csv.reader(file))


RISKS = [[0.01 * (i + 1) + 0.001 * k for k in range(6)] for i in range(3)]
VECTORS = [[float(i), -0.5, 1e-3] for i in range(3)]

# A Prediction, with and without embeddings; the series come from a list.
with open(path("series.txt"), "w") as file:
    file.write("1.1\n1.2\n1.3\n")
for name, thing, width in (("a", sybil.Prediction(RISKS), 0), ("b", sybil.Prediction(RISKS, None, VECTORS), 3)):
    call(wrapper, "convert", dump(name + ".pkl", thing), path(name + ".csv"), "--series", path("series.txt"))
    rows = table(name + ".csv")
    assert rows[0] == ["series_uid"] + ["risk_year_%d" % k for k in range(1, 7)] + ["emb_%d" % k for k in range(width)]
    for i in range(3):
        assert rows[i + 1][0] == "1.%d" % (i + 1)
        assert [float(x) for x in rows[i + 1][1:7]] == RISKS[i]
        assert [float(x) for x in rows[i + 1][7:]] == VECTORS[i][:width]

# --save_predictions: a dictionary with a prefix, exams in batches; numpy where it is there.
saved = collections.OrderedDict(test_exam=[["1.1", "1.2"], ["1.3"]], test_golds=[0, 1, 0], test_probs=RISKS,
                                test_hidden=VECTORS)
call(wrapper, "convert", dump("c.pkl", saved), path("c.csv"))
assert table("c.csv") == table("b.csv")
try:
    import numpy
    saved["test_probs"], saved["test_hidden"] = numpy.array(RISKS), numpy.array(VECTORS)
    call(wrapper, "convert", dump("d.pkl", saved), path("d.csv"))
    assert table("d.csv") == table("b.csv")
except ImportError:
    print("numpy is not there: arrays are not tried")


# What is refused: anything that would run, other widths, numbers that are none, series that don't fit.
class Runs:
    def __reduce__(self):
        return os.system, ("touch " + path("ran"),)


for thing, says in ((Runs(), "not read"), ([1], "not a Prediction"), ({"probs": [[0.5]]}, "1 numbers"),
                    ({"x": 1}, "no member that ends in probs"),
                    ({"probs": [[float("nan")] * 6], "exam": ["1"]}, "not finite"),
                    ({"probs": RISKS}, "names no series"), ({"probs": RISKS, "exam": ["1", "1", "2"]}, "different"),
                    ({"probs": RISKS, "exam": ["1"]}, "1 names for 3 scores")):
    call(wrapper, "convert", dump("x.pkl", thing), path("x.csv"), status=1, says=says)
    assert not os.path.exists(path("x.csv"))
assert not os.path.exists(path("ran"))
with open(path("cut.pkl"), "wb") as file:
    file.write(pickle.dumps(saved)[:-20])
call(wrapper, "convert", path("cut.pkl"), path("x.csv"), status=1, says="cut.pkl")

# A run as `demur scores run` calls it, and its table as `demur scores import` reads it: no series of
# that name here, so all three rows are read and unmatched.
os.makedirs(path("series"))
os.makedirs(path("output"))
for i in range(4):
    open(os.path.join(path("series"), "%04d.dcm" % i), "w").close()
call(wrapper, "run", path("series"), path("output"))
with open(os.path.join(path("output"), "scores.json")) as file:
    import json
    document = json.load(file)
assert document == {"risks": [0.04 + k / 1000 for k in range(6)], "embedding": [4.0, 0.5]}, document
call(demur, "--workspace", path("w.demur"), "cohort", "simulate", "s", "--scans", "100", "--sites", "3",
     "--base-train", "100", "--tune", "100", "--test", "100", "--quiet")
text = call(demur, "--workspace", path("w.demur"), "scores", "import", path("b.csv"), "--model", "sybil", "--json",
            status=1)
assert json.loads(text[:text.index("\n}") + 2])["unmatched"] == ["1.1", "1.2", "1.3"], text
print("ok")
