"""The types test: a verdict, a reason and a method's kind are types, and no code reads a sentence to decide anything.

Fails on a comparison of text with a verdict's name, on a search in a reason, and on a test of a method's name for what
kind of method it is. The names themselves stand where they are written and read: one table a type.

Usage: types.py ROOT
"""
import os
import re
import sys

FOLDERS = ["core", "dicom", "ui", "app"]
VERDICTS = "accepted|red_flag|not_eligible|no_score|not_tuned"
COMPARE = r"(?:strcmp|g_strcmp0|g_str_equal|strcasecmp|strncmp|g_str_has_prefix|g_str_has_suffix|strstr)"
METHODS = "full|confidence|entropy|knn|kde|ocsvm|iforest|lof|mc|random"
RULES = [
    (re.compile(COMPARE + r"\s*\([^;]*\"(?:" + VERDICTS + r")\""), "compares text with a verdict's name"),
    (re.compile(COMPARE + r"\s*\([^;]*verdict(?:->|\.)verdict"), "compares a verdict as text"),
    (re.compile(r"(?:strstr|g_strstr_len|strcasestr|g_str_has_prefix)\s*\(\s*[^,;]*reason"), "reads a reason"),
    (re.compile(r"strstr\s*\([^;]*\"SAFETY"), "reads a sentence"),
    (re.compile(COMPARE + r"\s*\([^;]*\"selector:\""), "reads a method's name for its kind"),
    (re.compile(COMPARE + r"\s*\((?:[^;()]|\([^()]*\))*(?:method|against|name)\b[^;()]*, \"(?:" + METHODS + r")\""),
     "reads a method's name for its kind"),
]


def statements(text):
    """(line number, statement) with comments taken out: a call may stand on several lines."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.S)
    line = 1
    for statement in re.split(r"(?<=[;{}])", text):
        yield line + len(statement) - len(statement.lstrip("\n")), re.sub(r"\s+", " ", statement)
        line += statement.count("\n")


def main():
    root, faults = sys.argv[1], []
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".cc", ".hh")):
                    continue
                where = os.path.relpath(os.path.join(path, name), root)
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    for line, statement in statements(file.read()):
                        faults += [f"{where}:{line}: {what}: {statement.strip()[:100]}"
                                   for rule, what in RULES if rule.search(statement)]
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} places decide by a sentence")
    print("no code reads a sentence to decide")


main()
