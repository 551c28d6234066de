"""Commands that work on several threads, in a program built with ThreadSanitizer: none of them may race.

Usage: threads.py DEMUR PHANTOM SYNC SUPPRESSIONS: SYNC is built of glib-sync.c.
"""
import os
import subprocess
import sys
import tempfile

SIZES = ["--scans", "400", "--sites", "6", "--base-train", "300", "--tune", "200", "--test", "200", "--base-rate-logit", "2"]
QUICK = ["--epochs", "1", "--datasets-per-epoch", "128", "--batch", "16", "--dataset-size", "100", "--validation-datasets", "16"]
SCORE = "{\"predictions\": [[0.01, 0.02, 0.03, 0.04, 0.05, 0.06]]}"


def main():
    demur, phantom, sync, suppressions = (os.path.abspath(word) for word in sys.argv[1:5])
    with tempfile.TemporaryDirectory(prefix="demur-threads-") as folder:
        scan = subprocess.run([phantom, os.path.join(folder, "in"), "1", "60"], check=True, capture_output=True, text=True).stdout.strip()
        with open(os.path.join(folder, "one.sh"), "w", encoding="utf-8") as file:
            file.write(f"echo '{SCORE}' > \"$2/scores.json\"\n")
        races = 0
        for words in (["cohort", "simulate", "c", *SIZES], ["train", "s", "--cohort", "c", *QUICK, "--average", "3"],
                      ["tune", "s", "--cohort", "c", "--coverage", "0.8"], ["validate", "s", "--cohort", "c", "--folds", "2"],
                      ["assess", "s", "--cohort", "c"], ["evaluate", "--selector", "s", "--cohort", "c", "--bootstrap", "100"],
                      ["report", "r.pdf", "--selector", "s", "--cohort", "c", "--bootstrap", "100"], ["dicom", "import", "in"],
                      ["scores", "run", "--command", "sh one.sh {series} {output}", "--model", "m", "--scan", scan],
                      ["dicom", "deidentify", "in", "copies"], ["verify"]):
            words = [word.replace("one.sh", os.path.join(folder, "one.sh")) for word in words]
            options = f"exitcode=66 history_size=4 suppressions={suppressions} log_path={folder}/race"
            result = subprocess.run([demur, "--workspace", "w.demur", "--threads", "4", "--quiet", *words], cwd=folder, check=False,
                                    env={**os.environ, "TSAN_OPTIONS": options, "LD_PRELOAD": sync, "SOURCE_DATE_EPOCH": "1700000000"}, capture_output=True, text=True)
            told = [name for name in os.listdir(folder) if name.startswith("race")]
            for name in told:
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    print(file.read())
                os.unlink(os.path.join(folder, name))
            races += bool(told)
            if result.returncode not in (0, 66) or told:
                print(f"{' '.join(words)}: exit {result.returncode}, {result.stderr[-500:]}", flush=True)
            else:
                print(f"{' '.join(words[:2])}: no race", flush=True)
            if result.returncode not in (0, 66):
                sys.exit(1)
        sys.exit(1 if races else 0)


main()
