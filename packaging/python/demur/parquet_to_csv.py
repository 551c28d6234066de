"""A Parquet file as the table that `demur cohort import` (and everything else that reads a table) takes on standard input:

    python3 -m demur.parquet_to_csv cohort.parquet | demur cohort import ist - --model my-cnn

Needs pyarrow, which Debian 12 has not (`pip install pyarrow` into a virtual environment, with the wheel of this module). Columns keep their names. A column of lists
(embeddings) becomes as many columns, NAME_0 .. (`embedding` and `embeddings` become emb_0 ..); every list must be as long as the first. Nulls are
empty, truths 1 and 0 (yes and no in the column `simulated`), numbers as Python writes them: what is read back is the same number. Row groups go
through one at a time. Two columns of one name, before or after lists became columns, are refused; so are bytes, structures, lists in lists and a list
in a column that the first rows have none in.
"""
import csv
import sys

try:
    import pyarrow.parquet as parquet
except ImportError:
    sys.exit("parquet_to_csv: pyarrow is not installed (pip install pyarrow); Debian 12 has no package of it")

ROWS = 8192


def refuse(what):
    sys.exit(f"parquet_to_csv: {what}")


def kind_refused(value):
    """What can't be a cell, in words; None of what can."""
    if isinstance(value, dict):
        return "structures"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes"
    if isinstance(value, (list, tuple)):
        return "lists"
    return None


def widths_of(first, names):
    """[how long its lists are, None where it holds none] of each column."""
    widths = []
    for name, column in zip(names, first):
        value = next((value for value in column if value is not None), None)
        widths.append(len(value) if isinstance(value, (list, tuple)) else None)
        if widths[-1] == 0:
            refuse(f"column {name} begins with a list of nothing")
    return widths


def header_of(names, widths):
    header, origin = [], {}
    for name, width in zip(names, widths):
        stem = "emb" if name in ("embedding", "embeddings") else name
        for made in [name] if width is None else [f"{stem}_{k}" for k in range(width)]:
            if made in origin:
                refuse(f"columns {origin[made]} and {name} would both be {made} in the table; rename one" if origin[made] != name
                       else f"two columns are called {name}; rename one")
            origin[made] = name
            header.append(made)
    return header


def cell_of(name, value, row):
    found = kind_refused(value)
    if found is not None:
        refuse(f"row {row}, column {name}: it holds {found}; a cell is a number or a text")
    if value is None:
        return ""
    if isinstance(value, bool):
        return ("no", "yes")[value] if name == "simulated" else int(value)
    return value


def cells_of(name, value, width, row):
    if width is None:
        if isinstance(value, (list, tuple)):
            refuse(f"row {row}, column {name}: a list, where the first rows (at most {ROWS}) have none; put a row with a list first")
        return [cell_of(name, value, row)]
    if not isinstance(value, (list, tuple)) or len(value) != width:
        found = f"a list of {len(value)}" if isinstance(value, (list, tuple)) else "no list"
        refuse(f"row {row}, column {name}: {found}; the first list has {width} numbers")
    return [cell_of(name, element, row) for element in value]


def main(path):
    file = parquet.ParquetFile(path)
    names = list(file.schema_arrow.names)
    writer, widths, row = csv.writer(sys.stdout, lineterminator="\n"), None, 0
    for batch in file.iter_batches(batch_size=ROWS):
        columns = [batch.column(k).to_pylist() for k in range(len(names))]
        if widths is None:
            widths = widths_of(columns, names)
            writer.writerow(header_of(names, widths))
        for values in zip(*columns):
            row += 1
            writer.writerow([cell for name, value, width in zip(names, values, widths) for cell in cells_of(name, value, width, row)])
    if widths is None:
        writer.writerow(header_of(names, [None] * len(names)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m demur.parquet_to_csv FILE.parquet > TABLE.csv")
    main(sys.argv[1])
