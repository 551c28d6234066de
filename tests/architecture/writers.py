"""One way to write a file, one to read one, one to say something, one to show it: no other than base/file-output.c makes,
truncates or renames files, or makes folders; base/locked-files.c alone opens what comes from outside (for base/file-input.c, and DICOM's
two of the same rule) and base/json-reader.c alone parses JSON, by size and depth; the command line prints through GLib's handlers, and
the window's text is set by ui/shown.c; both make text from outside safe to show.

Usage: writers.py --self-test | ROOT
"""
import os
import re
import sys
import tempfile

# What makes a file, whichever library it is of. Reading by fopen is not meant.
WRITING = re.compile(r"""
    \bg?_?fopen\s*\([^;]{0,120}?"[wa]|\bg?_?fopen\s*\([^;]{0,120}?"r\w*\+|\bfreopen\s*\(|\bcreat\s*\(|\bO_CREAT\b|\bO_TRUNC\b|
    \bg_file_set_contents|\bg_mkstemp|\bmkostemps?\s*\(|\bmkstemps?\s*\(|\bg_file_open_tmp|\bg_file_(create|replace|append_to)|
    \bg_key_file_save_to_file|save_to_png\s*\(|write_to_png\s*\(|_surface_create\s*\(\s*("|path|name)|\bsaveFile\s*\(|
    \bstd::ofstream|\bOFOutputFileStream|\bDcmOutputFileStream|\bg?_?rename\s*\(""", re.VERBOSE)
READING = re.compile(r"""
    \bg_file_get_contents\s*\(|\bg_mapped_file_new\s*\(|\bg?_?fopen\s*\([^;]{0,120}?"r|\bg?_?open(at|64)?\s*\([^;]{0,120}?O_RDONLY|
    \bg_file_(read|load_contents|load_bytes)\s*\(|\bg_key_file_load_from_file|_new_from_file\s*\(|\bloadFile\s*\(|
    \bstd::ifstream""", re.VERBOSE)
PARSING = re.compile(r"\bjson_parser_load_from|\bjson_from_string\s*\(")
MAKING = re.compile(r"""
    \bg?_?mkdir(at)?\s*\(|\bg_mkdir_with_parents\s*\(|\bg_file_make_directory|
    \bg?_?mkdtemp\s*\(|\bg_dir_make_tmp\s*\(|\bg_mkdtemp(_full)?\s*\(""", re.VERBOSE)
PRINTING = re.compile(r"(?<![\w>.])(printf|fprintf|puts|fputs|putchar|vprintf)\s*\(")

# Where one of them may stand, and why.
WRITERS = {
    "core/base/file-output.c": "the one way",
    # The empty file that SQLite then fills.
    "core/store/opening.c": "a workspace",
    # The child's standard error, in a private folder that is removed: a log, not a result.
    "core/tasks/scores-run.c": "a program's standard error",
}
MAKERS = {
    "core/base/file-output.c": "the one way",
    "core/base/private-folder.c": "a run's own folders, that are removed",
}
READERS = {
    "core/base/locked-files.c": "the one way",
    "core/base/file-output.c": "folders, and what a killed run left",
    "core/base/private-folder.c": "folders, and what a killed run left",
    "core/tasks/federate.c": "a folder, to lock it",
    "core/tasks/scores-run.c": "a program's standard error",
    "dicom/arrival-log.c": "a folder, to sync what lies in it",
    "dicom/receiver.cc": "what it has itself written",
    "dicom/receiver-journal.cc": "a folder, to lock it",
    "dicom/network.cc": "what elements.h has looked at before",
}
PARSERS = {"core/base/json-reader.c": "the one way"}
PRINTERS = {"app/cli/run.c": "the handlers"}
SHOWING = re.compile(r"\bgtk_label_(new|set_label|set_text)\s*\(|\bgtk_widget_set_tooltip_text\s*\(|\bgtk_tooltip_set_text\s*\(|"
                     r"\bgtk_widget_create_pango_layout\s*\(|\bGTK_ACCESSIBLE_PROPERTY_(LABEL|DESCRIPTION)\b")
SHOWERS = {"ui/shown.c": "the one way"}
# What the window writes: each meets the faults of tests/faults/window.c, by its name there, or is what a command writes too.
WINDOW_WRITING = re.compile(r"\bdemur_(file_write|file_output_\w+|folder_make|report_write|patient_write|chart_export)\s*\(")
WINDOW_WRITERS = {
    "ui/worklist-export.c": "worklist",
    "ui/report-page.c": "report",
    "ui/chart-card.c": "`demur chart`",
    "ui/window.c": "`demur-workstation --screenshot`: a picture for whoever writes a manual",
    "app/workstation/settings.c": "settings",
}


def sources(root):
    for top in ("core", "dicom", "ui", "app"):
        for path, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".cc", ".hh")):
                    yield os.path.join(path, name)


def without_comments(text):
    """Comments blanked, lines kept."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", blank, text, flags=re.DOTALL)


def check(root):
    faults, used = [], set()
    for path in sources(root):
        where = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as file:
            text = without_comments(file.read())
        for pattern, allowed, remedy in (
                (WRITING, WRITERS, "write files by base/file-output.h"),
                (MAKING, MAKERS, "make folders by base/file-output.h"),
                (READING, READERS, "read files by base/file-input.h"),
                (PARSING, PARSERS, "parse JSON by base/json-reader.h"),
                (PRINTING, PRINTERS, "print by g_print and g_printerr"),
                (SHOWING, SHOWERS, "set text by ui/shown.h"),
                (WINDOW_WRITING, WINDOW_WRITERS, "try it in tests/faults/window.c")):
            if pattern is WINDOW_WRITING and not where.startswith(("ui/", "app/workstation/")):
                continue
            for match in pattern.finditer(text):
                if where in allowed:
                    used.add(where)
                    continue
                line = text.count("\n", 0, match.start()) + 1
                faults.append(f"{where}:{line}: {' '.join(match.group(0).split())}: {remedy}")
    faults += [f"{where} is excepted for nothing" for where in {**WRITERS, **MAKERS, **READERS, **PARSERS, **PRINTERS, **SHOWERS, **WINDOW_WRITERS} if where not in used]
    return faults


def self_test():
    """Each way, put into a tree, must be found: a test that can't fail is none."""
    lines = ['FILE *f = fopen(path, "wb");', 'FILE *f = g_fopen(path, "a");', 'fd = open(path, O_WRONLY | O_CREAT, 0600);',
             "g_file_set_contents(path, text, -1, error);", "file.saveFile(path);", "g_rename(part, path);",
             "cairo_surface_write_to_png(surface, path);", "std::ofstream out(path);",
             "cairo_pdf_surface_create(path, 1, 1);", "g_key_file_save_to_file(file, path, error);",
             'FILE *f = fopen(path, "rb");', "g_file_get_contents(path, &text, &n, error);",
             "const int fd = open(path, O_RDONLY | O_CLOEXEC);", "file = g_mapped_file_new(path, FALSE, error);",
             "if (g_mkdir_with_parents(folder, 0700) != 0)",
             "json_parser_load_from_data(parser, text, -1, NULL)", "node = json_from_string(text, NULL);",
             'root = g_dir_make_tmp("demur-XXXXXX", error);', "mkdtemp(path);", 'printf("%s", name);', "fputs(text, stdout);", "gtk_label_set_label(label, scan->patient_id);",
             "gtk_accessible_update_property(a, GTK_ACCESSIBLE_PROPERTY_LABEL, id, -1);"]
    allowed = ["cairo_pdf_surface_create_for_stream(append, bytes, 1, 1);",
               "/* saveFile(path) writes in place */", "g_snprintf(a, 4, text);"]
    for line in lines + allowed:
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "core", "cohort"))
            with open(os.path.join(root, "core", "cohort", "export.c"), "w", encoding="utf-8") as file:
                file.write(line + "\n")
            found = any(fault.startswith("core/cohort/export.c") for fault in check(root))
        if found != (line in lines):
            sys.exit(f"{line}: {'taken for writing' if found else 'not found'}")
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "ui"))
        with open(os.path.join(root, "ui", "new-page.c"), "w", encoding="utf-8") as file:
            file.write("demur_file_write(path, text, -1, DEMUR_FILE_REPLACE, error);\n")
        if not any(fault.startswith(os.path.join("ui", "new-page.c")) for fault in check(root)):
            sys.exit("what the window writes anew is not found")
    print(f"{len(lines) + 1} ways were found")


if sys.argv[1] == "--self-test":
    self_test()
else:
    found = check(sys.argv[1])
    print("\n".join(found) or "files are written in one way")
    sys.exit(1 if found else 0)
