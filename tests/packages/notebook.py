"""The notebook that draws the paper's figure, run from its first cell to its last by nbconvert, with the wheel and the program as built.

Its picture must be an SVG with the three curves, and its numbers those that the cells print; that libdemur's are the command line's is looked at by
libdemur.py beside it.

Usage: notebook.py DEMUR SOURCES LIBDEMUR.SO [FOLDER]   (FOLDER keeps notebook and picture; 77 where nbconvert, ipykernel or numpy is not
installed)
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"  # whose modules Debian installs


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, (words, result.stdout[-3000:], result.stderr[-3000:])
    return result.stdout


def main():
    program, sources, library = (os.path.abspath(path) for path in sys.argv[1:4])
    asked = subprocess.run([PYTHON, "-c", "import nbconvert, ipykernel, numpy"], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        print(f"skipped: {asked.stderr.splitlines()[-1]}; packaging/dependencies-long.sh installs it")
        sys.exit(77)
    python = os.path.join(sources, "packaging", "python")
    with tempfile.TemporaryDirectory() as folder:
        # The module as it is in a wheel: with its library beside it.
        shutil.copytree(os.path.join(python, "demur"), os.path.join(folder, "site", "demur"))
        shutil.copy(library, os.path.join(folder, "site", "demur", "libdemur.so"))
        # A kernel works in the folder of its notebook, and would take the module of the sources.
        shutil.copy(os.path.join(python, "paper-figure.ipynb"), folder)
        environment = {**os.environ, "DEMUR": program, "DEMUR_FIGURE": os.path.join(python, "paper-figure.py"), "HOME": folder,
                       "PYTHONPATH": os.path.join(folder, "site"), "JUPYTER_PLATFORM_DIRS": "1"}
        environment.pop("LIBDEMUR", None)
        run([PYTHON, "-m", "nbconvert", "--to", "notebook", "--execute", "--ExecutePreprocessor.timeout=1800", "--output-dir", folder,
             "--output", "done.ipynb", os.path.join(folder, "paper-figure.ipynb")], env=environment, cwd=folder)
        with open(os.path.join(folder, "done.ipynb"), encoding="utf-8") as file:
            cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
        assert all(cell["execution_count"] == k + 1 for k, cell in enumerate(cells)), "a cell was not run"
        outputs = [output for cell in cells for output in cell["outputs"]]
        assert not [output for output in outputs if output["output_type"] == "error"]
        pictures = ["".join(output["data"]["image/svg+xml"]) for output in outputs if "image/svg+xml" in output.get("data", {})]
        assert len(pictures) == 1 and pictures[0].count("<polyline") == 3 and "SIMULATED DATA" in pictures[0], pictures
        said = "".join("".join(output.get("text", "")) for output in outputs)
        areas = {line.split()[0]: float(line.split()[1]) for line in said.splitlines()
                 if line.startswith(("selector ", "confidence ", "random "))}
        for name, area in areas.items():  # the numbers are the picture's
            assert f"{name} {area:.4f}" in pictures[0], (name, area)
        assert len(areas) == 3 and all(0 < area < 1 for area in areas.values()), areas
        if len(sys.argv) > 4:
            os.makedirs(sys.argv[4], exist_ok=True)
            shutil.copy(os.path.join(folder, "done.ipynb"), sys.argv[4])
            with open(os.path.join(sys.argv[4], "figure.svg"), "w", encoding="utf-8") as file:
                file.write(pictures[0])
    print(f"the notebook ran: {areas}")


main()
