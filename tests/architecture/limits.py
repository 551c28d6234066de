"""A function is read at one go: no more than 100 lines, no more than nine parameters.

What every slow function takes anyway (a DemurParallel, a DemurProgress, a GError) and every drawing one (a cairo_t, a
DemurPalette) does not count as a parameter. Functions of other libraries that are declared here (LAPACK's, which end in _)
are as they are.

Usage: limits.py --self-test | ROOT
"""
import os
import re
import sys

FOLDERS = ["core", "dicom", "ui", "app"]
MOST_LINES, MOST_PARAMETERS = 100, 9
HABITS = re.compile(r"^\s*(?:const )?(?:DemurParallel|DemurProgress|GError|cairo_t|DemurPalette) \*")
# A declaration or the head of a definition at the beginning of a line: its name and its parameters.
HEAD = re.compile(r"(?m)^[A-Za-z_][\w\s*:<>&]*?\b(\w+)\(((?:[^(){};]|\([^()]*\))*)\)\s*(?:G_GNUC_\w+(?:\([^)]*\))?\s*)*[;{]")

# clang-format begins a body with a brace at a line's end, and ends it with one in the first column.
BODY = re.compile(r"^(?!namespace|extern|struct|typedef|static const|enum|union|class)\S.*\) ?(?:const )?\{$|^\s+.*\) \{$")

# One within a class; what is within a function is no member: a statement.
MEMBER = re.compile(r"^( +)(?!if|for|while|switch|else|do|catch|return|try|case)[A-Za-z_~][\w\s*&:<>,]*\(.*\)[ \w]* \{$")


def code_of(text):
    """Without comments, each line in its place."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.S)


def parameters(text):
    """Those that count."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts, part = parts + [part], ""
        else:
            part += letter
    return [part for part in parts + [part] if part.strip() not in ("", "void") and not HABITS.match(part)]


def faults_of(where, text):
    code = code_of(text)
    faults = []
    for match in HEAD.finditer(code):
        n = len(parameters(match.group(2)))
        if n > MOST_PARAMETERS and not match.group(1).endswith("_"):
            line = code.count("\n", 0, match.start()) + 1
            faults.append(f"{where}:{line}: {match.group(1)} takes {n} parameters: a struct has names for them")
    start, inside = None, 0
    for number, line in enumerate(code.split("\n"), 1):
        if start is None and inside == 0 and BODY.match(line):
            start = number
        inside += line.count("{") - line.count("}")
        if start is not None and line == "}":
            if number - start > MOST_LINES:
                faults.append(f"{where}:{start}: a function of {number - start} lines: cut it where its steps are")
            start = None
            inside = 0
    return faults + members_of(where, code)


def members_of(where, code):
    """Functions within a class: from the line that opens one, two columns in, to the brace below its first letter."""
    faults, start, margin = [], None, ""
    for number, line in enumerate(code.split("\n"), 1):
        member = MEMBER.match(line)
        if start is None and member and line.count("(") == line.count(")") and where.endswith((".cc", ".hh")):
            start, margin = number, member.group(1)
        elif start is not None and line == margin + "}":
            if number - start > MOST_LINES:
                faults.append(f"{where}:{start}: a function of {number - start} lines: cut it where its steps are")
            start = None
    return faults


def self_test():
    body = "  f();\n" * 101
    for text, expected in ((f"static void\ng(void) {{\n{body}}}\n", "lines"),
                           (f"void\ng(int a,\n  int b) {{\n{body}}}\n", "lines"),
                           (f"class A {{\n  int g(int x) override {{\n{body}  }}\n}};\n", "lines"),
                           ("void g(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j);\n", "parameters"),
                           ("static int\ng(int a, int b, int c, int d, int e,\n  void (*f)(int, int), int g, int h, int i, int j) {\n}\n",
                            "parameters")):
        if not any(expected in fault for fault in faults_of("x.cc", text)):
            sys.exit(f"not found: {text[:80]}")
    fine = "void g(int a, int b, int c, int d, int e, int f, int g, int h, int i, DemurParallel *p, GError **error);\n"
    if faults_of("x.c", fine):
        sys.exit("what every slow function takes was counted")
    print("functions that are too long, or take too much, were found")


def main():
    if sys.argv[1] == "--self-test":
        self_test()
        return
    root, faults = sys.argv[1], []
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".cc", ".hh")):
                    whole = os.path.join(path, name)
                    with open(whole, encoding="utf-8") as file:
                        faults += faults_of(os.path.relpath(whole, root), file.read())
    print("\n".join(faults))
    if faults:
        sys.exit(f"{len(faults)} functions are too long or take too much")
    print(f"no function is over {MOST_LINES} lines or takes over {MOST_PARAMETERS} parameters")


main()
