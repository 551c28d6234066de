#!/usr/bin/env python3
"""dicom.py BUILD: the DICOM numbers of docs/benchmarks.md, in one run over the same files.

Header scan of 1,000 files against pydicom (stop_before_pixels), dcmdump -M and dcm2niix -b o;
the digest of 250 slices of 512 x 512 against reading and SHA-256, and their import, the first, a second
time and a second time with --reread; a 250-slice JPEG lossless series against DCMTK's decoder alone; peak memory of 2,000 slices.
Tools that are not installed are left out and named. Files lie in a temporary folder (1.2 GB at most).
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

bench = os.path.join(sys.argv[1], "tests/bench/bench-dicom")
program = os.path.join(sys.argv[1], "app/demur")


def run(*words):
    return json.loads(subprocess.run([bench, *words], check=True, stdout=subprocess.PIPE).stdout)


def timed(n_files, work, turns=3):
    best = min(_once(work) for _ in range(turns))
    return round(n_files / best)


def _once(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def quiet(*words):
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def scan(folder, out):
    subprocess.run([bench, "phantom", folder, "1000", "256"], check=True)
    files = sorted(glob.glob(folder + "/*.dcm"))
    quiet("cat", *files)  # into the page cache
    result = {"demur": max(run("scan", folder)["files_per_second"] for _ in range(3)),
              "demur, process and all": timed(len(files), lambda: quiet(bench, "scan", folder))}
    try:
        import pydicom
        result["pydicom stop_before_pixels"] = timed(
            len(files), lambda: [pydicom.dcmread(f, stop_before_pixels=True) for f in files])
    except ImportError:
        result["pydicom stop_before_pixels"] = "not installed"
    for name, words in {"dcmdump -M": ["dcmdump", "-M", "+sd", folder],
                        "dcm2niix -b o": ["dcm2niix", "-b", "o", "-o", out, folder]}.items():
        result[name] = (timed(len(files), lambda words=words: quiet(*words))
                        if shutil.which(words[0]) else "not installed")
    return result


def decode(folder, compressed):
    subprocess.run([bench, "phantom", folder, "250", "512"], check=True)
    os.makedirs(compressed)
    for path in sorted(glob.glob(folder + "/*.dcm")):
        subprocess.run(["dcmcjpeg", "+e1", path, os.path.join(compressed, os.path.basename(path))],
                       check=True)
    return run("decode", compressed)


def digest(folder, workspace):
    """Two seconds after the files were written they can be told unchanged (core/base/file-stamp.h)."""
    subprocess.run([bench, "phantom", folder, "250", "512"], check=True)
    files = sorted(glob.glob(folder + "/*.dcm"))
    time.sleep(2.1)
    quiet("cat", *files)
    result = run("digest", folder)
    words = [program, "--workspace", workspace, "dicom", "import", folder]
    result["import_seconds"] = round(_once(lambda: quiet(*words)), 3)
    result["again_seconds"] = round(min(_once(lambda: quiet(*words)) for _ in range(3)), 3)
    result["reread_seconds"] = round(min(_once(lambda: quiet(*words, "--reread")) for _ in range(3)), 3)
    return result


def load():
    return "load average {:.1f} on {} processors".format(os.getloadavg()[0], os.cpu_count())


with tempfile.TemporaryDirectory() as top:
    print(load())
    def place(name):
        return os.path.join(top, name)
    os.makedirs(place("niix"))
    print("files per second:", json.dumps(scan(place("scan"), place("niix")), indent=1))
    shutil.rmtree(place("scan"))
    print("digests:", json.dumps(digest(place("digest"), place("w.demur")), indent=1))
    shutil.rmtree(place("digest"))
    print("JPEG lossless:", json.dumps(decode(place("raw"), place("jpeg"))))
    shutil.rmtree(place("raw"))
    subprocess.run([bench, "phantom", place("study"), "2000", "512"], check=True)
    print("2,000 slices:", json.dumps(run("study", place("study"))))
    print(load())
