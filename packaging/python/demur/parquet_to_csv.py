"""A Parquet file as the table that `demur cohort import` (and everything else that reads a table) takes on standard input:

    python3 -m demur.parquet_to_csv cohort.parquet | demur cohort import ist - --model my-cnn

Needs pyarrow, which Debian 12 has not (`pip install pyarrow` into a virtual environment, with the wheel of this module). Columns keep their names. A column of lists
(embeddings) becomes as many columns, NAME_0 .. (`embedding` and `embeddings` become emb_0 ..); every list must be as long as the first. Nulls are
empty, truths 1 and 0 (yes and no in the column `simulated`), numbers as Python writes them: what is read back is the same number. Row groups go
through one at a time.
"""
import csv
import sys

try:
    import pyarrow.parquet as parquet
except ImportError:
    sys.exit("parquet_to_csv: pyarrow is not installed (pip install pyarrow); Debian 12 has no package of it")

ROWS = 8192


def widths_of(first, names):
    """{column: how long its lists are} of those that hold lists."""
    widths = {}
    for name in names:
        value = next((value for value in first[name] if value is not None), None)
        if isinstance(value, (list, tuple)):
            widths[name] = len(value)
        elif isinstance(value, dict):
            sys.exit(f"parquet_to_csv: column {name} holds structures; a table has numbers and texts")
    return widths


def header_of(names, widths):
    header = []
    for name in names:
        stem = "emb" if name in ("embedding", "embeddings") else name
        header += [f"{stem}_{k}" for k in range(widths[name])] if name in widths else [name]
    return header


def cells_of(name, value, width, row):
    if width is not None:
        if value is None or len(value) != width:
            found = "no list" if value is None else f"a list of {len(value)}"
            sys.exit(f"parquet_to_csv: row {row}, column {name}: {found}; the first list has {width} numbers")
        return value
    if value is None:
        return [""]
    if isinstance(value, bool):
        return [("no", "yes")[value] if name == "simulated" else int(value)]
    return [value]


def main(path):
    file = parquet.ParquetFile(path)
    names = list(file.schema_arrow.names)
    writer, widths, row = csv.writer(sys.stdout, lineterminator="\n"), None, 0
    for batch in file.iter_batches(batch_size=ROWS):
        columns = {name: batch.column(k).to_pylist() for k, name in enumerate(names)}
        if widths is None:
            widths = widths_of(columns, names)
            writer.writerow(header_of(names, widths))
        for values in zip(*columns.values()):
            row += 1
            writer.writerow([cell for name, value in zip(names, values) for cell in cells_of(name, value, widths.get(name), row)])
    if widths is None:
        writer.writerow(names)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m demur.parquet_to_csv FILE.parquet > TABLE.csv")
    main(sys.argv[1])
