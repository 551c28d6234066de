"""The types test: a verdict, a reason and a method's kind are types, and no code reads a sentence to decide anything.

Fails on a comparison of text with a verdict's name, on a search in a reason, and on a test of a method's name for what
kind of method it is. The names themselves stand where they are written and read: one table a type.

Usage: types.py ROOT
       types.py --self-test
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
    (re.compile(r"(?:strstr|strchr|strrchr|g_strstr_len|strcasestr|g_strrstr|g_str_has_prefix|g_str_has_suffix|"
                r"sscanf)\s*\((?:[^;()]|\([^()]*\))*(?:error|cause|failed|reason|reasons|words|sentence|warning|message)"
                r"(?:->message)?\s*,"), "reads a sentence"),
    (re.compile(COMPARE + r"\s*\((?:[^;()]|\([^()]*\))*(?:opinion|conflict|outcome|state|kind|action|role|plane|slab|subject)"
                r"\s*, \""),
     "compares as text what is a type"),
    (re.compile(COMPARE + r"\s*\(\s*rule->code\s*, \""), "tells a rule by its code"),
    (re.compile(COMPARE + r"\s*\((?:[^;()]|\([^()]*\))*\bby, \"site\""), "reads a grouping's name for its kind"),
    (re.compile(COMPARE + r"\s*\((?:[^;()]|\([^()]*\))*unit, \"(?:site|patient|scan)\""), "compares as text what is a type"),
    (re.compile(r"\bg_(?:set_error|set_error_literal|error_new|error_new_literal)\s*\((?:[^;()]|\([^()]*\))*\bDEMUR_ERROR\b"),
     "raises an error that no reader's language has: demur_error_set, and the file into po/POTFILES"),
    (re.compile(r"\bg_prefix_error\s*\("), "puts English before an error: demur_error_prefix"),
    (re.compile(r"(?:g_str_has_prefix|strncmp|strstr)\s*\([^;]*\"[a-z]+ [a-z ]+: ?\""), "cuts a sentence"),
    (re.compile(r"\bvr\[|\b(?:str|mem)\w*cmp\s*\([^;]*\bvr\b"), "compares a value representation as text: DemurVr"),
    (re.compile(r"(?:" + COMPARE + r"|memcmp)\s*\([^;]*\"\d+\.\d+\.\d+|[=!]= ?\"\d+\.\d+\.\d+"),
     "tells a UID by its digits: dicom/sop-class.h, dicom/transfer-syntax.h"),
    (re.compile(r"\b(?:keyword|\w+->keyword)(?:, | == )\"|" + COMPARE + r"\s*\([^;]*\bkeyword\b"),
     "tells an attribute by its keyword: by its tag"),
]
# One line where a name is read at the edge: the only places that may.
READERS = {
    "core/base/error.c": "puts English before an error: demur_error_prefix",  # is that function
    "core/evaluation/grouping.c": "reads a grouping's name for its kind",
    "core/report/verify.c": "compares as text what is a type",  # the "kind" of a JSON document
    "dicom/transfer-syntax.c": "tells a UID by its digits: dicom/sop-class.h, dicom/transfer-syntax.h",  # the standard's root
    "dicom/web.c": "tells a UID by its digits: dicom/sop-class.h, dicom/transfer-syntax.h",  # 127.0.0.1
}


# A word that a person or a file writes is read once, at the edge, into a type: these words, in these files, and no other.
WORD = re.compile(r"(?:strcmp|g_strcmp0|g_str_equal|strcasecmp|strncmp|g_ascii_strcasecmp|g_ascii_strncasecmp|memcmp|"
                  r"g_str_has_prefix|g_str_has_suffix|strstr|strcasestr|g_strstr_len)\s*\("
                  r"(?:(?:[^;(),\"]|\([^()]*\))*?, ?\"([a-zA-Z][\w -]*)\"|\"([a-zA-Z][\w -]*)\", ?)|"
                  r"[=!]= ?\"([a-zA-Z][\w -]*)\"|\.compare\([^;\"]*\"([a-zA-Z][\w -]*)\"")
EDGES = {
    "app/cli/cohort.c": {"event-free", "censored"},
    "app/cli/federate.c": {"none"},                    # of --thresholds
    "app/cli/language.c": {"en"},                      # what the program is written in
    "app/cli/log.c": {"on", "off"},
    "app/cli/run.c": {"help", "portable"},
    "core/base/error.c": {"ll"},                       # a length of printf
    "core/base/vendor.c": {"FC"},                      # a kernel
    "core/cohort/attach.c": {"patient_id", "site", "scan_id"},
    "core/cohort/import.c": {"yes", "true", "no", "false"},
    "core/cohort/join-embeddings.c": {"scan_id"},      # a header
    "core/cohort/nlst-images.c": {"LOCALI"},  # a word within a cell
    "core/cohort/npy.c": {"True", "False"},  # of its header
    "core/cohort/score-columns.c": {"risk"},           # a header
    "core/cohort/split-maker.c": {"site", "patient"},
    "core/cohort/table-source.c": {"PK"},              # the magic of ZIP
    "core/evaluation/grouping.c": {"site", "scanner"},
    "core/evaluation/search.c": {"target"},            # a column of the grid
    "core/report/pdf-content.c": {"true", "null", "false"},  # PDF
    "core/report/revisions.c": {"interval", "null"},   # JSON
    "core/report/section-provenance.c": {"e-"},  # of a number
    "core/selector/meta-features.c": {"p_", "p_1", "class_"},  # a column, for its title
    "core/selector/settings.c": {"auto"},
    "core/store/series.c": {"created"},                # a column of SQLite
    "core/store/verify.c": {"ok"},                     # SQLite's
    "core/tasks/demo-studies.c": {"slice-"},  # names of its files
    "core/tasks/file-look.c": {"PK"},  # the magic of ZIP
    "core/tasks/report-pin.c": {"tune"},               # JSON
    "core/tasks/scan-series.c": {"null", "true"},      # JSON
    "core/tasks/serve-config.c": {"answer "},  # a section with a name
    "dicom/charset.c": {"IR"},  # of a defined term
    "dicom/data-set.c": {"DICM"},  # the magic of DICOM
    "dicom/deidentify.cc": {"Y"},  # (0028,0301)
    "dicom/image-kind.c": {"CT", "MONOCHROME", "DERIVED"},  # defined terms of the header, read here
    "dicom/measure.c": {"YES"},  # (0008,001C)
    "dicom/receiver.cc": {"P "},  # a line of its children
    "dicom/stow-request.c": {"POST", "identity"},  # of a request's head
    "dicom/stow-server.cc": {"DICM"},  # the magic of DICOM
    "dicom/web.c": {"localhost"},  # this machine
    "ui/words.c": {"female", "male"},                  # a file's
}


# What no window calls: the command line's own errors, and the C library's.
ENGLISH = ("app/", "core/library/")


def statements(text):
    """(line number, statement) with comments taken out: a call may stand on several lines."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.S)
    line = 1
    for statement in re.split(r"(?<=[;{}])", text):
        yield line + len(statement) - len(statement.lstrip("\n")), re.sub(r"\s+", " ", statement)
        line += statement.count("\n")


def words(statement):
    return [next(word for word in found if word) for found in WORD.findall(statement)]


CAUGHT = ['strcmp(text, "red_flag");', 'g_strcmp0(verdict->verdict, other);', 'strstr(reason, "x");',
          'strstr(text, "SAFETY");', 'g_str_has_prefix(name, "selector:");', 'strcmp(name, "knn");',
          'words = strstr(error->message, "): ");', 'strcmp(run->outcome, "scored") == 0;',
          'g_strcmp0(arrival_at(planner, both[i]->arrival - 1)->conflict, "person");',
          'g_strcmp0(review->opinion, "agree");', 'g_str_has_prefix(text, "not eligible: ");',
          'strcmp(check->recipe->kind,\n "patient");', 'strcmp(part->role, "training") == 0;',
          'g_strcmp0(comparison->unit, "site") == 0;', 'strcmp(rule->code, "oblique") == 0;', 'strcmp(by, "site") == 0;', 'strcmp(a->plane, "coronal") == 0;', 'g_strcmp0(a->slab, "mean") == 0;',
          'g_strcmp0(r->subject, "risk") == 0;',
          'g_strcmp0(page, "patient") != 0;', 'strcmp(gtk_stack_get_visible_child_name(self->stack), "list");',
          'strcmp("tls", key->section) == 0;', 'strcmp(a->split,\n "test") == 0;', 'g_ascii_strcasecmp(paper, "letter");',
          'return strcmp(name, "age") == 0 ? 1 : strcmp(name, "sex") == 0;',
          'if (strcmp(element->vr, "SQ") == 0)', 'memcmp(vr, "OW", 2) == 0;', "element->vr[0] == 'S';",
          'g_strcmp0(header->sop_class_uid, "1.2.840.10008.1.3.10") != 0;',
          'return syntax == "1.2.840.10008.1.2" ? 1 : 0;', 'if (modality == "CT")', 'strstr(type, "SCREEN SAVE") != nullptr;',
          'g_str_has_prefix(header->photometric, "MONOCHROME");', 'strcmp(attribute->keyword, other) == 0;',
          'find(series, keyword == "SliceThickness");', 'g_str_has_prefix(name, "p_");', 'text.compare(0, 2, "P ") == 0;',
          'g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "no");', 'g_prefix_error(error, "%s: ", name);']
LEFT = ['strcmp(scan->scan_id, other->scan_id);', '/* strcmp(opinion, "agree") */', 'strcmp(argv[i], "--json");']


def self_test():
    found = lambda text: any(words(statement) or any(rule.search(statement) for rule, _ in RULES)
                             for _, statement in statements(text))
    missed = [text for text in CAUGHT if not found(text)] + [text for text in LEFT if found(text)]
    if missed:
        sys.exit("wrong: " + "; ".join(missed))
    print(f"{len(CAUGHT)} ways to read a sentence are caught")


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    root, faults, met = sys.argv[1], [], set()
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".cc", ".hh")):
                    continue
                where = os.path.relpath(os.path.join(path, name), root)
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    for line, statement in statements(file.read()):
                        met |= {(where, word) for word in words(statement)}
                        faults += [f"{where}:{line}: compares text with the word '{word}': a type, or read at an edge (EDGES)"
                                   for word in words(statement) if word not in EDGES.get(where, ())]
                        faults += [f"{where}:{line}: {what}: {statement.strip()[:100]}"
                                   for rule, what in RULES
                                   if rule.search(statement) and READERS.get(where) != what
                                   and not (where.startswith(ENGLISH) and "error" in what)]
    faults += [f"{where}: no longer compares text with '{word}': take it out of EDGES"
               for where, edge in sorted(EDGES.items()) for word in sorted(edge) if (where, word) not in met]
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} places decide by a sentence")
    print("no code reads a sentence to decide")


main()
