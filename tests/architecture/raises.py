"""A header tells which errors to expect: every DEMUR_ERROR code that a function raises by its own `error` is named, whole or
by its last word (STATE), in the comment above its declaration or in the one at the header's head.

What a function passes on from those that it calls is theirs to name.

Usage: raises.py --self-test | ROOT
"""
import os
import re
import sys

FOLDERS = ["core", "dicom", "ui"]
FUNCTION = re.compile(r"^(demur_\w+)\(", re.M)
RAISED = re.compile(r"demur_error_set\(\s*error,\s*DEMUR_ERROR_(\w+)")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
AS = re.compile(r"\bas (demur_\w+)")  # "Errors as demur_header_read."


def raised(text):
    """(function, code) of the functions of a C file that others may call."""
    ends = [match.start() for match in re.finditer(r"^}", text, re.M)]
    for match in FUNCTION.finditer(text):
        end = next((at for at in ends if at > match.start()), len(text))
        for code in sorted(set(RAISED.findall(text[match.start():end]))):
            yield match.group(1), code


def told(text):
    """{function: words} of a header: the comments of the paragraph that declares it, and the header's first."""
    head = COMMENT.match(text)
    words = {}
    for paragraph in text.split("\n\n"):
        comments = " ".join(COMMENT.findall(paragraph)) + (head.group(0) if head else "")
        for name in re.findall(r"\b(demur_\w+)\(", COMMENT.sub("", paragraph)):
            words[name] = words.get(name, "") + comments
    return words


def lacking(sources, headers):
    """What is raised and not told: (file, function, code). Functions that no header declares are a file's own."""
    words = {}
    for text in headers:
        for function, comments in told(text).items():
            words[function] = words.get(function, "") + comments
    for name, text in sources:
        for function, code in raised(text):
            if function not in words:
                continue
            here = words[function] + "".join(words.get(other, "") for other in AS.findall(words[function]))
            if not re.search(r"(?:\b|_)" + code + r"\b", here):
                yield name, function, code


def self_test():
    source = [("a.c", "gboolean\ndemur_a(GError **error) {\n  demur_error_set(error, DEMUR_ERROR_STATE, \"no\");\n}\n")]
    for header, n in (("/* Head. */\n\n/* FALSE with error. */\ngboolean demur_a(GError **error);\n", 1),
                      ("/* Head. */\n\n/* DEMUR_ERROR_STATE where it is not so. */\ngboolean demur_a(GError **error);\n", 0),
                      ("/* Head. */\n\n/* Errors: STATE. */\ngboolean demur_a(GError **error);\n", 0),
                      ("/* All fail with DEMUR_ERROR_STATE. */\n\ngboolean demur_a(GError **error);\n", 0),
                      ("/* Head. */\n\n/* STATE */\nint demur_b(void);\n\ngboolean demur_a(GError **error);\n", 1)):
        if len(list(lacking(source, [header]))) != n:
            sys.exit(f"{n} codes were to be found lacking in: {header}")
    print("a code that a header does not tell was found")


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    root, sources, headers = sys.argv[1], [], []
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                where = os.path.join(path, name)
                if name.endswith((".c", ".cc", ".h", ".hh")):
                    with open(where, encoding="utf-8") as file:
                        text = file.read()
                    if name.endswith((".h", ".hh")):
                        headers.append(text)
                    else:
                        sources.append((os.path.relpath(where, root), text))
    faults = [f"{name}: {function} raises DEMUR_ERROR_{code}, which its header does not tell"
              for name, function, code in lacking(sources, headers)]
    print("\n".join(faults))
    if faults:
        sys.exit(f"{len(faults)} errors are not told")
    print("headers tell every error that their functions raise")


main()
