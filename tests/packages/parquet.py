"""packaging/python/demur/parquet_to_csv.py: what it makes of a Parquet file is the cohort that the same rows are as CSV.

With pyarrow where it is installed, else with a stand-in that answers the four calls that are made of it (Debian 12 has no pyarrow); which
one is printed. Lists become columns, numbers come back as they were, nulls and lists of another length are met.

Usage: parquet.py DEMUR SOURCES
"""
import json
import os
import random
import subprocess
import sys
import tempfile

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

STAND_IN = '''
import json
class Column:
    def __init__(self, values): self.values = values
    def to_pylist(self): return self.values
class Batch:
    def __init__(self, columns): self.columns = columns
    def column(self, k): return Column(self.columns[k])
class ParquetFile:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file: table = json.load(file)
        self.columns = [[bytes.fromhex(x["bytes"]) if isinstance(x, dict) and "bytes" in x else x for x in column] for _, column in table]
        self.schema_arrow = type("Schema", (), {"names": [name for name, _ in table]})
    def iter_batches(self, batch_size):
        columns = self.columns
        for i in range(0, len(columns[0]), 7):
            yield Batch([column[i:i + 7] for column in columns])
'''


def run(words, status=0, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert result.returncode == status, (words, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout if status == 0 else result.stderr


def write(columns, path):
    """columns: pairs of a name and its values; a name may stand twice."""
    if pyarrow is not None:
        pyarrow.parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array(values) for _, values in columns], [name for name, _ in columns]),
                                    path, row_group_size=7)
        return
    with open(path, "w", encoding="utf-8") as file:
        json.dump(columns, file, default=lambda value: {"bytes": value.hex()})


def main():
    program, sources = sys.argv[1:3]
    draw = random.Random(4)
    n = 30
    table = {"patient_id": [f"00{i}" for i in range(n)], "site": ["Köln, Nord" if i % 2 else 'a "b"' for i in range(n)],
             "split": [("selector_train", "tune", "test")[i % 3] for i in range(n)], "label": [i % 5 == 0 for i in range(n)],
             "risk": [draw.random() for _ in range(n)], "simulated": [i > 0 for i in range(n)],
             "kernel": [None if i == 3 else "B30f" for i in range(n)],
             "embedding": [[draw.gauss(0, 1) for _ in range(3)] for _ in range(n)]}
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if pyarrow is None:
            os.makedirs(os.path.join(folder, "site", "pyarrow"))
            for name, text in (("__init__.py", ""), ("parquet.py", STAND_IN)):
                with open(os.path.join(folder, "site", "pyarrow", name), "w", encoding="utf-8") as file:
                    file.write(text)
            environment["PYTHONPATH"] = os.path.join(folder, "site")
        convert = [sys.executable, os.path.join(sources, "packaging", "python", "demur", "parquet_to_csv.py")]
        path = os.path.join(folder, "c.parquet")
        write(list(table.items()), path)
        made = run([*convert, path], env=environment)
        plain = "patient_id,site,split,label,risk,simulated,kernel,emb_0,emb_1,emb_2\n"
        for i in range(n):
            site = '"' + table["site"][i].replace('"', '""') + '"'
            plain += (f"{table['patient_id'][i]},{site},{table['split'][i]},{int(table['label'][i])},{table['risk'][i]!r},"
                      f"{'yes' if i else 'no'},{table['kernel'][i] or ''},{','.join(repr(x) for x in table['embedding'][i])}\n")
        command = [program, "--workspace", os.path.join(folder, "w.demur"), "--json", "cohort", "import"]
        told = [json.loads(run([*command, name, "-", "--model", "m"], input=text)) for name, text in (("a", made), ("b", plain))]
        assert told[0]["digest"] == told[1]["digest"] and told[0]["n_scans"] == n, told
        lists = table["embedding"]
        for changed, says in (({"embedding": [[1.0]] + lists[1:]}, "row 2, column embedding"), ({"embedding": lists[:-1] + [None]}, "no list"),
                              ({"embedding": [None] * 7 + lists[7:]}, "column embedding: "),  # by how many rows are read at once
                              ({"embedding": [[]] * n}, "a list of nothing"),
                              ({"embedding": [[[1.0]] * 3] * n}, "it holds lists"),
                              ({"kernel": [b"B30f"] * n}, "it holds bytes"),
                              ({"kernel": [{"name": "B30f"}] * n}, "it holds structures")):
            write(list({**table, **changed}.items()), path)
            assert says in run([*convert, path], status=1, env=environment), says
        # Columns of one name: what each would hold stood under the other's, one place to the left.
        for more, says in ((("risk", [.5] * n), "two columns are called risk"), (("emb_1", [.5] * n), "columns embedding and emb_1"),
                           (("embeddings", lists), "columns embedding and embeddings"), (("Risk", [.5] * n), None)):
            write([*table.items(), more], path)
            if says is not None:
                assert says in run([*convert, path], status=1, env=environment), says
            else:
                assert run([*convert, path], env=environment).splitlines()[0].endswith(",emb_2,Risk")
        assert "usage" in run(convert, status=1, env=environment)
        refused = run(convert + [path], status=1, env={**os.environ, "PYTHONPATH": ""}) if pyarrow is None else "pyarrow is not installed"
        assert "pyarrow is not installed" in refused, refused
    print("with " + (f"pyarrow {pyarrow.__version__}" if pyarrow else "a stand-in for pyarrow, which is not installed"))


main()
