"""The user-interface tests. Each says where its right value comes from: the command line's own answer, the DICOM file,
or the workspace."""
import csv
import json
import math
import mmap
import os
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import time

from gi.repository import GLib

from driver import DEADLINE, DEMUR, HOME, WORKSTATION, Workstation, demur, wait_for
from hands import Keys, Mouse, Reader
from looks import LOOKS, TIGHT, environment

SHARED = os.environ.get("DEMUR_SHARED") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                                                        "shared")


def path(name):
    return os.path.join(HOME, name)


def shared(name):
    if not os.path.isdir(SHARED) and "DEMUR_SHARED" not in os.environ:
        print("skipped: no shared test data (set DEMUR_SHARED)")
        sys.exit(77)
    full = os.path.join(SHARED, "dicom", name)
    assert os.path.exists(full), f"the shared test data lack {full}"
    return full


def cohort_workspace(simulate=("--scans", "900", "--sites", "6", "--base-train", "300", "--tune", "400", "--test",
                               "400"), epochs=("--epochs", "1", "--datasets-per-epoch", "640")):
    """A small simulated cohort with a tuned selector and verdicts on its test split."""
    workspace = path("cohort.demur")
    demur(workspace, "cohort", "simulate", "small", *simulate)
    demur(workspace, "train", "first", "--cohort", "small", "--as-published", *epochs)
    demur(workspace, "tune", "first", "--cohort", "small", "--coverage", "0.8")
    return workspace, demur(workspace, "assess", "first", "--cohort", "small", "--reveal", "to compare with the window")


def open_scan(app, words):
    """The one case that is found by its ID, or other words, in the worklist."""
    app.activate("win.page", "'worklist'")
    app.keys("Escape")
    app.activate("win.search", "''")
    app.keys("ctrl+a", "BackSpace")
    app.type(words)
    wait_for(lambda: {"All 1", "Alle 1"} & set(app.texts()), "one row")
    app.keys("Return", "n", "Return")


def at_the_cohort_page(workspace):
    app = Workstation(workspace)
    app.activate("win.page", "'cohort'")
    app.wait_text("accepts ")
    return app


def import_folder_and_read_the_report():
    """Right value: `demur dicom import` of the same folder into another workspace."""
    folder = shared("real/siemens-emotion")
    expected = demur(path("other.demur"), "dicom", "import", folder)
    app = Workstation(path("w.demur"))
    app.wait_text("This workspace holds no scans yet")
    app.activate("win.import-path", f"'{folder}'")
    accepted = sum(series["accepted"] for series in expected["series"])
    app.wait_text(f"Import: {accepted} accepted for assessment, {len(expected['series']) - accepted} not, "
                  f"{len(expected['skipped'])} files skipped.")
    app.wait_text(expected["series"][0]["patient_id"])
    app.activate("win.import-report")
    app.wait_text("Accepted for assessment (1)")
    # A second time: nothing is read twice, unless it is asked for.
    app.activate("win.import-path", f"'{folder}'")
    app.wait_text("unchanged since they were imported: only their headers were read.")
    app.activate("win.reread")
    app.wait_no_text("files skipped. ")
    app.wait_text(f"{len(expected['skipped'])} files skipped.")
    listed = demur(path("w.demur"), "dicom", "list")
    assert [s["scan_id"] for s in listed["series"]] == [s["scan_id"] for s in expected["series"]]
    app.quit()


def open_case_and_compare_hu():
    """Right value: the CT number under the pointer, read from the file by `dcmdump` where it is plain, at the row and
    column that the image says; and the window by key."""
    folder = shared("real/siemens-emotion")
    workspace = path("w.demur")
    scan = demur(workspace, "dicom", "import", folder)["series"][0]
    app = Workstation(workspace)
    app.wait_text(scan["patient_id"])
    app.keys("n", "Return")
    slices = demur(workspace, "dicom", "show", scan["scan_id"])["slices"]
    numbers = [s["instance_number"] for s in slices]
    # The archive's numbers go against the way in which slices are kept here: they are what is shown.
    assert numbers == list(range(len(numbers), 0, -1)), numbers
    middle = numbers[scan["n_slices"] // 2]
    first = app.wait_image(f"slice {middle} of {scan['n_slices']}")
    assert "W 1500 L −600" in first, first
    app.keys("2")
    app.wait_image("W 400 L 40")
    width, level = own_window(slices[scan["n_slices"] // 2]["path"])
    app.keys("5")
    app.wait_image(f"W {width} L {level} · the file's own".replace("-", "−"))
    app.keys("1")
    app.wait_image("W 1500 L −600")
    app.keys("Down")
    app.wait_image(f"slice {middle + 1} of")
    app.keys("End")
    app.wait_image(f"slice {scan['n_slices']} of")
    app.keys("Home")
    app.wait_image("slice 1 of")
    app.pointer(700, 480)
    app.pointer(703, 482)
    text = app.wait_image("; row ")
    row, column = (int(word) for word in text.split("; row ")[1].split(" column "))
    hu = int(text.split("HU at pointer ")[1].split(";")[0].replace("−", "-"))
    assert hu == value_of_file(slices[numbers.index(1)], row, column), (hu, row, column)
    app.keys("o")
    app.wait_image("coronal")
    app.keys("s")
    app.wait_image("sagittal")
    app.keys("x", "m")
    app.wait_image("MIP 5 mm")
    app.keys("i")
    app.wait_image("inverted")
    app.quit()


def slices_are_scrolled_while_the_rest_is_read():
    """Right value: as many slices on as keys were pressed, whether the volume is there by then or not; never back when it
    comes. Keys are pressed as soon as the first slice is there."""
    workspace = path("w.demur")
    scan = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]
    numbers = [s["instance_number"] for s in demur(workspace, "dicom", "show", scan["scan_id"])["slices"]]
    middle, n = numbers[len(numbers) // 2], len(numbers)
    app = Workstation(workspace)
    app.wait_text(scan["patient_id"])
    app.keys("n", "Return")
    app.wait_image(f"slice {middle} of {n}")
    app.keys(*["Down"] * 7, "Up")
    app.wait_image(f"slice {middle + 6} of {n}")
    wait_for(lambda: "reading the rest" not in app.image(), "the whole volume")
    assert f"slice {middle + 6} of {n}" in app.image(), app.image()
    app.quit()


def what_is_measured_is_in_the_file():
    """Right value: PixelSpacing by `dicom show` times the pixels that the image itself names under the pointer, to the
    size of a pixel of the screen; and the right angle between two dragged arms."""
    workspace = path("w.demur")
    scan = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]
    app = Workstation(workspace)
    app.wait_text(scan["patient_id"])
    app.keys("n", "Return")
    app.wait_image(f"of {scan['n_slices']}")
    wait_for(lambda: "reading the rest" not in app.image(), "the whole volume")
    spacing = demur(workspace, "dicom", "show", scan["scan_id"])["geometry"]["pixel_spacing_mm"]

    def pixel(x, y):
        app.pointer(x, y)
        app.pointer(x + 1, y)
        app.pointer(x, y)
        text = app.wait_image("; row ")
        return [int(word) for word in text.split("; row ")[1].split(";")[0].split(" column ")]

    def drag(x, y, to_x, to_y):
        app.pointer(x, y)
        subprocess.run(["xdotool", "mousedown", "1"], check=True)
        for step in range(1, 9):
            app.pointer(x + (to_x - x) * step // 8, y + (to_y - y) * step // 8)
        subprocess.run(["xdotool", "mouseup", "1"], check=True)

    # There is no birth date in the file: its PatientAge stands there.
    line = subprocess.run(["dcmdump", "+P", "PatientAge", demur(workspace, "dicom", "show", scan["scan_id"])["slices"][0]["path"]],
                          check=True, capture_output=True, text=True).stdout if shutil.which("dcmdump") else "[036Y]"
    assert f"{int(line.split('[')[1][:3])} F" in app.image(), (line, app.image())
    a, b = pixel(620, 400), pixel(780, 520)
    wanted = (((b[0] - a[0]) * spacing[0]) ** 2 + ((b[1] - a[1]) * spacing[1]) ** 2) ** 0.5
    app.keys("g")
    drag(620, 400, 780, 520)
    said = app.wait_image("; measured: ")
    length = float(said.split("; measured: ")[1].split(" mm")[0])
    assert abs(length - wanted) < 1.5 * max(spacing), (length, wanted, said)
    app.keys("BackSpace")
    wait_for(lambda: "; measured: " not in app.image(), "the measurement to go")
    app.keys("j")
    drag(620, 400, 620, 520)
    app.wait_image("; measured: ")
    drag(780, 520, 782, 520)
    angle = float(wait_for(lambda: "°" in app.image() and app.image(), "the angle").split("; measured: ")[1].split("°")[0])
    assert abs(angle - 90) < 1.5, angle
    # What was measured is of its slice.
    app.keys("Down")
    wait_for(lambda: "; measured: " not in app.image(), "another slice without it")
    app.keys("Up")
    app.wait_image("; measured: ")
    app.keys("BackSpace", "u")
    drag(620, 400, 700, 470)
    app.wait_image("mean ")
    app.quit()


def own_window(file):
    """The first window of a file, as dcmdump prints it."""
    if shutil.which("dcmdump") is None:
        print("skipped: dcmdump (package dcmtk) is not installed")
        sys.exit(77)
    values = []
    for name in ("WindowWidth", "WindowCenter"):
        line = subprocess.run(["dcmdump", "+P", name, file], check=True, capture_output=True, text=True).stdout
        values.append(round(float(line.split("[")[1].split("]")[0].split("\\")[0])))
    return values


def value_of_file(facts, row, column):
    """The CT number of one pixel from the bytes of an uncompressed file, independent of the program: dcmdump writes the
    pixel data out, slope and intercept come from `dicom show`."""
    for tool in ("dcmdump", "dcmconv"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} (package dcmtk) is not installed")
            sys.exit(77)
    plain = path("plain.dcm")
    subprocess.run(["dcmconv", "+te", facts["path"], plain], check=True)
    subprocess.run(["dcmdump", "+W", HOME, plain], check=True, stdout=subprocess.DEVNULL)
    fields = {}
    for name in ("Columns", "PixelRepresentation", "BitsAllocated"):
        line = subprocess.run(["dcmdump", "+P", name, plain], check=True, capture_output=True, text=True).stdout
        fields[name] = int(line.split()[2])
    assert fields["BitsAllocated"] == 16
    with open(os.path.join(HOME, "plain.dcm.0.raw"), "rb") as file:
        file.seek(2 * (row * fields["Columns"] + column))
        stored = int.from_bytes(file.read(2), "little", signed=fields["PixelRepresentation"] == 1)
    return round(stored * facts["slope"] + facts["intercept"])


def verdict_equals_assess():
    """Right value: the document of `demur assess`."""
    workspace, assessed = cohort_workspace()
    app = Workstation(workspace)
    for verdict, title in (("accepted", "Accepted: the risk is shown"), ("red_flag", "Red flag: do not rely")):
        one = next(v for v in assessed["verdicts"] if v["verdict"] == verdict)
        open_scan(app, one["scan_id"])
        app.wait_text(one["patient_id"])
        app.wait_text(title)
        texts = app.texts()
        if verdict == "accepted":
            assert f"{100 * one['risk']:.1f}\u00a0%" in texts or f"{100 * one['risk']:.1f} %" in texts, texts
            assert "risk of lung cancer within 6 years" in texts, texts  # the cohort's outcome
        else:
            assert "Risk held back" in texts
            told = [t for t in texts if f"{100 * one['risk']:.1f}" in t.replace("\u00a0", " ")]
            assert not told, f"a risk that is held back stands on the screen: {told}"
            assert [t for t in texts if "the model was checked on" in t or "would give the risk away" in t], texts
            # What is of scans at large is folded below, until it is asked for.
            assert any(d["kind"] == "made_within" for d in one["reason_details"]), one
            assert not [t for t in texts if t.startswith("As in the scans the model was checked on")], texts
            app.do("push button", "More about such scans")
            app.wait_text("As in the scans the model was checked on: ")
    app.quit()


def percent(share):
    return f"{100 * share:.1f}\u00a0%" if 0 < share < 1 else f"{100 * share:.0f}\u00a0%"


def what_a_risk_means_equals_the_patients_page():
    """Right value: the numbers of `demur report patient` for the same scan: of accepted scans of the test split, those of a
    scan of the tuning split too; and the cohort's own name for its outcome, which is no cancer. Where the window writes
    the page by itself, its JSON is the command line's to the byte."""
    maker, table, workspace = path("maker.demur"), path("table.csv"), path("stroke.demur")
    demur(maker, "cohort", "simulate", "small", "--scans", "900", "--sites", "6", "--base-train", "300", "--tune", "400",
          "--test", "400")
    demur(maker, "cohort", "export", "small", table)
    with open(table, encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source))
    names = [name for name in rows[0] if "cancer" not in name and name not in ("years_of_followup",)
             and not name.startswith("outcome_")]
    with open(table, "w", encoding="utf-8", newline="") as target:
        writer = csv.DictWriter(target, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    demur(workspace, "cohort", "import", "strokes", table, "--model", "stroke-net", "--outcome", "stroke")
    demur(workspace, "train", "first", "--cohort", "strokes", "--as-published", "--epochs", "1", "--datasets-per-epoch",
          "640")
    demur(workspace, "tune", "first", "--cohort", "strokes", "--coverage", "0.8")
    accepted = []
    for split in ("tune", "test"):
        shown = [v for v in demur(workspace, "assess", "first", "--cohort", "strokes", "--split", split)["verdicts"]
                 if v["verdict"] == "accepted"]
        shown.sort(key=lambda v: v["risk"])
        middle = shown[len(shown) // 2]
        accepted += [middle] if split == "tune" else [shown[0], middle, shown[-1]]
    app = Workstation(workspace)
    seen = []
    for at, verdict in enumerate(accepted):
        pdf = path(f"page{at}.pdf")
        demur(workspace, "report", "patient", pdf, "--scan", verdict["scan_id"], "--cohort", "strokes")
        with open(path(f"page{at}.json"), encoding="utf-8") as file:
            page = file.read()
        near = json.loads(page)["reference"]
        assert near["n_near"] >= 30 and near["split"] == "test", near
        open_scan(app, verdict["scan_id"])
        low, high = (percent(risk) for risk in near["risks"])
        share = percent(near["n_positive"] / near["n_near"])
        from_, to = (percent(end) for end in near["interval"])
        app.wait_text(f"Of {near['n_near']} accepted scans with a risk of {low} to {high} in cohort strokes, {share} "
                      f"had the outcome “stroke” within 6 years (95 % interval of that share: {from_} to {to}).")
        seen += app.texts()
        printed = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=False)
        assert "cancer" not in page and "cancer" not in printed.stdout.lower(), page
        if printed.returncode == 0:
            assert "had the outcome “stroke”" in " ".join(printed.stdout.split()), printed.stdout
        app.activate("win.export")
        app.save_as("Export this case", path(f"own{at}.pdf"))
        wait_for(lambda: os.path.exists(path(f"own{at}.json")), "the window's page")
        with open(path(f"own{at}.json"), encoding="utf-8") as file:
            assert json.loads(file.read())["reference"] == near
    for name in ("cohort", "report"):
        app.activate("win.page", f"'{name}'")
        app.wait_text("strokes")
        seen += app.texts()
    assert not [t for t in seen if "cancer" in t.lower()], [t for t in seen if "cancer" in t.lower()]
    app.quit()
    demur(workspace, "report", path("whole.pdf"), "--selector", "first", "--cohort", "strokes")
    with open(path("whole.json"), encoding="utf-8") as file:
        whole = file.read()
    assert "stroke" in whole and "cancer" not in whole.lower(), whole
    printed = subprocess.run(["pdftotext", path("whole.pdf"), "-"], capture_output=True, text=True, check=False).stdout
    assert "cancer" not in printed.lower(), printed


def tuning_warns_as_the_command_does():
    """Right value: the warnings of `demur tune` of the same selector, cohort and coverage: the split to tune on holds
    patients that trained the selector."""
    workspace, _ = cohort_workspace()
    table = path("small.csv")
    demur(workspace, "cohort", "export", "small", table)
    with open(table, encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source))
    for row in rows:
        row["split"] = {"selector_train": "tune", "tune": "selector_train"}.get(row["split"], row["split"])
    with open(table, "w", encoding="utf-8", newline="") as target:
        writer = csv.DictWriter(target, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    demur(workspace, "cohort", "remove", "small", "--force")
    demur(workspace, "cohort", "import", "small", table, "--model", "simulated-cnn")
    expected = demur(workspace, "tune", "first", "--cohort", "small", "--coverage", "0.7")["warnings"]
    assert any("were used to train or validate the selector" in warning for warning in expected), expected
    app = at_the_cohort_page(workspace)
    app.activate("win.coverage", "0.7")
    app.activate("win.use-coverage")
    app.wait_text("Why this coverage?")
    app.type("to see the warnings")
    app.keys("Return")
    told = app.wait_text("The threshold and your reason are kept.")
    for warning in expected:
        assert f"Warning: {warning}." in told, (warning, told)
    assert told.count("Warning:") == len(expected), (expected, told)
    app.quit()


def review_is_in_the_workspace():
    """Right value: the rows of the review table, read with sqlite3 and no code of the program."""
    workspace, assessed = cohort_workspace()
    one = next(v for v in assessed["verdicts"] if v["verdict"] == "red_flag")
    app = Workstation(workspace)
    app.activate("win.show", "'red_flag'")
    open_scan(app, one["scan_id"])
    app.wait_text("Risk held back")
    rows = lambda: sqlite3.connect(workspace).execute(
        "SELECT kind, scan_id, revealed, comment, shown, user FROM review ORDER BY id").fetchall()
    # A proposal that is dropped keeps nothing.
    app.keys("a")
    app.wait_text("Agree? Enter keeps it")
    app.keys("Escape")
    app.wait_no_text("Agree? Enter keeps it")
    assert rows() == []
    app.keys("r")
    app.wait_text("Revealed: ")
    app.keys("d")
    app.wait_text("Disagree? Enter keeps it")
    app.keys("Return")
    wait_for(lambda: len(rows()) == 2, "the review in the workspace")
    reveal, disagree = rows()
    assert reveal[:3] == ("reveal", one["scan_id"], 1), reveal
    assert disagree[:3] == ("disagree", one["scan_id"], 1), disagree
    shown = json.loads(disagree[4])
    assert shown["verdict"] == "red_flag" and abs(shown["risk"] - one["risk"]) < 1e-9, shown
    # The reveal is of this case alone: the worklist holds the risk back all the same.
    app.activate("win.page", "'worklist'")
    app.wait_text("held back")
    app.wait_text("✗ disagreed")
    app.quit()


def what_another_window_wrote_is_shown():
    """Right value: what the first window kept, in the second without a key; on a server (tests/support/with-postgres.sh) the
    server's name of who has the case open, too."""
    workspace, assessed = cohort_workspace()
    one = next(v for v in assessed["verdicts"] if v["verdict"] == "red_flag")
    server = os.environ.get("DEMUR_TEST_STORE")
    mine = other = workspace
    if server:
        demur(workspace, "workspace", "copy", workspace, server)
        subprocess.run(["psql", "-q", server, "-c", "CREATE ROLE anna LOGIN; CREATE ROLE rita LOGIN"], check=True)
        demur(server, "workspace", "roles", "anna=reader", "rita=reader", "--apply")
        mine, other = server + "&user=anna", server + "&user=rita"
    first, second = Workstation(mine), Workstation(other)
    second.activate("win.search", f"'{one['scan_id']}'")
    second.wait_text("held back")
    open_scan(first, one["scan_id"])
    if server:
        second.wait_text("open: anna")
    first.wait_text("Risk held back")
    first.keys("d")
    first.wait_text("Disagree? Enter keeps it")
    first.keys("Return")
    second.wait_text("✗ disagreed")
    first.activate("win.page", "'worklist'")
    first.wait_text("✗ disagreed")
    first.quit()
    second.wait_no_text("open: anna")
    if server:  # that the server is away is told in our own words, and no more once it is back
        control = os.environ["DEMUR_TEST_STORE_SERVER"]
        subprocess.run(["sh", control, "kill"], check=True)
        second.keys("F5")
        second.wait_text("there is no line to the server")
        subprocess.run(["sh", control, "start"], check=True)
        second.wait_no_text("there is no line to the server")
    second.quit()


def what_is_half_said_outlasts_what_others_write():
    """Right value: the rows of the review table: what was waiting while another wrote about the same scan is kept, and
    what was waiting when the verdict was made anew is not, but said, or asked again with its words."""
    workspace, assessed = cohort_workspace()
    one = next(v for v in assessed["verdicts"] if v["verdict"] == "accepted")
    app, other = Workstation(workspace), Workstation(workspace)
    mine = lambda: sqlite3.connect(workspace).execute("SELECT kind, comment FROM review ORDER BY id").fetchall()
    for window in (app, other):
        open_scan(window, one["scan_id"])
        window.wait_text("Where this comes from")
    app.do("push button", "Agree")
    app.wait_text("Agree? Enter keeps it")
    for press in ("Disagree", "Keep"):
        other.do("push button", press)
    app.wait_text(" disagreed, ")
    app.wait_text("Agree? Enter keeps it")
    app.do("push button", "Keep")
    wait_for(lambda: [kind for kind, _ in mine()] == ["disagree", "agree"], "both opinions")

    def comment_is_asked():
        return next((n for n in app.walk() if n.role in ("text", "entry") and n.name == "Comment"), None)
    app.do("push button", "Comment")
    wait_for(comment_is_asked, "the field of the comment").set_text("seen twice")
    for press in ("Agree", "Keep"):
        other.do("push button", press)
    wait_for(lambda: len(mine()) == 3, "the other's second opinion")
    wait_for(lambda: len([text for text in app.texts() if " agreed, " in text]) == 2, "the other's second opinion here")
    app.do("push button", "Keep")
    wait_for(lambda: mine()[3:] == [("comment", "seen twice")], "the comment")

    # Made anew: a verdict of its own.
    app.do("push button", "Agree")
    app.wait_text("Agree? Enter keeps it")
    demur(workspace, "assess", "first", "--cohort", "small")
    app.wait_text("your opinion was not kept")
    app.wait_no_text("Agree? Enter keeps it")
    assert len(mine()) == 4, mine()
    app.activate("win.close-notice")
    app.do("push button", "Disagree")
    app.wait_text("Disagree? Enter keeps it")
    app.do("push button", "Comment")
    wait_for(comment_is_asked, "the field of the comment").set_text("a nodule")
    demur(workspace, "assess", "first", "--cohort", "small")
    app.wait_text("your opinion was not kept")
    app.do("push button", "Keep")
    app.wait_text("does your comment still hold?")
    assert len(mine()) == 4 and comment_is_asked().text() == "a nodule", mine()
    app.do("push button", "Keep")
    wait_for(lambda: mine()[4:] == [("comment", "a nodule")], "the comment on the new verdict")
    app.quit()
    other.quit()


def what_other_sites_moved_is_said():
    """Right value: the sites that were asked and the scans that their answers count."""
    workspace, _ = cohort_workspace()
    first, answers, result = path("round.json"), [path("east.json"), path("west.json")], path("result.json")
    demur(workspace, "federate", "start", first, "--study", "audit", "--selector", "first", "--sites", "east,west")
    n = 0
    for answer, split in zip(answers, ("tune", "test")):  # each a workspace of its own, with scans of its own
        site, own = os.path.basename(answer)[:-5], answer + ".demur"
        demur(workspace, "workspace", "copy", workspace, own)
        n += demur(own, "federate", "answer", first, "--as", site, "--cohort", "small", "--split", split, "--output", answer)["n"]
    demur(workspace, "federate", "merge", first, *answers, "--output", result)
    demur(workspace, "federate", "install", result, "moved")
    demur(workspace, "tune", "moved", "--cohort", "small", "--coverage", "0.8")
    demur(workspace, "assess", "moved", "--cohort", "small", "--reveal", "to have it in use")
    says = f"intercept of {n} scans of east, west"
    app = at_the_cohort_page(workspace)
    app.wait_text(says)
    app.activate("win.page", "'worklist'")
    app.wait_no_text(says)
    app.activate("win.assess")
    app.wait_text(says)
    app.quit()


def a_server_is_opened_and_a_copy_kept():
    """By the keyboard. Right value: the copy's cohorts, by the command line; and that nothing is opened by what is no address."""
    workspace, server = path("own.demur"), os.environ.get("DEMUR_TEST_STORE")
    demur(workspace, "cohort", "simulate", "ours", "--scans", "60", "--sites", "2")
    app = Workstation(workspace)
    app.wait_text("own.demur")
    title = "Open a workspace on a server"
    app.activate("app.open-server")
    app.wait_text("Its address, as who administers it gave it")
    app.keys("Escape", window=title)
    app.wait_no_text("Its address, as who administers it gave it")
    app.activate("app.open-server")
    app.wait_text("Its address, as who administers it gave it")
    app.focus(title)
    subprocess.run(["xdotool", "type", "--delay", "8", "http://ward.example/own"], check=True)
    app.keys("Return", window=title)
    app.wait_text("That is no address of a server: write postgresql://HOST/DATABASE.")
    app.wait_text("own.demur")
    copy = path("kept.demur")
    app.activate("win.backup")
    app.save_as("Keep a copy of the workspace", copy)
    app.wait_text(f"The whole workspace is in {copy}, verified.")
    names = lambda where: [c["name"] for c in demur(where, "cohort", "list")["cohorts"]]
    assert names(copy) == names(workspace) == ["ours"], names(copy)
    if server:
        demur(workspace, "workspace", "copy", copy, server)
        app.activate("app.open-server")
        app.wait_text("Its address, as who administers it gave it")
        app.focus(title)
        subprocess.run(["xdotool", "type", "--delay", "8", server], check=True)
        app.keys("Return", window=title)
        app.wait_no_text("own.demur")
    app.quit()


def an_opinion_is_of_what_is_shown():
    """Right value: the rows of the review table: none where the prompt was gone when it was kept, one where a mouse or a
    screen reader pressed Keep; and none of a scan that was never assessed."""
    workspace, assessed = cohort_workspace()
    demur(workspace, "dicom", "import", shared("real/siemens-emotion"))
    one = next(v for v in assessed["verdicts"] if v["verdict"] == "red_flag")
    app = Workstation(workspace)
    rows = lambda: sqlite3.connect(workspace).execute("SELECT kind, scan_id FROM review WHERE kind <> 'reveal'").fetchall()

    open_scan(app, one["scan_id"])
    app.wait_text("Risk held back")
    # The prompt goes with the page, and with a reveal; Enter then keeps nothing.
    app.keys("a")
    app.wait_text("Agree? Enter keeps it")
    app.activate("win.page", "'cohort'")
    app.activate("win.page", "'patient'")
    app.wait_no_text("Agree? Enter keeps it")
    app.keys("Return")
    app.keys("d")
    app.wait_text("Disagree? Enter keeps it")
    app.keys("r")
    app.wait_text("Revealed: ")
    app.wait_no_text("Disagree? Enter keeps it")
    app.keys("Return")
    assert rows() == [], rows()
    # The buttons alone: as a mouse or a screen reader presses them.
    app.do("push button", "Agree")
    app.wait_text("Agree? Enter keeps it")
    app.do("push button", "Keep")
    wait_for(lambda: rows() == [("agree", one["scan_id"])], "the review in the workspace")
    # A scan that was never assessed has no verdict to agree with.
    series = next(s for s in demur(workspace, "dicom", "list")["series"] if s["accepted"])
    open_scan(app, series["scan_id"])
    app.wait_text("Not assessed yet")
    app.keys("a", "Return")
    app.activate("win.agree")
    app.activate("win.keep")
    assert len(rows()) == 1, rows()
    app.quit()


def slider_equals_evaluate():
    """Right value: `demur evaluate` at the coverages it measures: 0.9, 0.7 and 0.5, thresholds from the split."""
    workspace, _ = cohort_workspace()
    result = demur(workspace, "evaluate", "--selector", "first", "--cohort", "small")
    method = next(m for m in result["methods"] if m["name"] == "selector:first")
    margin = demur(workspace, "tune", "first", "--cohort", "small", "--coverage", "0.9")
    margin = (margin["thresholds"] if "thresholds" in margin else margin["tunings"])[0]["margin"]
    app = at_the_cohort_page(workspace)
    for coverage in (0.9, 0.7, 0.5):
        at = next(a for a in method["at"] if a["coverage"] == coverage and a["threshold_from"] == "split")
        app.activate("win.coverage", str(coverage))
        app.wait_text(f"accepts {at['n_accepted']} of {result['n_scans']} scans")
        errors = app.wait_text(f"S-BCE₂ {at['sbce2']:.3f}, plain confidence".replace(" 0.", " ."))
        assert f"at least {100 * (coverage - margin):.1f}\u00a0% with 95" in errors, (errors, margin)
        chart = "Rejection by label: share of each label that is refused"
        for label in at["rejected_by_label"] if at["n_counted"] == at["n_accepted"] else ():  # else of another set, or of none
            rate = "–" if label["rate"] is None else f"{100 * label['rate']:.1f}"  # few of a label are refused: withheld
            wait_for(lambda: rate in app.image(chart).replace("\u00a0", " "), f"{rate} % of label {label['label']}")
    # By the keyboard: one point to the left on the slider.
    slider = app.find("slider", "Coverage in percent")
    before = slider.value()
    app.keys("Left")  # the slider has the focus when a study is there
    wait_for(lambda: slider.value() == before - 1, "the slider to move")
    app.quit()


def use_a_coverage_with_a_reason():
    """Right value: the thresholds that `demur selector show` lists, and the decision in the workspace."""
    workspace, _ = cohort_workspace()
    demur(workspace, "tune", "first", "--cohort", "small", "--coverage", "0.8", "--hold-back-across", "0.06")
    app = at_the_cohort_page(workspace)
    app.activate("win.coverage", "0.6")
    app.activate("win.use-coverage")
    app.wait_text("Why this coverage?")
    app.type("two readers a week")
    app.keys("Return")
    app.wait_text("The threshold and your reason are kept.")
    decided = sqlite3.connect(workspace).execute("SELECT coverage, reason FROM decision").fetchall()
    assert decided == [(0.6, "two readers a week")], decided
    kept = sqlite3.connect(workspace).execute("SELECT coverage FROM threshold ORDER BY sequence").fetchall()
    assert kept == [(0.8,), (0.6,)], kept
    # What was held back across a decision threshold is held back at the new coverage too.
    app.wait_text("leaves open on which side of 0.06 their risk lies.")
    rules = sqlite3.connect(workspace).execute("SELECT guarantee FROM threshold").fetchall()
    assert all('"hold_back_across": 0.06' in rule for (rule,) in rules), rules
    app.quit()


def hand_over(folder):
    """A folder as a hospital gives it: DICOM, scores.csv, and a cohort.csv with names of its own and no splits."""
    maker, table = os.path.join(HOME, "maker.demur"), os.path.join(HOME, "table.csv")
    os.makedirs(folder)
    demur(maker, "cohort", "simulate", "small", "--scans", "900", "--sites", "8", "--base-train", "300", "--tune", "400",
          "--test", "400")
    demur(maker, "cohort", "export", "small", table)
    with open(table, encoding="utf-8", newline="") as source, \
            open(os.path.join(folder, "cohort.csv"), "w", encoding="utf-8", newline="") as target:
        rows = list(csv.DictReader(source))
        writer = csv.writer(target, delimiter=";")
        writer.writerow(["Patient ID", "Exam", "Hospital", "Cancer", "Probability", "sex", "age"])
        for row in rows:
            writer.writerow([row[n] for n in ("patient_id", "scan_id", "site", "label", "risk", "sex", "age")])
    shutil.copytree(shared("real/siemens-emotion"), os.path.join(folder, "dicom"))
    series = demur(maker, "dicom", "import", os.path.join(folder, "dicom"))["series"]
    with open(os.path.join(folder, "scores.csv"), "w", encoding="utf-8") as target:
        target.write("SeriesInstanceUID,Score\n")
        for s in series:
            target.write(f"{s['series_uid']},0.0123\n")
    return series


def first_run_without_a_terminal():
    """From an empty window to verdict and report by what the window says, with a folder of DICOM, scores.csv and cohort.csv.
    Right value: what the command line then finds in the workspace, and the bytes of its report."""
    workspace, folder = path("w.demur"), path("handed-over")
    series = hand_over(folder)
    app = Workstation(workspace)
    app.wait_text("Next: Import the CT scans")
    app.do("push button", "Scans: next")
    app.choose("Import a folder", os.path.join(folder, "dicom"))
    app.wait_text("1 accepted for assessment")
    # Scores: the table's own names are guessed, the model is asked for, and the button says what it waits for.
    app.wait_text("Next: Import what the external model said")
    app.do("push button", "Scores: next")
    app.choose("Import scores, a cohort or a selector", os.path.join(folder, "scores.csv"))
    app.wait_text("Say which model gave these risks")
    wait_for(lambda: app.find("text", "External model"), "the field").set_text("some-cnn")
    app.wait_no_text("Say which model gave these risks")
    app.do("push button", "Import")
    app.wait_text("Scores of model some-cnn: 1 series got theirs, 0 rows are of no series here")
    app.wait_text("Next: Import a cohort")
    app.do("push button", "Cohort: next")
    app.choose("Import scores, a cohort or a selector", os.path.join(folder, "cohort.csv"))
    wait_for(lambda: app.find("text", "Name"), "the field").set_text("ours")
    app.do("push button", "Import")
    app.wait_text("Cohort ours is kept: 2,180 scans")
    app.wait_text("Next: Train a selector")
    app.do("push button", "Selector: next")
    wait_for(lambda: app.find("text", "Epochs"), "the form").set_text("2")
    for name, number in (("Data sets an epoch", "640"), ("Networks averaged", "1")):
        app.find("text", name).set_text(number)
    app.do("push button", "Train")
    app.wait_text("is trained and kept")
    app.keys("Escape", window="Train a selector")
    app.wait_text("Next: Choose on the Cohort page")
    app.do("push button", "Threshold: next")
    app.wait_text("accepts ")
    app.do("push button", "Use this coverage…")
    app.wait_text("Why this coverage?")
    app.type("as many as the readers can see")
    app.keys("Return")
    app.wait_text("The threshold and your reason are kept.")
    app.wait_text("Next: Assess")
    app.do("push button", "Verdicts: next")
    app.do("push button", "Assess")
    app.wait_no_text("Next: ")
    app.wait_text("Assessed: ")
    listed = demur(workspace, "assess", demur(workspace, "selector", "list")["selectors"][0]["name"], "--all")["verdicts"]
    assert [v["verdict"] for v in listed] in (["accepted"], ["red_flag"]), listed
    assert listed[0]["scan_id"] == series[0]["scan_id"]
    app.wait_text({"accepted": "● Accepted 1", "red_flag": "▲ Red flag 1"}[listed[0]["verdict"]])
    app.activate("win.page", "'report'")
    app.wait_text("Page 1 of ")
    app.do("push button", "Export PDF…")
    app.save_as("Export the report", path("report.pdf"))
    app.wait_text("The report was written to")
    assert demur(workspace, "report", "verify", path("report.pdf"))
    app.quit()


def a_list_is_named_and_left_in_one_step():
    """Right value: the verdict, patient and date that the command line gives; one Tab from the first row to what is behind
    the list, one back."""
    workspace, assessed = cohort_workspace()
    app = Workstation(workspace)
    app.wait_text("Red flag")
    by_patient = {(v["patient_id"]): v for v in assessed["verdicts"]}
    rows = wait_for(lambda: [n for n in app.walk() if n.name.split(", ")[0] in ("Accepted", "Red flag")
                             and len(n.name.split(", ")) == 4], "named rows")
    assert len(rows) > 10, [n.name for n in app.walk()]
    for node in rows[:10]:
        verdict, patient, _, risk = node.name.split(", ")
        wanted = [v for v in assessed["verdicts"] if v["patient_id"] == patient and
                  {"accepted": "Accepted", "red_flag": "Red flag"}[v["verdict"]] == verdict]
        assert wanted, (node.name, by_patient[patient])
        assert (risk == "held back") == (verdict == "Red flag"), node.name
    unnamed = [n for n in app.walk() if n.name in ("GtkListItemWidget", "GtkToggleButton", "GtkDropDown") and n.focusable()]
    assert not unnamed, [(n.role, n.name) for n in unnamed]
    focused = lambda: next((n for n in app.walk() if n.focused()), None)
    app.keys("Escape", "Down", "Down")
    wait_for(lambda: focused() is not None and len(focused().name.split(", ")) == 4, "a row with the keyboard")
    app.keys("Tab")
    wait_for(lambda: focused() is not None and len(focused().name.split(", ")) != 4, "the list to be left")
    app.keys("shift+Tab")
    wait_for(lambda: focused() is not None and len(focused().name.split(", ")) == 4, "the list again")
    app.quit()


def chosen_in(app, name):
    menu = wait_for(lambda: app.find("combo box", name), name)
    return next((n.name for n in app.walk(menu) if n.role == "label" and n.name != "(None)"), None)


def choose_in(app, title, name, wanted):
    """Chooses by keys in the menu of that name, in the window of that title."""
    def menu():
        return wait_for(lambda: app.find("combo box", name), name)

    def chosen():
        return chosen_in(app, name)

    def is_chosen():
        """Within ten seconds: a key can miss a menu that a busy machine closes or opens late."""
        for _ in range(100):
            if chosen() == wanted:
                return True
            time.sleep(.1)
        return False

    places = lambda: [n for n in app.walk() if n.role == "list item"]
    for _ in range(3):
        if chosen() == wanted:
            return
        if not any(n.focused() for n in places()):
            for _ in range(30):
                if any(n.focused() for n in app.walk(menu())):
                    break
                app.keys("Tab", window=title)
            app.keys("space", window=title)
        wait_for(lambda: any(n.focused() for n in places()), f"the menu of {name}")
        for _ in range(9):
            at = next((n for n in places() if n.focused()), None)
            if at is not None and any(n.name == wanted for n in app.walk(at)):
                subprocess.run(["xdotool", "key", "Return"], check=True)  # to the menu, which the window's focus would close
                if is_chosen():
                    return
                break
            subprocess.run(["xdotool", "key", "Down"], check=True)
            wait_for(lambda: next((n.path for n in places() if n.focused()), None) != (at.path if at else None), "the next one")
    raise AssertionError((name, wanted))


def a_form_holds_what_it_was_filled_with():
    """Right value: the cohorts that stand in the menu have their own splits there, whatever left the workspace since."""
    workspace = path("forms.demur")
    for name, split in (("a", "selector_train"), ("b", "other"), ("c", "third")):
        with open(path(name + ".csv"), "w", encoding="utf-8") as file:
            file.write("patient_id,site,split,label,risk\n")
            file.writelines(f"p{k},{'AB'[k % 2]},{split},{k % 2},0.{100 + k}\n" for k in range(40))
        demur(workspace, "cohort", "import", name, path(name + ".csv"), "--model", "m")
    app = Workstation(workspace)
    app.activate("win.train")
    wait_for(lambda: app.find("combo box", "Cohort"), "the form")
    demur(workspace, "cohort", "remove", "b")
    demur(workspace, "cohort", "remove", "c")
    app.activate("win.reload")
    for name, split in (("b", "other"), ("c", "third")):
        choose_in(app, "Train a selector", "Cohort", name)
        wait_for(lambda: any(n.name == split for n in app.walk(app.find("combo box", "Split"))), f"split {split} of {name}")
    app.do("push button", "Train")
    app.wait_text(demur(workspace, "train", "s", "--cohort", "c", "--split", "third", check=False)["error"])
    app.quit()


def train_and_cancel():
    """Right value: no selector after a cancelled training and a checkpoint that grows when it goes on, one selector after
    a finished training, as `demur selector list` and the workspace say."""
    workspace, _ = cohort_workspace()
    app = at_the_cohort_page(workspace)
    app.activate("win.train")
    name = wait_for(lambda: app.find("text", "Name"), "the form")
    # A name that the command line refuses is refused here, in the same words.
    for odd in ("a/b", "a\u202eb"):
        name.set_text(odd)
        app.do("push button", "Train")
        app.wait_text(demur(workspace, "train", odd, "--cohort", "small", check=False)["error"])
    # "As published" trains to the last epoch, so that ten thousand of them end long after the test.
    average = app.find("text", "Networks averaged")
    app.keys("Tab", "space", "Down", "Return", window="Train a selector")
    wait_for(lambda: average.text() == "1", "the published settings")
    epochs, datasets = app.find("text", "Epochs"), app.find("text", "Data sets an epoch")
    name.set_text("second")
    epochs.set_text("10000")
    datasets.set_text("6400")

    def kept():
        rows = sqlite3.connect(workspace).execute("SELECT name, n_updates FROM checkpoint").fetchall()
        assert [row[0] for row in rows] == ["second"], rows
        return rows[0][1]

    def train_a_little(epoch):
        app.do("push button", "Train")
        wait_for(lambda: f"epoch {epoch}: loss" in app.image("Training curves"), f"epoch {epoch} on the live curves")
        app.do("push button", "Cancel training")
        app.wait_text("Cancelled. What was reached is kept")

    train_a_little(2)
    assert [s["name"] for s in demur(workspace, "selector", "list")["selectors"]] == ["first"]
    first = kept()
    assert first >= 400, first
    train_a_little(first // 200 + 2)
    assert kept() > first
    # The command line knows of it, and of what it was made with.
    other = subprocess.run([DEMUR, "--workspace", workspace, "train", "second", "--cohort", "small", "--as-published",
                            "--resume"], capture_output=True, text=True, check=False)
    assert other.returncode == 1 and "epochs" in other.stderr and "10000" in other.stderr, other.stderr
    name.set_text("third")
    epochs.set_text("1")
    datasets.set_text("640")
    app.do("push button", "Train")
    app.wait_text("Selector third is trained and kept")
    names = [s["name"] for s in demur(workspace, "selector", "list")["selectors"]]
    assert sorted(names) == ["first", "third"], names
    assert "epoch 1: loss" in app.image("Training curves")
    # Nothing asked for: as on the command line, and the window says what it scores by and why.
    app.keys("Escape", window="Train a selector")
    app.activate("win.train")
    name = wait_for(lambda: app.find("text", "Name"), "the form")
    name.set_text("fourth")
    app.do("push button", "Train")
    app.wait_text("It scores by confidence: whether networks help at other hospitals needs 20 training sites to decide, there are 6.")
    shown = demur(workspace, "selector", "show", "fourth")
    demur(workspace, "train", "fifth", "--cohort", "small")
    assert shown["settings"]["method"] == demur(workspace, "selector", "show", "fifth")["settings"]["method"] == "confidence"
    app.quit()


def export_the_report():
    """Right value: the bytes that `demur report` writes for the same selector, cohort and split."""
    workspace, _ = cohort_workspace()
    demur(workspace, "report", path("cli.pdf"), "--selector", "first", "--cohort", "small")
    app = Workstation(workspace)
    app.activate("win.page", "'report'")
    app.wait_text("Calibration report of selector first on split test of cohort small")
    app.wait_text("Page 1 of ")
    app.activate("win.export-report", f"'{path('ui.pdf')}'")
    app.wait_text("The report was written to")
    with open(path("ui.json"), encoding="utf-8") as ours, open(path("cli.json"), encoding="utf-8") as theirs:
        differing = [(a, b) for a, b in zip(ours.read().split("\n"), theirs.read().split("\n")) if a != b]
        assert not differing, f"the numbers beside the PDF differ from the command line's: {differing[:3]}"
    with open(path("ui.pdf"), "rb") as ours, open(path("cli.pdf"), "rb") as theirs:
        assert ours.read() == theirs.read(), "the PDF differs from the command line's"
    # Another paper, coverage and grouping, by the menus: the command line's own report of the same.
    demur(workspace, "report", path("cli2.pdf"), "--selector", "first", "--cohort", "small", "--paper", "letter",
          "--coverage", "0.7", "--group-by", "sex")

    def pick(menu, text, steps):
        app.do("push button", menu)
        wait_for(lambda: text in app.texts(), f"{text} in the open menu")
        app.keys(*["Down"] * steps, "Return")
        wait_for(lambda: text in [n.name for n in app.walk(app.find("push button", menu))], f"{text} to be chosen")

    pick("Paper", "Letter", 1)
    pick("Coverage of the summary", "70\u00a0%", 2)
    names = [a["name"] for a in demur(workspace, "cohort", "show", "small")["attributes"]]
    pick("Subgroups", "sex", names.index("sex") + 1)
    wait_for(lambda: app.find("push button", "Export PDF…").has_state(24), "the report by sex")
    app.wait_text("Page 1 of ")
    app.activate("win.export-report", f"'{path('ui2.pdf')}'")
    wait_for(lambda: os.path.exists(path("ui2.json")), "the report")
    with open(path("ui2.json"), encoding="utf-8") as ours, open(path("cli2.json"), encoding="utf-8") as theirs:
        differing = [(a, b) for a, b in zip(ours.read().split("\n"), theirs.read().split("\n")) if a != b]
        assert not differing, f"the numbers beside the PDF differ from the command line's: {differing[:3]}"
    app.activate("win.export-report", "'/nonexistent/x.pdf'")
    app.wait_text("/nonexistent")
    app.quit()


def family_workspace():
    """A cohort of 600 drawn patients, and a tuned family f of horizons 3 and 6 over it."""
    workspace, draws = path("family.demur"), random.Random(5)
    with open(path("drawn.csv"), "w", encoding="utf-8") as table:
        years = ",".join(f"risk_year_{year}" for year in range(1, 7))
        table.write(f"patient_id,site,split,label,{years},years_to_cancer,years_of_followup\n")
        for i in range(600):
            staying = (1 - .03 - .7 * draws.random() ** 2) ** (1 / 6)
            time_to = math.log(1 - draws.random()) / math.log(staying)
            risks = ",".join(f"{1 - staying ** year:.6f}" for year in range(1, 7))
            outcome = f"{time_to:.3f},{time_to:.3f}" if time_to < 6 else ",6.5"
            split = "selector_train" if i < 200 else "tune" if i < 300 else "test"
            table.write(f"p{i},s{i % 6},{split},{int(time_to < 6)},{risks},{outcome}\n")
    demur(workspace, "cohort", "import", "drawn", path("drawn.csv"), "--horizon", "6", "--model", "m")
    demur(workspace, "train", "f", "--cohort", "drawn", "--method", "confidence", "--horizons", "3,6")
    demur(workspace, "tune", "f", "--cohort", "drawn", "--coverage", "0.9")
    return workspace


def a_family_is_reported_in_one_document():
    """Right value: the bytes that `demur report --selector FAMILY` writes; of a selector without a family nothing is offered."""
    workspace = family_workspace()
    demur(workspace, "report", path("cli.pdf"), "--selector", "f", "--cohort", "drawn")
    app = Workstation(workspace)
    # A family is one choice, its horizons are another: the longest first.
    app.activate("win.page", "'cohort'")
    app.wait_text("accepts ")
    said = lambda name: app.find("push button", name).description
    assert (said("Selector"), said("Horizon")) == ("f", "6 years"), (said("Selector"), said("Horizon"))
    app.do("push button", "Horizon")
    wait_for(lambda: any(node.focused() for node in app.walk() if node.role == "list item"), "a horizon with the keyboard")
    subprocess.run(["xdotool", "key", "Up", "Return"], check=True)
    wait_for(lambda: said("Horizon") == "3 years", "the menu to say 3 years")
    app.activate("win.page", "'report'")
    app.wait_text("Calibration report of selector f-3y")
    choice = wait_for(lambda: app.find("check box", "All horizons"), "the choice")
    Keys(app, None).press(choice.name)
    wait_for(lambda: app.find("check box", "All horizons").has_state(4), "the choice to be taken")
    app.activate("win.export-report", f"'{path('ui.pdf')}'")
    wait_for(lambda: os.path.exists(path("ui.pdf")), "the report")
    with open(path("ui.pdf"), "rb") as ours, open(path("cli.pdf"), "rb") as theirs:
        assert ours.read() == theirs.read(), "the report differs from the command line's"
    app.quit()


def a_family_is_assessed_as_one():
    """Right value: the form offers the family as one choice and its horizons as another, the longest first; whichever is
    chosen, every test scan has a verdict of each in the workspace."""
    workspace = family_workspace()
    app = Workstation(workspace)
    app.wait_text("Next: Import the CT scans")
    said = lambda name: app.find("push button", name).description
    app.activate("win.assess")
    app.wait_text("Each scan gets a new verdict")
    assert (said("Selector that judges"), said("Horizon")) == ("f", "6 years"), (said("Selector that judges"), said("Horizon"))
    app.do("push button", "Scans that are assessed")
    wait_for(lambda: any(node.focused() for node in app.walk() if node.role == "list item"), "the scans with the keyboard")
    subprocess.run(["xdotool", "key", "Down", "Return"], check=True)
    app.wait_text("get their first verdict")
    app.do("push button", "Assess")
    kept = lambda: sqlite3.connect(workspace).execute(
        "SELECT b.selector, count(*) FROM verdict v JOIN verdict_batch b ON v.batch_id = b.id GROUP BY b.selector ORDER BY 1").fetchall()
    wait_for(kept, "the verdicts in the workspace")
    assert kept() == [("f-3y", 200), ("f-6y", 200)], kept()
    app.quit()


def never_another_patients_image():
    """Right value: the patient ID that `demur dicom list` gives a scan, on the image and in the column beside it, at
    every moment while cases are switched faster than images load."""
    workspace = path("w.demur")
    series = []
    for folder in ("real/siemens-emotion", "real/philips-series-choice", "real/ge-irregular", "real/philips-tilt"):
        series += demur(workspace, "dicom", "import", shared(folder))["series"]
    app = Workstation(workspace)
    app.wait_text(series[0]["patient_id"])
    app.activate("win.page", "'patient'")
    ids = {s["patient_id"] for s in series if s["patient_id"]}
    n_seen = 0

    page = app.page_of_image()
    picture = app.find("image", "CT image")

    def check():
        """What stands on the image is of the patient whose name stands beside it."""
        nonlocal n_seen
        title, image = app.first_of(ids, page), picture.description
        if title is None or title != app.first_of(ids, page) or image != picture.description or ";" not in image:
            return  # it changed while it was read
        n_seen += 1
        assert image.startswith(title + " "), (image, title)

    for key in ["n"] * 8 + ["p"] * 8 + ["n", "p"] * 6:
        app.keys(key)
        check()
    # When all has arrived an image of the current patient is there.
    wait_for(lambda: ";" in picture.description and "reading the rest" not in picture.description, "the last image")
    check()
    assert n_seen > 0
    app.quit()


class Screen:
    """The pixels of the display, from the file in which Xvfb keeps them (an XWD dump, 32 bits a pixel)."""

    def __init__(self):
        with open(os.path.join(HOME, "Xvfb_screen0"), "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        head = struct.unpack(">25I", self.memory[:100])
        self.start, self.stride = head[0] + 12 * head[19], head[12]

    def rows(self, x, y, width, height):
        """The bytes of a rectangle."""
        at = self.start + y * self.stride + 4 * x
        return b"".join(self.memory[at + k * self.stride:at + k * self.stride + 4 * width] for k in range(height))


def marked_patients(n, n_slices=60):
    """Folders of n invented patients, each with one grey value in every pixel of its CT: the marker."""
    try:
        import pydicom
    except ImportError:
        print("skipped: python3-pydicom is not installed")
        sys.exit(77)
    one = pydicom.dcmread(os.path.join(shared_case("00-shared"), "ct", sorted(os.listdir(os.path.join(
        shared_case("00-shared"), "ct")))[0]))
    for k in range(n):
        os.makedirs(path(f"marked{k}"))
        one.PatientID, one.PatientName = f"MARK-{k}", f"Mark^{k}"
        one.StudyInstanceUID, one.SeriesInstanceUID = f"1.2.3.{k + 1}.1", f"1.2.3.{k + 1}.2"
        one.Rows = one.Columns = 512
        stored = int((-1000 + 180 * k - float(one.RescaleIntercept)) / float(one.RescaleSlope))
        one.PixelData = struct.pack("<h" if one.PixelRepresentation else "<H", stored) * 512 * 512
        for s in range(n_slices):
            one.SOPInstanceUID = one.file_meta.MediaStorageSOPInstanceUID = f"1.2.3.{k + 1}.3.{s + 1}"
            one.InstanceNumber, one.SliceLocation = s + 1, 2.0 * s
            one.ImagePositionPatient = [*one.ImagePositionPatient[:2], 2.0 * s]
            one.save_as(path(f"marked{k}/{s:03d}.dcm"))
        yield path(f"marked{k}")


def place_on_screen(app, node):
    """x, y, width, height of a widget in the display."""
    shell = subprocess.run(["xdotool", "getwindowgeometry", "--shell", app.x_window()], capture_output=True, text=True,
                           check=True).stdout
    x0, y0 = (int(re.search(rf"^{axis}=(-?\d+)$", shell, re.M).group(1)) for axis in "XY")
    x, y, width, height = node.call("Component", "GetExtents", GLib.Variant("(u)", (1,)))[0]
    return x0 + x, y0 + y, width, height


def drawn_anew(titles, markers, now):
    """A look (ID, patch of the image) where both are none of before and the patch has one grey value; else None."""
    pixels = {now[1][i:i + 4] for i in range(0, len(now[1]), 4)}
    return now if now[0] not in titles and now[1] not in markers and len(pixels) == 1 else None


def no_pixel_is_another_patients():
    """Right value: the grey value that every pixel of a patient's CT has, and the patient's ID as it is drawn beside it when
    all has arrived: in each look at the screen's own memory while cases are switched, the two are of one patient, or no
    image is there yet. Every few keys the case that was gone to is waited for, ID and image; each case is seen with its own
    image in the end. DEMUR_UI_SWITCHES: how many (60)."""
    n, n_switches, at_once = 6, int(os.environ.get("DEMUR_UI_SWITCHES", "60")), 7
    workspace = path("w.demur")
    for folder in marked_patients(n):
        demur(workspace, "dicom", "import", folder)
    app = Workstation(workspace)
    app.wait_text("MARK-0")
    app.activate("win.page", "'patient'")
    app.keys("n")
    screen, page = Screen(), app.page_of_image()
    ids = {f"MARK-{k}" for k in range(n)}
    title = place_on_screen(app, wait_for(lambda: next((node for node in app.walk(page) if node.name in ids), None), "the ID"))
    picture = app.find("image", "CT image")
    x, y, width, height = place_on_screen(app, picture)
    patch = (x + width // 2 + 40, y + height // 2 + 40, 4, 4)
    look = lambda: (screen.rows(*title), screen.rows(*patch))
    titles, markers, order = {}, {}, []
    for step in range(n):  # as each looks when all has arrived
        if step > 0:
            app.keys("n")
        name = wait_for(lambda: next((name for name in ids - set(order) if picture.description.startswith(name + " ") and
                                      "reading" not in picture.description), None), "the whole image of another patient")
        wait_for(lambda: app.first_of(ids, page) == name, "the ID of the image")
        last = wait_for(lambda: drawn_anew(titles, markers, look()), f"{name} to be drawn")
        titles[last[0]], markers[last[1]] = name, name
        order.append(name)
    known, wrong, blank, torn, with_own, ends, at, way, done = 0, [], 0, 0, set(), 0, n - 1, -1, 0
    while done < n_switches:
        keys = []
        for _ in range(min(at_once, n_switches - done)):
            way = -way if not 0 <= at + way < n else way
            at += way
            keys.append("n" if way > 0 else "p")
        done += len(keys)
        app.focus()
        typing, arrived, end = subprocess.Popen(["xdotool", "key", "--delay", "10", *keys]), False, time.monotonic() + DEADLINE
        while not arrived:
            assert time.monotonic() < end, f"{order[at]} is not shown; wrong: {wrong[:5]}"
            ended, first, second = typing.poll() is not None, look(), look()
            name = titles.get(first[0])
            if first != second or name is None:
                continue  # it was drawn while it was read
            marker = markers.get(first[1])
            if marker is None:
                blank += 1
            elif marker == name:
                known += 1
                with_own.add(name)
            else:
                # A frame that is half drawn, or a whole one? It is whole when the program has answered: it does between two.
                picture.live_name()
                if look() == first:
                    wrong.append((name, marker))
                else:
                    torn += 1
            arrived = ended and name == marker == order[at]
        ends += 1
    print(f"{done} switches, {ends} ends waited for, {len(with_own)} patients seen: {known} looks at an image beside its "
          f"ID, {blank} before there was one, {torn} while a frame was drawn, {len(wrong)} wrong", flush=True)
    assert not wrong, wrong[:5]
    assert with_own == ids, (with_own, ids)
    app.quit()


def broken_workspaces_end_in_a_sentence():
    """Right value: a sentence that names the file and what to do, and a program that goes on with the workspace it
    had."""
    good, _ = cohort_workspace()
    app = Workstation(good)
    app.wait_text("cohort.demur")
    with open(path("not.demur"), "w", encoding="utf-8") as file:
        file.write("this is no workspace\n" * 100)
    shutil.copy(good, path("newer.demur"))
    newer = sqlite3.connect(path("newer.demur"))
    newer.execute("PRAGMA user_version = 9999")
    newer.commit()
    newer.close()
    for name, words in (("not.demur", "choose another file"), ("newer.demur", "newer"),
                        ("/proc/none/x.demur", "can't be made")):
        app.activate("app.open-path", f"'{path(name)}'")
        sentence = app.wait_text(words)
        assert os.path.dirname(path(name)) in sentence, sentence
        app.wait_text("cohort.demur")
        app.activate("win.close-notice")
        app.wait_no_text(words)
    # A file that is gone is not made anew, and what was read stays.
    os.rename(good, good + ".away")
    app.activate("win.reload")
    app.wait_text("cohort.demur is gone")
    assert not os.path.exists(good), "a workspace that was gone was made anew"
    app.wait_text("Not reviewed 400")
    os.rename(good + ".away", good)
    app.activate("win.close-notice")
    # A damaged file cut in the middle.
    with open(good, "rb") as file:
        half = file.read()[: os.path.getsize(good) // 2]
    with open(path("half.demur"), "wb") as file:
        file.write(half)
    app.activate("app.open-path", f"'{path('half.demur')}'")
    app.wait_text("half.demur")
    app.activate("app.open-path", f"'{good}'")
    app.wait_text("cohort.demur")
    # A review that can't be written, because another program holds the workspace: a sentence, and nothing counts.
    app.activate("win.search", "''")
    app.activate("win.page", "'patient'")
    app.activate("win.next")
    of = "risk of lung cancer within 6 years"
    app.wait_text(of if app.find(name=of) else "Risk held back")
    locker = sqlite3.connect(good, isolation_level=None)
    locker.execute("BEGIN EXCLUSIVE")
    app.keys("a", "Return")
    app.wait_text("lock")
    locker.execute("ROLLBACK")
    assert locker.execute("SELECT count(*) FROM review").fetchone() == (0,)
    app.quit()


def damaged_series_are_said():
    """Right value: ../shared/dicom/derived/EXPECTED.tsv: a truncated slice, a series without positions."""
    workspace = path("w.demur")
    truncated = demur(workspace, "dicom", "import", shared("derived/19_truncated_last"))["series"][0]
    flat = demur(workspace, "dicom", "import", shared("derived/05_no_position_orientation"))["series"][0]
    app = Workstation(workspace)
    for series in (truncated, flat):
        app.activate("win.page", "'worklist'")
        app.wait_text(series["patient_id"])
    app.activate("win.page", "'patient'")
    seen = set()
    for _ in range(2):
        app.activate("win.next")
        text = wait_for(lambda: app.image() not in seen and "Reading" not in app.image() and
                        ("slice " in app.image() or "can't" in app.image()) and app.image(), "an image or a sentence")
        seen.add(text)
        app.wait_text("Not eligible: this series is not assessed")
    app.quit()


def chart_tables_and_csv():
    """Right value: the numbers of `demur evaluate` in the table of the coverage curve."""
    workspace, _ = cohort_workspace()
    result = demur(workspace, "evaluate", "--selector", "first", "--cohort", "small")
    method = next(m for m in result["methods"] if m["name"] == "selector:first")
    last = method["curve"]["sbce2"][-1]["point"]
    app = at_the_cohort_page(workspace)
    app.activate("win.tables")
    app.wait_text(f"{last:.4f}".lstrip("0"))
    app.quit()


ENGLISH = re.compile(r"\b(the|of|scan|scans|with|within|years?|risk|held|recorded|kernel|slices?|page|accepted|verdict|what|why|where)\b")


def check_a_german_page(workspace, verdict, scan):
    """No English word is on it, numbers are as the reader writes them; its numbers are the command line's."""
    said = subprocess.run(["pdftotext", "-layout", path(verdict + ".pdf"), "-"], capture_output=True, text=True, check=True).stdout
    # Names of the workspace's own things, and where a cohort is from, stay as they are.
    rest = re.sub(r"\S*(scan_|site|vendor|lung|small|first)\S*", "", said)
    assert not ENGLISH.search(rest), (ENGLISH.search(rest), said)
    expected = {"accepted": "Angenommen: Das Risiko für Lungenkrebs innerhalb von 6 Jahren", "red_flag": "Zurückgehalten: Bei dieser Aufnahme"}[verdict]
    assert expected in said and re.search(r"\d,\d", said) and not re.search(r"\d\.\d+\u00a0?%", said), said
    demur(workspace, "report", "patient", path("theirs.pdf"), "--scan", scan["scan_id"], "--cohort", "small", "--selector", "first")
    with open(path(verdict + ".json"), encoding="utf-8") as ours, open(path("theirs.json"), encoding="utf-8") as theirs:
        ours, theirs = json.load(ours), json.load(theirs)
    assert ours["request"].pop("language") == "de" and ours == theirs, (ours, theirs)


def german():
    """Right value: po/de.po for what is on the screen, the command line's bytes for what is filed: a report is English."""
    workspace, answer = cohort_workspace()
    demur(workspace, "report", path("cli.pdf"), "--selector", "first", "--cohort", "small")
    app = Workstation(workspace)
    app.wait_text("Nur für die Forschung, kein zugelassenes Medizinprodukt")
    app.activate("win.page", "'cohort'")
    app.wait_text("Wer abgelehnt wird")
    app.wait_image("Anteil jeder Klasse, der abgelehnt wird.", "Ablehnung je Klasse: abgelehnter Anteil")
    app.activate("win.tables")
    app.wait_text("mittleres gezeigtes Risiko")
    app.activate("win.page", "'report'")
    app.activate("win.export-report", f"'{path('ui.pdf')}'")
    wait_for(lambda: os.path.exists(path("ui.pdf")), "the report")
    with open(path("ui.pdf"), "rb") as ours, open(path("cli.pdf"), "rb") as theirs:
        assert ours.read() == theirs.read(), "the report differs from the command line's"
    for verdict in ("accepted", "red_flag"):
        scan = next(v for v in answer["verdicts"] if v["verdict"] == verdict)
        open_scan(app, scan["scan_id"])
        app.activate("win.export-case", f"'{path(verdict + '.pdf')}'")
        wait_for(lambda: os.path.exists(path(verdict + ".pdf")), "the patient's page")
        check_a_german_page(workspace, verdict, scan)
    # Every page fits the smallest screen: the window takes the size that it is given.
    for page in ["worklist", "patient", "cohort", "report"]:
        app.activate("win.page", f"'{page}'")
        app.resize(1200, 800)
        wait_for(lambda: app.size() == (1200, 800), f"1200 x 800 on the page {page}")
        app.resize(1024, 768)
        wait_for(lambda: app.size() == (1024, 768), f"1024 x 768 on the page {page}")
    app.quit()


def hostile_names_are_shown_as_code_points():
    """Right value: the code points. U+202E before an identifier would show TXEN as NEXT, and 07 as 70."""
    if shutil.which("dcmodify") is None:
        print("skipped: dcmodify (package dcmtk) is not installed")
        sys.exit(77)
    odd = "\u202eNEXT07"
    copy = path("odd")
    shutil.copytree(shared("derived/00_baseline"), copy)
    files = [os.path.join(copy, name) for name in sorted(os.listdir(copy)) if name.endswith(".dcm")]
    for file in files:
        os.chmod(file, 0o644)
    changes = [("0008,0005", "ISO_IR 192"), ("0010,0020", odd), ("0010,0010", odd + "^\u2066<b>"), ("0008,103e", odd + "\u061c&amp;<i>"),
               ("0008,1030", "\u2028line\u202d021"), ("0008,0070", odd + "\u2067a\u202c"), ("0008,1090", "\u200fabc\u009b31m"),
               ("0008,0080", "a\u200eb%s%n\u0085"), ("0018,1210", "\u2029{series}\u2069")]
    subprocess.run(["dcmodify", "-nb", *[word for tag, value in changes for word in ("-i", f"({tag})={value}")], *files], check=True)
    workspace = path("w.demur")
    scan = demur(workspace, "dicom", "import", copy)["series"][0]
    assert scan["patient_id"] == odd
    for language in ("en", "de"):
        os.environ["LANGUAGE"] = language
        app = Workstation(workspace)
        wait_for(lambda: any("[U+202E]NEXT07" in text for text in app.texts()), f"the identifier in the worklist ({language})")
        seen = app.texts()
        app.activate("win.page", "'patient'")
        wait_for(lambda: app.find("image", contains="CT"), "the picture")
        seen += app.texts() + [node.description for node in app.walk() if node.role in ("image", "table row")]
        assert any("[U+202E]NEXT07" in text for text in seen)
        wrong = [text for text in seen if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)]
        assert not wrong, wrong
        app.quit()


def hostile_workspace():
    """Thirty strings in each field of thirty patients (tests/faults/strings.py), as names of cohorts, sites, values and selectors, and as
    reasons; the paths of the workspace and of a folder to import."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
    import strings
    from workbench import Bench
    phantom = os.environ.get("DEMUR_FAULT_PHANTOM", "")
    if not os.path.exists(phantom):
        print("skipped: this build has no tests of faults")
        sys.exit(77)
    os.mkdir(path("bench"))
    bench = Bench(DEMUR, phantom, path("bench"))
    folder, workspace = bench.template, path("odd.demur")
    squares = [strings.Square(run) for run in range(len(strings.STRINGS))]
    strings.plant_in(os.path.join(folder, "in"), squares[0])
    for run in range(1, len(squares)):
        bench.series(phantom, f"odd/{run}", 100 + run, 3)
        strings.plant_in(os.path.join(folder, "odd", str(run)), squares[run])
    with open(os.path.join(folder, "odd.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["patient_id", "scan_id", "site", "split", "label", "risk", "colour"])
        for i, text in enumerate([text for text in strings.STRINGS if not re.search("[\x00-\x1f\x7f-\x9f]", text)] * 4):  # a table of those is refused
            writer.writerow([f"{text}p{i}", f"{text}s{i}", f"{text}h", "test", i % 2, f"0.{i % 9 + 1}", text])
    commands = [["cohort", "import", "c", "c.csv", "--model", bench.model], ["selector", "import", "s", "s.json"],
                ["tune", "s", "--cohort", "c", "--coverage", "0.9", "--reason", strings.STRINGS[0]],
                ["dicom", "import", "in"], ["dicom", "import", "odd"], ["scores", "import", "scores.csv", "--model", bench.model],
                ["assess", "s", "--all"], ["watch", "start", "s", "--cohort", "c", "--rule", "note"]]
    for words in commands:
        result = bench.run(folder, [*words, "--workspace", workspace])
        assert result.returncode == 0, (words, result.stderr)
    kept = {"cohort": 0, "selector": 0}
    for text in strings.STRINGS:  # a name that is refused is refused
        for words in (["cohort", "import", text, "odd.csv", "--model", "m"], ["selector", "import", text, "s.json"]):
            kept[words[0]] += bench.run(folder, [*words, "--workspace", workspace]).returncode == 0
    assert min(kept.values()) > 0, kept
    return strings, squares, workspace, folder


def thirty_hostile_strings_are_shown_as_code_points():
    """Right value: no control and no turn of direction as itself in anything that a reader is told or shown, in English and German; and
    each patient's identifier with its code points, in the list and on the patient page."""
    strings, squares, workspace, folder = hostile_workspace()
    identifiers = {strings.shown(strings.CONTROL.sub("\ufffd", square["PatientID"])) for square in squares}
    for language in ("en", "de"):
        os.environ["LANGUAGE"] = language
        app = Workstation(workspace)
        seen = {}  # where: texts

        def look(where, nodes=None):
            """What is there by now, and the identifiers that were not seen there yet."""
            texts = seen.setdefault(where, set())
            for node in nodes or app.walk():
                texts.update(text for text in (node.name, node.description if node.role in ("image", "table row") else "") if text)
            return {identifier for identifier in identifiers if not any(identifier in strings.shown(text) for text in texts)}

        wait_for(lambda: not look("worklist"), f"every identifier in the worklist ({language})")
        app.activate("win.page", "'patient'")
        def with_picture():
            nodes = app.walk()
            return nodes if any(node.role == "image" and "CT" in node.name for node in nodes) else None
        # Every patient in one language; in the other a third of them and until each was named: the page is the same, and so is the way in
        # which it shows a text.
        for step, _ in enumerate(squares):
            lacking = look("patient page", wait_for(with_picture, "the picture"))
            if language != "en" and not lacking and step >= len(squares) // 3:
                break
            app.activate("win.next")
        assert not look("patient page"), (language, look("patient page"))
        for page in ("cohort", "report", "watch"):
            app.activate("win.page", f"'{page}'")
            look(page)
            look(page)
        app.activate("win.import-path", f"'{os.path.join(folder, 'odd')}'")
        for action in ("win.import-report", "win.train", "win.comment"):
            app.activate(action)
            look(action)
            app.keys("Escape")
        wrong = {(where, text) for where, texts in seen.items() for text in texts if strings.DANGEROUS.search(re.sub(r"[\n\t]", " ", text))}
        assert not wrong, wrong
        app.quit()


def a_person_chooses_the_series():
    """Right value: `demur dicom show`, which tells the decision, its reason and the rules' own verdict."""
    workspace = path("w.demur")
    series = demur(workspace, "dicom", "import", shared("real/philips-series-choice"))["series"]
    chosen = next(s for s in series if s["accepted"])
    other = next(s for s in series if not s["accepted"] and s["study_uid"] == chosen["study_uid"])
    app = Workstation(workspace)
    app.wait_text(chosen["patient_id"])
    open_scan(app, other["scan_id"])
    app.wait_text("Assess this series instead")
    app.keys("w")
    app.wait_text("Why is it to be assessed all the same?")
    app.type("breath held in this one")
    app.keys("Return")
    app.wait_text("Your choice and its reason are kept")
    app.wait_text("Chosen by a person: breath held in this one")
    shown = demur(workspace, "dicom", "show", other["scan_id"])
    assert shown["overrule"]["reason"] == "breath held in this one", shown["overrule"]
    assert shown["overrule"]["replaced"] == chosen["scan_id"], shown["overrule"]
    assert not shown["overrule"]["by_rules"]["accepted"], shown["overrule"]
    app.quit()


def what_is_refused_is_in_the_log():
    """Right value: `demur log --kind refusal`, with the attempt, user and station as of the command line; and no verdict. What is tried:
    a series that came under two persons is chosen."""
    workspace = path("w.demur")
    series = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]
    name = series["patient_id"].encode()
    other = path("other")
    os.makedirs(other)
    for file in sorted(os.listdir(shared("real/siemens-emotion"))):
        with open(os.path.join(shared("real/siemens-emotion"), file), "rb") as one:
            data = one.read()
        with open(os.path.join(other, file), "wb") as one:
            one.write(data.replace(name, name[:-1] + bytes([name[-1] ^ 1])))
    demur(workspace, "dicom", "import", other)
    waiting = [s for s in demur(workspace, "dicom", "list")["series"] if s["conflict"]]
    assert len(waiting) == 2, waiting
    app = Workstation(workspace)
    app.wait_text(series["patient_id"])
    app.keys("n", "Return")
    app.wait_text("Overrule the refusal")
    app.keys("w")
    app.wait_text("Why is it to be assessed all the same?")
    app.type("seen")
    app.keys("Return")
    app.wait_text("can't be chosen")
    events = demur(workspace, "log", "--event", "refusal")["events"]
    assert [e["of"] for e in events] == ["attempt:dicom choose"], events
    assert events[0]["user"] and events[0]["station"], events
    app.quit()


def a_full_disk_is_said():
    """Right value: a sentence that says what to do; nothing half kept; and the next try, with room, works."""
    small = os.environ.get("DEMUR_SMALL_DISK")
    workspace, _ = cohort_workspace()
    shutil.copy(workspace, os.path.join(small, "w.demur"))
    workspace = os.path.join(small, "w.demur")
    reviews = lambda: sqlite3.connect(f"file:{workspace}?mode=ro", uri=True).execute("SELECT kind FROM review").fetchall()
    app = Workstation(workspace)
    app.wait_text("w.demur")
    app.activate("win.page", "'cohort'")
    app.wait_text("accepts ")
    app.activate("win.page", "'report'")
    app.wait_text("Page 1 of ")
    app.activate("win.page", "'patient'")
    app.activate("win.next")
    app.wait_text("Where this comes from")
    filler = os.path.join(small, "filler")
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    app.keys("a", "Return")
    app.wait_text(" room")  # "make room", or "check it and the room left on it"
    app.activate("win.close-notice")
    app.activate("win.export-report", f"'{os.path.join(small, 'full.pdf')}'")
    app.wait_text("full.json can't be written: No space left")
    assert not os.path.exists(os.path.join(small, "full.pdf"))
    os.remove(filler)
    assert reviews() == []
    app.activate("win.page", "'patient'")
    app.activate("win.close-notice")
    app.keys("a", "Return")
    wait_for(lambda: reviews() == [("agree",)], "the review, once there is room")
    app.quit()


def never_another_patients_risk():
    """Right value: the verdict that `demur assess` gives the patient whose ID stands on the page, at every moment while
    cases are switched as fast as the program takes it."""
    workspace, assessed = cohort_workspace()
    by_patient = {}
    for verdict in assessed["verdicts"]:
        by_patient.setdefault(verdict["patient_id"], []).append(verdict)
    app = Workstation(workspace)
    app.activate("win.page", "'patient'")
    app.activate("win.next")
    app.wait_text("Where this comes from")
    n_seen = 0
    for step in range(24):
        for _ in range(1 + step % 4):
            app.activate("win.next" if step % 3 < 2 else "win.previous")
        before, texts = app.texts(), app.texts()
        ids = [next((t for t in read if t in by_patient), None) for read in (before, texts)]
        if ids[0] is None or ids[0] != ids[1] or texts != before:
            continue  # it changed while it was read
        n_seen += 1
        words = [("Risk held back",) if v["verdict"] == "red_flag" else (f"{100 * v['risk']:.1f}\u00a0%",)
                 for v in by_patient[ids[0]]]
        assert any(all(word in texts for word in one) for one in words), (ids[0], words, texts)
    assert n_seen > 5, n_seen
    app.quit()


def settings_are_kept():
    """Right value: the key file, and the look of the next window."""
    workspace, _ = path("w.demur"), None
    app = Workstation(workspace)
    app.wait_text("This workspace holds no scans yet")
    app.activate("app.theme", "'light'")
    laid_out = lambda: app.find("frame").call("Component", "GetExtents", GLib.Variant("(u)", (1,)))
    before = laid_out()
    app.resize(1203, 777)
    wait_for(lambda: app.size() == (1203, 777), "the window in its new size")
    wait_for(lambda: laid_out() != before, "what is in it in its new size")
    app.quit()
    with open(os.path.join(os.environ["XDG_CONFIG_HOME"], "demur", "workstation.ini"), encoding="utf-8") as file:
        kept = dict(line.strip().split("=", 1) for line in file if "=" in line)
    assert kept["theme"] == "light" and kept["workspace"] == workspace, kept
    assert int(kept["width"]) > 600 and int(kept["height"]) > 400, kept
    app = Workstation(workspace, "--theme", "contrast")
    wait_for(lambda: app.size() == (1203, 777), "the window in the size that it had")
    app.quit()
    app = Workstation(workspace)
    assert app.state("app.theme") == "contrast", app.state("app.theme")
    app.activate("app.shortcuts")
    app.wait_text("Assess this series instead (with a reason)")
    app.keys("Escape")
    app.activate("app.about")
    app.wait_text("For research use, not a cleared device.")
    app.quit()


def a_folder_is_dropped():
    """Right value: `demur dicom import` of the same folder into another workspace."""
    folder = shared("real/siemens-emotion")
    expected = demur(path("other.demur"), "dicom", "import", folder)["series"]
    app = Workstation(path("w.demur"))
    app.wait_text("This workspace holds no scans yet")
    app.drag_in(os.environ["DEMUR_DRAG_SOURCE"], folder)
    app.wait_text(f"Import: {sum(s['accepted'] for s in expected)} accepted for assessment")
    app.wait_text(expected[0]["patient_id"])
    listed = demur(path("w.demur"), "dicom", "list")["series"]
    assert [s["scan_id"] for s in listed] == [s["scan_id"] for s in expected], listed
    app.quit()


def charts_are_exported_by_their_menu():
    """Right value: files of the kind that was asked for, and in the CSV the rates of `demur evaluate` at the coverage it tells of
    that is nearest to the slider's; where it tells of none near, no file."""
    workspace, _ = cohort_workspace()
    result = demur(workspace, "evaluate", "--selector", "first", "--cohort", "small")
    method = next(m for m in result["methods"] if m["name"] == "selector:first")
    at = next(a for a in method["at"] if a["coverage"] == 0.7 and a["threshold_from"] == "split")
    app = at_the_cohort_page(workspace)
    assert at["n_counted"] == at["n_accepted"] and all(a["n_counted"] is None for a in method["at"] if a["coverage"] == .9), method["at"]
    title = "Rejection by label: share of each label that is refused"
    app.activate("win.coverage", "0.9")
    app.wait_text(f"accepts {method['at'][0]['n_accepted']} of {result['n_scans']} scans")
    app.open_menu(f"Table and export of {title}")
    app.keys("Down", "Return")
    app.wait_text("is written to no file at coverage 90")
    app.activate("win.coverage", "0.72")
    app.wait_text("accepts 288 of 400 scans")
    kept = {}
    for n_down, kind in ((1, "svg"), (2, "png"), (3, "pdf"), (4, "csv")):
        app.open_menu(f"Table and export of {title}")
        app.keys(*["Down"] * n_down, "Return")
        file = path(f"rejection.{kind}")
        app.save_as(f"Export the chart: {title}, at coverage 70\u00a0%", file)
        wait_for(lambda: os.path.exists(file), file)
        with open(file, "rb") as written:
            kept[kind] = written.read()
    assert kept["png"].startswith(b"\x89PNG") and kept["pdf"].startswith(b"%PDF"), kept
    assert b"<svg" in kept["svg"][:400], kept["svg"][:400]
    lines = kept["csv"].decode().splitlines()
    assert any("simulated" in line.lower() for line in lines), lines
    for label in at["rejected_by_label"]:
        assert any(f"{label['rate']:.6f}"[:6] in line for line in lines), (label, lines)
    app.quit()


def pictures_without_a_person():
    """Right value: docs/workstation.md: 0 with a PNG of that size, 1 without one, 2 for wrong usage; no file is made that
    was not asked for."""
    workspace, assessed = cohort_workspace()
    picture = path("x.png")

    def run(*words, workspace=workspace):
        if os.path.exists(picture):
            os.remove(picture)
        return subprocess.run([WORKSTATION, "--workspace", workspace, *words], capture_output=True, text=True,
                              check=False, timeout=120)

    for page in ("worklist", "patient", "cohort", "report"):
        result = run("--screenshot", page, picture, "--size", "1280x800", "--case", assessed["verdicts"][0]["scan_id"])
        assert result.returncode == 0, (page, result.stderr)
        with open(picture, "rb") as file:
            head = file.read(24)
        assert head[:8] == b"\x89PNG\r\n\x1a\n", head
        assert (int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")) == (1280, 800), (page, head)
    refused = run("--screenshot", "patient", picture, "--case", "nobody")
    assert refused.returncode == 1 and "nobody" in refused.stderr and not os.path.exists(picture), refused.stderr
    gone = path("gone.demur")
    refused = run("--screenshot", "worklist", picture, workspace=gone)
    assert refused.returncode == 1 and "gone.demur" in refused.stderr, refused.stderr
    assert not os.path.exists(picture) and not os.path.exists(gone)
    for words in (("--screenshot", "nothing", picture), ("--screenshot", "worklist", path("x.txt")),
                  ("--screenshot", "worklist", picture, "--size", "1280x800x"), ("--wrong",), ("words",)):
        refused = run(*words)
        assert refused.returncode == 2 and refused.stderr and not os.path.exists(picture), (words, refused)


def assessing_all_says_what_came_of_it():
    """Right value: the verdicts of `demur assess --all`: a series without a score has none."""
    workspace, _ = cohort_workspace()
    series = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"]
    chosen = sum(s["accepted"] for s in series)
    app = Workstation(workspace)
    app.wait_text("– Not assessed 1")
    demur(workspace, "tune", "first", "--cohort", "small", "--coverage", "0.6")
    demur(workspace, "train", "untuned", "--cohort", "small", "--epochs", "1", "--datasets-per-epoch", "32", "--average", "1")
    app.activate("win.reload")
    app.activate("win.assess")
    app.wait_text("Each scan gets a new verdict")
    assert "untuned" not in app.texts(), "a selector without a threshold is offered"
    app.wait_text(f"Of 1 scan\n  1 gets its first verdict")
    app.do("push button", "Assess")
    app.wait_text(f"Assessed: 0 accepted, 0 red flags, {chosen} without a score")
    # Taken back from the notice: as before, and the log says so.
    app.do("push button", "Undo…")
    app.wait_text(f"0 of them have their earlier verdict again, with the opinions on it, and {chosen} have none")
    app.type("too early")
    app.keys("Return", window="Undo the last assessment")
    app.wait_text("The assessment was taken back")
    app.wait_text("– Not assessed 1")
    rows = sqlite3.connect(workspace).execute("SELECT reason FROM verdict_undo").fetchall()
    assert rows == [("too early",)], rows
    assert len(demur(workspace, "assess", "first", "--all")["verdicts"]) == chosen
    app.quit()


def an_outdated_verdict_is_assessed_again():
    """Right value: the verdict of `demur assess` after the threshold was changed; until then no risk is shown."""
    workspace, assessed = cohort_workspace()
    one = next(v for v in assessed["verdicts"] if v["verdict"] == "accepted")
    demur(workspace, "tune", "first", "--cohort", "small", "--coverage", "0.5")
    app = Workstation(workspace)
    open_scan(app, one["scan_id"])
    app.wait_text("another threshold is in use")
    # The status line is of the case's own verdict beside it, else of what is in use.
    app.wait_text("Coverage 80\u00a0% · threshold ")
    app.activate("win.page", "'cohort'")
    app.wait_text("Coverage 50\u00a0% · threshold ")
    app.activate("win.page", "'patient'")
    app.wait_text("Coverage 80\u00a0% · threshold ")
    assert not any("Accepted: the risk is shown" in t or "within 6 years" in t for t in app.texts())
    app.keys("a", "Return")
    app.keys("e")
    app.wait_no_text("another threshold is in use")
    now = next(v for v in demur(workspace, "assess", "first", "--cohort", "small")["verdicts"] if v["scan_id"] == one["scan_id"])
    app.wait_text("Accepted: the risk is shown" if now["verdict"] == "accepted" else "Risk held back")
    rows = sqlite3.connect(workspace).execute("SELECT count(*) FROM review").fetchone()[0]
    assert rows == 0, "an opinion on a verdict that no longer held"
    app.quit()


def shared_case(name):
    """A folder of the cases that failed once."""
    shared("derived")
    full = os.path.join(SHARED, "cases", name)
    assert os.path.isdir(full), f"the shared test data lack {full}"
    return full


def prepared():
    """The workspace of the cases: one accepted scan of patient SAME-1 by selector s."""
    workspace = path("w.demur")
    subprocess.run(["sh", os.path.join(shared_case("00-shared"), "prepare.sh"), workspace], check=True,
                   capture_output=True, cwd=shared_case("00-shared"),
                   env={**os.environ, "PATH": os.path.dirname(DEMUR) + ":" + os.environ["PATH"]})
    demur(workspace, "tune", "s", "--cohort", "base", "--coverage", "1")
    return workspace


def open_only(app, text):
    """The patient page of the only scan that a search for the text finds; Enter at once after the text searches for all of it."""
    app.activate("win.search", "''")
    app.keys("ctrl+a", "BackSpace")
    app.wait_text(text)
    app.type(text)
    wait_for(lambda: {"All 1", "Alle 1"} & set(app.texts()), "one row")
    app.keys("Return", "n", "Return")


def pick(app, contains, title):
    """Chooses one of the choices of the dialog of that title, by keys."""
    wait_for(lambda: app.find("check box", contains=contains), contains)
    app.keys("space", window=title)

    def chosen():
        if app.find("check box", contains=contains).has_state(4):
            return True
        app.keys("Down", window=title)
        return False
    wait_for(chosen, f"'{contains}' to be chosen")


def a_contradiction_is_decided_in_the_window():
    """Right value: case 01: OTHER-9 never gets what is SAME-1's, both wait; `demur dicom list` after the decision, and the
    verdict that came back with its images."""
    workspace = prepared()
    first = demur(workspace, "dicom", "list")["series"][0]
    accepted = demur(workspace, "assess", "s", "--all")["verdicts"][0]
    assert accepted["verdict"] == "accepted" and first["patient_id"] == "SAME-1", accepted
    app = Workstation(workspace)
    app.wait_text("SAME-1")
    app.activate("win.import-path", f"'{shared_case('01-reimport-other-patient/ct')}'")
    app.wait_text("OTHER-9")
    app.wait_text("resolve: SAFETY")  # the list's reason, of both
    assert not any("assess again: " in t for t in app.texts())
    for patient in ("OTHER-9", "SAME-1"):
        open_only(app, patient)
        app.wait_text("decide which images are right")
        app.wait_text("Resolve…")
        assert not any("within 6 years" in t or "Accepted: the risk" in t or "Assess again" == t for t in app.texts())
    app.keys("y")
    app.wait_text("These images are right")
    button = app.find("push button", "Decide and keep")
    assert not button.has_state(24), "a decision without one"
    app.keys("space", window="Resolve a contradiction")
    wait_for(lambda: app.find("check box", contains="These images are right").has_state(4), "the choice")
    app.find("text", "Reason for the decision").set_text("the disc was labelled wrongly")
    wait_for(lambda: app.find("push button", "Decide and keep").has_state(24), "the decision to be complete")
    app.do("push button", "Decide and keep")
    app.wait_text("Your decision and its reason are kept")
    left = demur(workspace, "dicom", "list")["series"]
    assert [s["patient_id"] for s in left] == ["SAME-1"] and left[0]["conflict"] is None, left
    log = demur(workspace, "log", "--event", "resolution")["events"]
    assert any("the disc was labelled wrongly" in (e["details"] or "") for e in log), log
    open_only(app, "SAME-1")
    app.wait_text("Accepted: the risk is shown")
    app.quit()


def what_is_replaced_in_the_window_ends_verdicts():
    """Right value: `demur export` beside it: the verdict of a scan whose score, then whose selector is replaced by the window's
    own import is out of date because of that, shows no risk, and takes no opinion; assessed again it holds."""
    workspace = prepared()
    scan = demur(workspace, "assess", "s", "--all")["verdicts"][0]["scan_id"]
    scores, selector = path("again.csv"), path("s.json")
    with open(scores, "w", encoding="utf-8") as file:
        file.write(f"series_uid,risk,emb_0,emb_1,emb_2,emb_3\n{scan},0.31,0.1,0.2,0.1,0.0\n")
    demur(workspace, "selector", "export", "s", selector, "--with-reference")
    app = Workstation(workspace)

    def replace(file):
        app.activate("win.import-path", f"'{file}'")
        choice = wait_for(lambda: app.find("check box", contains="Replace what is here"), "the choice to replace")
        Keys(app, None).press(choice.name, "Import a file")
        wait_for(lambda: app.find("check box", contains="Replace what is here").has_state(4), "the choice to be taken")
        app.do("push button", "Import")

    def has_ended(why, kind):
        app.wait_text(why)
        app.keys("a", "Return")
        out = path("out.json")
        verdict = demur(workspace, "export", out) and json.load(open(out, encoding="utf-8"))["verdicts"][0]
        os.remove(out)
        assert (verdict["state"], verdict["risk"]) == ("out_of_date", None) and why in verdict["out_of_date_because"][0], verdict
        assert not any("risk in" in t or "Accepted: the risk" in t for t in app.texts())
        assert sqlite3.connect(workspace).execute("SELECT count(*) FROM review").fetchone()[0] == 0, kind

    open_only(app, "SAME-1")
    app.wait_text("Accepted: the risk is shown")
    replace(scores)
    has_ended("the score was replaced", "score")
    app.keys("e")
    app.wait_text("Accepted: the risk is shown")
    replace(selector)
    has_ended("the selector was trained anew or removed", "selector")
    app.keys("e")
    app.wait_text("Not tuned")
    assert demur(workspace, "verify")["findings"] is not None
    app.quit()


def the_action_of_a_card_leads_to_another_state():
    """Right value: core/selector/verdict.h: what a card offers, done, makes the scan another: from no selector, no score and no
    threshold to accepted, and from failed back; what ended each verdict is in `demur export` beside it."""
    workspace, scores, other = path("w.demur"), path("score.csv"), path("narrow.csv")
    base = shared_case("00-shared")
    demur(workspace, "dicom", "import", os.path.join(base, "ct"))
    given = list(csv.DictReader(open(os.path.join(base, "score.csv"), encoding="utf-8")))
    for file, left_out in ((scores, ()), (other, ("emb_3",))):
        with open(file, "w", encoding="utf-8") as out:
            rows = [{k: v for k, v in row.items() if k not in left_out} for row in given]
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    app = Workstation(workspace)

    def offers(title, button):
        app.wait_text(title)
        app.wait_text(button)
        assert not any("risk in" in t or "Accepted: the risk" in t for t in app.texts()), title

    def next_step():
        out = path("out.json")
        demur(workspace, "export", out)
        said = json.load(open(out, encoding="utf-8"))["verdicts"][0]["next_step"]
        os.remove(out)
        return said

    def back():
        app.activate("win.reload")
        app.activate("win.page", "'patient'")

    open_only(app, "SAME-1")
    offers("Not assessed yet", "Go to the Cohort page")  # there is no selector: assessing would change nothing
    app.do("push button", "Go to the Cohort page")
    app.wait_text("Next: Import what the external model said")
    demur(workspace, "cohort", "import", "base", os.path.join(base, "base.csv"), "--model", "m")
    demur(workspace, "train", "s", "--cohort", "base", "--epochs", "1", "--datasets-per-epoch", "320", "--average", "1")
    back()
    offers("Not assessed yet", "Assess")
    app.keys("e")
    offers("No score: the external model has not seen it", "Import scores…")
    assert next_step() == "score"
    app.do("push button", "Import scores…")
    app.choose("Import scores, a cohort or a selector", scores)
    app.do("push button", "Import")
    app.wait_text("Scores of model m: 1 series got theirs")
    offers("Out of date: assess again", "Assess again")
    app.do("push button", "Assess again")
    offers("Not tuned: no threshold yet", "Choose a coverage…")
    app.wait_text("Selector s has no threshold")
    assert next_step() == "tune"
    for name in ("Agree", "Disagree"):  # nothing was decided
        assert not app.find("push button", name).sensitive(), name
    assert app.find("push button", "Comment").sensitive()
    app.keys("a", "Return")
    app.wait_text("Nothing was decided about this scan yet")
    assert not sqlite3.connect(workspace).execute("SELECT 1 FROM review").fetchall()
    app.do("push button", "Choose a coverage…")
    app.activate("win.coverage", "1.0")  # kept, where the page still evaluates
    wait_for(lambda: any(re.search(r"accepts ([\d,]+) of \1 scans", t) for t in app.texts()), "the coverage that was asked for")
    app.activate("win.use-coverage")
    app.wait_text("Why this coverage?")
    app.type("all of them")
    app.keys("Return")
    app.wait_text("The threshold and your reason are kept.")
    app.activate("win.page", "'patient'")
    offers("Out of date: assess again", "Assess again")
    app.wait_text("another threshold is in use")
    app.do("push button", "Assess again")
    app.wait_text("Accepted: the risk is shown")
    demur(workspace, "scores", "import", other, "--model", "m", "--replace")
    back()
    offers("Out of date: assess again", "Assess again")
    app.do("push button", "Assess again")
    offers("Failed: it could not be assessed", "Import scores…")
    assert next_step() == "score"
    demur(workspace, "scores", "import", scores, "--model", "m", "--replace")
    back()
    offers("Out of date: assess again", "Assess again")
    app.do("push button", "Assess again")
    app.wait_text("Accepted: the risk is shown")
    assert next_step() is None and demur(workspace, "verify")["ok"]
    app.quit()


def exported(workspace, scan_id, *words):
    """The verdict of the scan as `demur export` tells it."""
    out = path("out.json")
    demur(workspace, "export", out, *words)
    verdicts = {v["scan_id"]: v for v in json.load(open(out, encoding="utf-8"))["verdicts"]}
    os.remove(out)
    return verdicts[scan_id]


def shows_no_risk(app):
    return not any("risk in" in t or "Accepted: the risk" in t or "Revealed: " in t for t in app.texts())


def siblings_of_a_changed_threshold():
    """Right value: `demur export` beside the window: a verdict of a cohort's scan ends with an audit of its site and with its cohort,
    and holds again once assessed; of a cohort that is gone nothing is shown."""
    workspace, assessed = cohort_workspace()
    one = next(v for v in assessed["verdicts"] if v["verdict"] == "accepted")
    whole, table = path("small.csv"), path("audit.csv")
    demur(workspace, "cohort", "export", "small", whole)
    lines = open(whole, encoding="utf-8").read().splitlines(keepends=True)
    site = next(row["site"] for row in csv.DictReader(lines) if row["scan_id"] == one["scan_id"])
    demur(workspace, "audit", "plan", "first", "--cohort", "small", "--site", site, "--scans", "40", "--output", table)
    rows = list(csv.DictReader(open(table, encoding="utf-8")))
    with open(table, "w", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": i % 2} for i, row in enumerate(rows))
    app = Workstation(workspace)
    open_scan(app, one["scan_id"])
    app.wait_text("Accepted: the risk is shown")

    def has_ended(why):
        app.activate("win.reload")
        app.wait_text(why)
        app.wait_text("Assess again")
        assert shows_no_risk(app) and exported(workspace, one["scan_id"], "--cohort", "small")["risk"] is None, why
        app.keys("a", "Return")
        assert not sqlite3.connect(workspace).execute("SELECT 1 FROM review WHERE kind <> 'reveal'").fetchall(), why

    def holds_again():
        app.do("push button", "Assess again")
        app.wait_no_text("Out of date: assess again")
        now = exported(workspace, one["scan_id"], "--cohort", "small")
        assert now["state"] == "current", now
        app.wait_text("Accepted: the risk is shown" if now["verdict"] == "accepted" else "Risk held back")
        return now

    # The site is audited.
    demur(workspace, "audit", "apply", "first", table)
    has_ended("the site was audited")
    holds_again()
    # The cohort is another one under the same name: one scan less of another patient.
    with open(whole, "w", encoding="utf-8") as out:
        out.writelines(lines[:-1] if one["scan_id"] not in lines[-1] else lines[:-2] + lines[-1:])
    demur(workspace, "cohort", "remove", "small", "--force")
    app.activate("win.reload")
    app.wait_text("No case is open")
    assert shows_no_risk(app)
    # First without a word of its model: the selector can't read it, and the card says what leads on.
    demur(workspace, "cohort", "import", "small", whole)
    app.activate("win.reload")
    open_scan(app, one["scan_id"])
    app.wait_text("Out of date: import the cohort again")
    app.wait_text("the cohort was replaced")
    assert shows_no_risk(app)
    assert exported(workspace, one["scan_id"], "--cohort", "small")["next_step"] == "cohort"
    app.do("push button", "Import the cohort again…")
    app.choose("Import scores, a cohort or a selector", whole)
    choice = wait_for(lambda: app.find("check box", contains="Replace what is here"), "the choice to replace")
    Keys(app, None).press(choice.name, "Import a file")
    wait_for(lambda: app.find("check box", contains="Replace what is here").has_state(4), "the choice to be taken")
    app.do("push button", "Import")
    app.wait_text("Cohort small is kept")
    app.activate("win.page", "'patient'")
    has_ended("the cohort was replaced")
    holds_again()
    app.quit()


def a_patient_imported_by_mistake_is_taken_out():
    """Right value: `demur dicom list` and `demur log` behind it: what leaves is what `demur dicom remove --dry-run` said, by the
    user of the window; the scan of the other patient stays as it was."""
    workspace = prepared()
    demur(workspace, "assess", "s", "--all")
    other = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]["patient_id"]
    said = demur(workspace, "dicom", "remove", "--patient", "SAME-1", "--dry-run")
    app = Workstation(workspace)
    open_only(app, "SAME-1")
    app.wait_text("Accepted: the risk is shown")
    app.keys("Delete")
    button = wait_for(lambda: app.find("push button", "Take out"), "the dialog")
    app.wait_text("Everything of patient SAME-1: series 1 (studies 1)")
    assert not button.sensitive(), "a removal without choice and reason"
    app.find("text", "Reason for taking it out").set_text("of another hospital")
    assert not app.find("push button", "Take out").sensitive(), "a removal of nothing in particular"
    app.keys("Escape", window="Take out of the workspace")
    app.wait_no_text("Reason for taking it out")
    assert len(demur(workspace, "dicom", "list")["series"]) > 1, "Escape took something out"
    app.keys("Delete")
    app.wait_text("Everything of patient SAME-1: series 1 (studies 1)")
    pick(app, "Everything of patient", "Take out of the workspace")
    app.wait_text(f"Goes: series 1 (studies 1), images {said['n_images']}, scores {said['n_scores']}")
    app.wait_text(f"in the history verdicts {said['n_verdicts_kept']}, opinions and comments 0")
    app.find("text", "Reason for taking it out").set_text("of another hospital")
    wait_for(lambda: app.find("push button", "Take out").sensitive(), "the decision to be complete")
    app.do("push button", "Take out")
    app.wait_text("1 series was taken out; your reason is kept")
    app.wait_no_text("SAME-1")
    left = demur(workspace, "dicom", "list")["series"]
    assert {s["patient_id"] for s in left} == {other}, left
    log = demur(workspace, "log", "--event", "removal")["events"]
    assert log and all(e["user"] for e in log) and any("of another hospital" in (e["details"] or "") for e in log), log
    assert demur(workspace, "verify")["ok"]
    app.quit()


def a_correction_of_the_archive_is_taken_in_the_window():
    """Right value: case 01 taken as a correction: one volume, of OTHER-9, with the score that it had; no risk until it is assessed
    again, and then the one of before."""
    workspace = prepared()
    before = demur(workspace, "assess", "s", "--all")["verdicts"][0]
    demur(workspace, "dicom", "import", shared_case("01-reimport-other-patient/ct"))
    app = Workstation(workspace)
    app.wait_text("OTHER-9")
    open_only(app, "OTHER-9")
    app.keys("y")
    pick(app, "correction of the person", "Resolve a contradiction")
    app.find("text", "Reason for the decision").set_text("the archive merged two numbers")
    wait_for(lambda: app.find("push button", "Decide and keep").sensitive(), "the decision to be complete")
    app.do("push button", "Decide and keep")
    app.wait_text("Your decision and its reason are kept")
    left = demur(workspace, "dicom", "list")["series"]
    assert [s["patient_id"] for s in left] == ["OTHER-9"] and left[0]["conflict"] is None, left
    open_only(app, "OTHER-9")
    app.wait_text("Out of date: assess again")
    assert not any("risk in" in t or "Accepted: the risk" in t for t in app.texts())
    app.keys("e")
    app.wait_text("Accepted: the risk is shown")
    now = demur(workspace, "assess", "s", "--all")["verdicts"][0]
    assert (now["patient_id"], now["risk"]) == ("OTHER-9", before["risk"]), now
    app.quit()


def who_opened_which_patient_is_kept():
    """Right value: `demur log`: an opening for each time that a patient's page was opened while the site wants it; none of
    the list alone, and none before."""
    workspace = path("w.demur")
    one = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]
    openings = lambda: [e for e in demur(workspace, "log", "--event", "opened")["events"]]
    app = Workstation(workspace)
    app.wait_text(one["patient_id"])
    app.keys("n", "Return")
    app.wait_image("slice ")
    assert not openings()
    demur(workspace, "log", "--keep-openings", "on")
    app.activate("win.reload")

    def opened():
        app.activate("win.page", "'worklist'")
        app.activate("win.page", "'patient'")
        return openings()
    kept = wait_for(opened, "an opening in the log")
    assert all(e["of"] == "opened:" + one["scan_id"] and '"window"' in e["details"] and e["user"] for e in kept), kept
    assert demur(workspace, "log", "--patient", one["patient_id"], "--event", "opened")["events"][0] == kept[0]
    app.quit()


def two_discs_are_one_volume():
    """Right value: case 02: 18 slices, as `demur dicom import` of both folders at once gives; the score of the 8 is of
    other images then, and the window says so."""
    whole = demur(path("whole.demur"), "dicom", "import", shared_case("02-reimport-in-two-parts/a"),
                  shared_case("02-reimport-in-two-parts/b"))["series"]
    workspace = path("w.demur")
    app = Workstation(workspace)
    app.wait_text("This workspace holds no scans yet")
    app.activate("win.import-path", f"'{shared_case('02-reimport-in-two-parts/a')}'")
    app.wait_text("not, 0 files skipped.")
    app.activate("win.close-notice")
    app.activate("win.import-path", f"'{shared_case('02-reimport-in-two-parts/b')}'")
    app.wait_text("not, 0 files skipped.")
    both = demur(workspace, "dicom", "list")["series"]
    assert [(s["scan_id"], s["n_slices"], s["accepted"]) for s in both] == \
        [(s["scan_id"], s["n_slices"], s["accepted"]) for s in whole], (both, whole)
    open_only(app, both[0]["patient_id"])
    app.wait_image(f" of {both[0]['n_slices']}")
    app.quit()


def earlier_copy(folder):
    """The same series with an earlier date, as a prior; None where dcmodify is not installed."""
    if shutil.which("dcmodify") is None:
        return None
    copy = path("earlier")
    shutil.copytree(folder, copy)
    files = [os.path.join(copy, name) for name in sorted(os.listdir(copy)) if name.endswith(".dcm")]
    for file in files:
        os.chmod(file, 0o644)
    subprocess.run(["dcmodify", "-nb", "-gin", "-m", "(0020,000d)=1.2.3.4.1", "-m", "(0020,000e)=1.2.3.4.2", "-m",
                    "(0008,0020)=19990101", *files], check=True)
    return copy


def prior_beside_the_current_scan():
    """Right value: a copy of the same series with an earlier date stands for the prior, so that both must show the same
    slice at any time after scrolling either."""
    folder = shared("derived/00_baseline")
    copy = earlier_copy(folder)
    if copy is None:
        print("skipped: dcmodify (package dcmtk) is not installed")
        sys.exit(77)
    workspace = path("w.demur")
    current = demur(workspace, "dicom", "import", folder)["series"][0]
    prior = demur(workspace, "dicom", "import", copy)["series"][0]
    assert prior["patient_id"] == current["patient_id"]
    app = Workstation(workspace)
    open_scan(app, current["scan_id"])
    n = current["n_slices"]
    middle = demur(workspace, "dicom", "show", current["scan_id"])["slices"][n // 2]["instance_number"]
    app.wait_image(f"slice {middle} of {n}")
    app.keys("v")
    app.wait_image(f"slice {middle} of {n}", "CT image of the prior")
    menu = wait_for(lambda: app.find("combo box", "Prior that is shown"), "the prior's menu")
    shown = [node.name for node in app.walk(menu)]
    assert "1999-01-01\n– Not assessed" in shown, shown
    app.keys("Down", "Down")
    app.wait_image(f"slice {middle + 2} of {n}")
    app.wait_image(f"slice {middle + 2} of {n}", "CT image of the prior")
    app.keys("Up")
    app.wait_image(f"slice {middle + 1} of {n}", "CT image of the prior")
    # Read again, the case is as it was seen: slice, window, plane and the prior beside it.
    app.keys("2")
    app.wait_image("W 400 L 40")
    app.wait_image("W 400 L 40", "CT image of the prior")
    demur(workspace, "dicom", "import", shared("real/siemens-emotion"))
    app.keys("F5")
    app.wait_text(f"{len(demur(workspace, 'dicom', 'list')['series'])} scans")
    app.wait_image(f"slice {middle + 1} of {n}")
    app.wait_image("W 400 L 40")
    app.wait_image(f"slice {middle + 1} of {n}", "CT image of the prior")
    # Released, each moves by itself; linked again, they keep their distance.
    app.keys("l", "Down", "Down")
    app.wait_image(f"slice {middle + 3} of {n}")
    app.wait_image(f"slice {middle + 1} of {n}", "CT image of the prior")
    app.keys("l", "Up")
    app.wait_image(f"slice {middle + 2} of {n}")
    app.wait_image(f"slice {middle} of {n}", "CT image of the prior")
    assert "Risk over time" not in app.texts(), "a course of scans that nobody assessed"
    app.quit()


def whole_series():
    """A real series, opened, with its whole volume read."""
    workspace = path("w.demur")
    scan = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]
    app = Workstation(workspace)
    app.wait_text(scan["patient_id"])
    app.keys("n", "Return")
    app.wait_image(f"of {scan['n_slices']}")
    wait_for(lambda: "reading the rest" not in app.image(), "the whole volume")
    return workspace, scan, app


def crosshair(text):
    """The point of a crosshair in mm, as an image describes it."""
    words = text.split("; crosshair at ")[1].split(";")[0].replace("−", "-").split(", ")
    return [float(word.split()[0]) for word in words]


def three_planes_meet_where_one_clicks():
    """Right value: all three images tell one point; after a click it is the place under the pointer, by PixelSpacing and
    ImagePosition of `dicom show`, to half a pixel and half a slice; a scroll moves it by the slices' own step."""
    workspace, scan, app = whole_series()
    shown = demur(workspace, "dicom", "show", scan["scan_id"])
    names = ("CT image", "CT image, coronal", "CT image, sagittal")
    app.keys("t")
    for name in names:
        app.wait_image("; crosshair at ", name)
    assert len({tuple(crosshair(app.image(name))) for name in names}) == 1, [app.image(name) for name in names]
    app.pointer(560, 520)
    app.pointer(561, 520)
    text = app.wait_image("; row ")
    row, column = (int(word) for word in text.split("; row ")[1].split(";")[0].split(" column "))
    before = crosshair(text)
    subprocess.run(["xdotool", "click", "1"], check=True)
    wait_for(lambda: crosshair(app.image()) != before, "the crosshair to go there")
    points = [crosshair(app.image(name)) for name in names]
    assert points[0] == points[1] == points[2], points
    spacing = shown["geometry"]["pixel_spacing_mm"]
    first = shown["slices"][0]["position_mm"]
    wanted = [first[0] + column * spacing[1], first[1] + row * spacing[0]]
    assert all(abs(points[0][i] - wanted[i]) <= max(spacing) for i in range(2)), (points, wanted, row, column)
    app.keys("Down")
    step = abs(shown["slices"][1]["position_mm"][2] - first[2])
    wait_for(lambda: abs(abs(crosshair(app.image())[2] - points[0][2]) - step) < 0.02, "a slice further")
    assert crosshair(app.image(names[1])) == crosshair(app.image()), "the other planes are told"
    # Another window is of all three.
    app.keys("3")
    for name in names:
        app.wait_image("W 2000 L 350", name)
    app.keys("t")
    wait_for(lambda: "; crosshair at " not in app.image(), "the crosshair to go")
    app.quit()


def a_length_is_measured_by_keys_alone():
    """Right value: 30 steps to the right times PixelSpacing, exactly."""
    workspace, scan, app = whole_series()
    spacing = demur(workspace, "dicom", "show", scan["scan_id"])["geometry"]["pixel_spacing_mm"]
    app.keys("g", "z")
    app.wait_image("; cursor at row ")
    app.keys("z", *["shift+Right"] * 30, "z")
    said = app.wait_image("; measured: ")
    length = wait_for(lambda: abs(float(app.image().split("; measured: ")[1].split(" mm")[0]) - 30 * spacing[1]) < 0.051,
                      f"{30 * spacing[1]} mm; there was {said}")
    assert length
    # Once it is set, the cursor moves without it.
    app.keys(*["shift+Right"] * 5)
    assert abs(float(app.image().split("; measured: ")[1].split(" mm")[0]) - 30 * spacing[1]) < 0.051, app.image()
    app.quit()


def what_is_measured_is_kept_with_the_study():
    """Right value: the rows of the annotation table, read with sqlite3; the same numbers on the image of the next window, and
    in the patient's page; `demur verify`, which finds a number that was changed; and other images at the same place
    show none of it."""
    workspace, _ = cohort_workspace()
    scan = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]
    rows = lambda: sqlite3.connect(workspace).execute(
        "SELECT kind, scan_id, slice, value, unit, user FROM annotation ORDER BY id").fetchall()

    def open_it():
        app = Workstation(workspace)
        app.wait_text("All ")
        open_scan(app, scan["scan_id"])
        app.wait_image(f"of {scan['n_slices']}")
        wait_for(lambda: "reading the rest" not in app.image(), "the whole volume")
        return app

    app = open_it()
    spacing = demur(workspace, "dicom", "show", scan["scan_id"])["geometry"]["pixel_spacing_mm"]
    app.keys("Down", "g", "z", "z", *["shift+Right"] * 30, "z")
    wait_for(lambda: len(rows()) == 1, "the length in the workspace")
    kind, of, slice_, value, unit, user = rows()[0]
    assert (kind, of, unit) == ("length", scan["scan_id"], "mm") and user, rows()
    assert abs(value - 30 * spacing[1]) < 1e-9, (value, spacing)
    said = f"{value:.1f} mm"
    place = app.image().split("slice ")[1].split(" of")[0]
    app.wait_text(f"slice {place} of {scan['n_slices']} · {said}")
    app.keys("g", "3", "b")
    app.wait_image("★ key image")
    app.wait_text(f"★ slice {place} of {scan['n_slices']} · key image")
    app.keys("Down", "Down", "1")
    wait_for(lambda: "key image" not in app.image() and "measured" not in app.image(), "another slice without them")
    # In the patient's page: the same number, and the key image.
    pdf = path("page.pdf")
    demur(workspace, "report", "patient", pdf, "--scan", scan["scan_id"], "--selector", "first")
    with open(path("page.json"), encoding="utf-8") as file:
        drawn = json.load(file)["drawn"]
    assert [(d["kind"], d["what"]) for d in drawn] == [("length", said), ("key_image", "key image")], drawn
    printed = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=False)
    if printed.returncode == 0:
        assert said in printed.stdout and "Key image: slice" in printed.stdout, printed.stdout
    app.quit()
    # The next window shows it again, where it was; a button of the list goes there, in the key image's own window.
    app = open_it()
    app.do("push button", contains="· key image")
    app.wait_image(f"slice {place} of")
    app.wait_image(f"measured: {said}")
    app.wait_image("W 2000 L 350")
    # Taken off, it is off for everyone, and the page of then is made again as it was.
    app.keys("BackSpace")
    wait_for(lambda: "measured" not in app.image(), "the length to go")
    app.keys("b")
    wait_for(lambda: "key image" not in app.image(), "the mark to go")
    assert [row[0] for row in rows()] == ["length", "key_image", "removal", "removal"], rows()
    demur(workspace, "report", "verify", pdf)
    # Ellipse: kept with its mean; then changed behind the program's back.
    app.keys("u", "z", "z", *["shift+Right"] * 12, *["shift+Down"] * 8, "z")
    wait_for(lambda: len(rows()) == 5 and rows()[4][0] == "region", "the region in the workspace")
    mean = f"mean {'−' if rows()[4][3] < 0 else ''}{abs(rows()[4][3]):.1f} HU"
    app.wait_image(mean)
    app.quit()
    demur(workspace, "verify")
    changed = sqlite3.connect(workspace)
    changed.execute("UPDATE annotation SET value = value + 1 WHERE kind = 'region'")
    changed.commit()
    changed.close()
    result = subprocess.run([DEMUR, "--workspace", workspace, "verify"], capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "annotation:" in result.stdout + result.stderr, result.stdout


def pictures_of_series_are_of_what_was_imported():
    """Right value: `demur dicom list`: a picture for each grey series of the study; none of one whose files are another person's by
    now, nor of one whose pixels are others."""
    if shutil.which("dcmodify") is None:
        print("skipped: dcmodify (package dcmtk) is not installed")
        sys.exit(77)
    workspace, folder = path("w.demur"), path("study")
    shutil.copytree(shared("real/philips-series-choice"), folder)
    series = demur(workspace, "dicom", "import", folder)["series"]
    chosen = next(s for s in series if s["accepted"])
    study = [s for s in series if s["study_uid"] == chosen["study_uid"] and "not grey" not in (s["reason"] or "")]
    assert len(study) == 3, series
    pictures = lambda: [t for t in app.texts() if t.startswith("Middle slice of the series, ")]

    def show(n):
        app.wait_text("All ")
        open_scan(app, chosen["scan_id"])
        wait_for(lambda: len(pictures()) == n, f"{n} pictures")

    app = Workstation(workspace)
    show(len(study))
    app.quit()
    changed = [demur(workspace, "dicom", "show", s["scan_id"])["slices"] for s in study if s is not chosen][:2]
    for slice_ in changed[0]:
        os.chmod(slice_["path"], 0o644)
        subprocess.run(["dcmodify", "-nb", "-m", "(0010,0020)=SOMEBODY", slice_["path"]], check=True)
    for slice_ in changed[1]:
        os.chmod(slice_["path"], 0o644)
        subprocess.run(["dcmodify", "-nb", "-i", "(0028,1052)=-7", slice_["path"]], check=True)
    app = Workstation(workspace)
    show(len(study) - 2)
    app.quit()


def cine_runs_until_it_is_stopped():
    """Right value: other slices without a key, and none any more when it was stopped."""
    _, _, app = whole_series()
    place = lambda: app.image().split("slice ")[1].split(" of")[0]
    seen = {place()}
    app.do("push button", "Run through the slices (F)")
    wait_for(lambda: len(seen.add(place()) or seen) >= 4, "four slices to go by")
    app.keys("f")
    def stands():
        before = place()
        GLib.usleep(400000)
        return place() == before
    wait_for(stands, "it to stand")
    app.quit()


def keep_an_opinion(press):
    """Agrees with the first case by what press does to a button, and goes to the next case."""
    workspace, assessed = cohort_workspace()
    app = Workstation(workspace)
    app.wait_text("All ")
    app.activate("win.show", "'accepted'")
    app.keys("n", "Return")
    rows = lambda: sqlite3.connect(workspace).execute("SELECT kind, scan_id FROM review ORDER BY id").fetchall()
    press(app, "Agree")
    app.wait_text("Agree? Enter keeps it")
    assert rows() == []
    press(app, "Keep")
    wait_for(lambda: [kind for kind, _ in rows()] == ["agree"], "the opinion in the workspace")
    accepted = [v["scan_id"] for v in assessed["verdicts"] if v["verdict"] == "accepted"]
    assert rows()[0][1] in accepted
    press(app, "Disagree")
    app.wait_text("Disagree? Enter keeps it")
    press(app, "Drop")
    app.wait_no_text("Disagree? Enter keeps it")
    assert len(rows()) == 1
    press(app, "Next ›")
    press(app, "Agree")
    press(app, "Keep")
    wait_for(lambda: len({scan for _, scan in rows()}) == 2, "an opinion of another case")
    app.quit()


def an_opinion_is_kept_by_mouse_alone():
    """Right value: the rows of the review table, read with sqlite3."""
    def press(app, name):
        def seen():
            node = app.find("push button", name)
            return node if node and node.call("Component", "GetExtents", GLib.Variant("(u)", (1,)))[0][2] > 0 else None
        x, y, width, height = wait_for(seen, name).call("Component", "GetExtents", GLib.Variant("(u)", (1,)))[0]
        app.pointer(x + width // 2, y + height // 2)
        subprocess.run(["xdotool", "click", "1"], check=True)
    keep_an_opinion(press)


def an_opinion_is_kept_by_a_readers_actions_alone():
    """Right value: the rows of the review table, read with sqlite3."""
    keep_an_opinion(lambda app, name: app.do("push button", name))


def whole_run(hands_of):
    """From an empty window to verdicts, an opinion and a report, by one kind of hands alone. Right value: what the command
    line then finds in the workspace, and that the report is the one it would write."""
    workspace, folder = path("w.demur"), path("handed-over")
    hand_over(folder)
    os.environ["XDG_DOCUMENTS_DIR"] = HOME
    app = Workstation(workspace)
    hands = hands_of(app, os.environ["DEMUR_DRAG_SOURCE"])
    app.wait_text("Next: Import the CT scans")
    hands.bring("Scans: next", "Import a folder", os.path.join(folder, "dicom"))
    app.wait_text("1 accepted for assessment")
    app.wait_text("Next: Import what the external model said")
    tables = "Import scores, a cohort or a selector"
    hands.bring("Scores: next", tables, os.path.join(folder, "scores.csv"))
    app.wait_text("Say which model gave these risks")
    hands.write("External model", "some-cnn", "Import a file")
    app.wait_no_text("Say which model gave these risks")
    hands.press("Import", "Import a file")
    app.wait_text("Scores of model some-cnn: 1 series got theirs")
    app.wait_text("Next: Import a cohort")
    hands.bring("Cohort: next", tables, os.path.join(folder, "cohort.csv"))
    hands.write("Name", "ours", "Import a file")
    hands.press("Import", "Import a file")
    app.wait_text("Cohort ours is kept: 2,180 scans")
    app.wait_text("Next: Train a selector")
    hands.press("Selector: next")
    title = "Train a selector"
    for name, number in (("Epochs", "2"), ("Data sets an epoch", "640"), ("Networks averaged", "1")):
        hands.write(name, number, title)
    hands.press("Train", title)
    app.wait_text("is trained and kept")
    hands.press("Close", title)
    wait_for(lambda: not [n for n in app.walk() if n.name == title and n.role == "frame"], "the form to go")
    app.wait_text("Next: Choose on the Cohort page")
    hands.press("Threshold: next")
    app.wait_text("accepts ")
    hands.press("Use this coverage…")
    app.wait_text("Why this coverage?")
    hands.write("Use this coverage", "as many as the readers can see", "Use this coverage")
    hands.press("Tune and keep", "Use this coverage")
    app.wait_text("The threshold and your reason are kept.")
    app.wait_text("Next: Assess")
    hands.press("Verdicts: next")
    hands.press("Assess", "Assess")
    app.wait_no_text("Next: ")
    app.wait_text("Assessed: ")
    selector = demur(workspace, "selector", "list")["selectors"][0]["name"]
    beside = path("beside.demur")  # the command line's verdicts would take the place of the window's under the reader's hands
    demur(workspace, "workspace", "backup", beside)
    listed = demur(beside, "assess", selector, "--all")["verdicts"]
    assert [v["verdict"] for v in listed] in (["accepted"], ["red_flag"]), listed
    # The case, and an opinion of it.
    hands.press("Patient")
    hands.press("Next ›")
    app.wait_text("Where this comes from")
    hands.press("Agree")
    app.wait_text("Agree? Enter keeps it")
    hands.press("Keep")
    rows = lambda: sqlite3.connect(workspace).execute("SELECT kind, scan_id FROM review").fetchall()
    wait_for(lambda: rows() == [("agree", listed[0]["scan_id"])], "the opinion in the workspace")
    hands.press("Report")
    app.wait_text("Page 1 of ")
    hands.press("Export PDF…")
    hands.save("Export the report", path("report.pdf"))
    said = app.wait_text("The report was written to")
    report = said.split("The report was written to ")[1].split(".pdf")[0] + ".pdf"
    assert demur(workspace, "report", "verify", report)
    app.quit()


def a_whole_run_by_mouse_alone():
    """As whole_run."""
    whole_run(Mouse)


def a_whole_run_by_keyboard_alone():
    """As whole_run."""
    whole_run(Keys)


def tab_leads_through_an_empty_window():
    """Right value: Tab reaches the first step and the demo, twice around, with a notice on the screen."""
    app = Workstation(path("w.demur"))
    app.wait_text("Next: Import the CT scans")
    app.wait_text("a new workspace was made")
    hands = Keys(app, None)
    for name in ("Look at the demo", "Scans: next", "Path of a folder or file to bring in", "Menu", "Scans: next"):
        hands.reach(name)
    app.quit()


def a_whole_run_by_a_readers_actions_alone():
    """As whole_run."""
    whole_run(Reader)


def the_demo_is_made_from_an_empty_window():
    """Right value: `demur assess` of the demo's own selector: twelve studies, most accepted, red flags, one not eligible, one
    failed; and the drop-downs say what is chosen."""
    app = Workstation(path("empty.demur"))
    app.wait_text("This workspace holds no scans yet")
    app.do("push button", "Look at the demo")
    app.wait_text("Making the demo")
    demo = os.path.join(os.environ["XDG_DATA_HOME"], "demur", "demo", "workspace.demur")
    for _ in range(5):  # a minute of processor
        try:
            wait_for(lambda: any(re.fullmatch(r"● Accepted [1-9][\d,]*", text) for text in app.texts()), "the demo")
            break
        except AssertionError:
            assert any("Making the demo" in text for text in app.texts()), app.texts()
    series = demur(demo, "dicom", "list")["series"]
    kept = sqlite3.connect(demo).execute(
        "SELECT verdict FROM verdict WHERE id IN (SELECT max(v.id) FROM verdict v JOIN series s ON s.scan_id = v.scan_id"
        " GROUP BY v.scan_id)").fetchall()
    counts = {word: sum(v == word for (v,) in kept) for word in ("accepted", "red_flag", "failed")}
    assert len(series) >= 12 and counts["accepted"] > counts["red_flag"] >= 2 and counts["failed"] == 1, (counts, len(series))
    assert sum(not s["eligible"] for s in series) >= 1, series
    for name, number in (("● Accepted", counts["accepted"]), ("▲ Red flag", counts["red_flag"])):
        shown = next(t for t in app.texts() if t.startswith(name))
        assert int(shown.split()[-1].replace(",", "")) >= number, (shown, counts)
    app.activate("win.page", "'report'")
    app.wait_text("Page 1 of ")
    menu = wait_for(lambda: app.find("push button", "Paper"), "the menu of papers")
    assert menu.description == "A4", menu.description
    app.do("push button", "Paper")
    wait_for(lambda: any(node.focused() for node in app.walk() if node.role == "list item"), "a paper with the keyboard")
    # Not app.keys: to give the window the keyboard closes the menu.
    subprocess.run(["xdotool", "key", "Down", "Return"], check=True)
    wait_for(lambda: menu.description == "Letter", "the menu to say Letter")
    app.quit()


def how_usual_a_scan_is_and_what_became_of_the_nearest():
    """Right value: worked out here from the exported cohort: the share of split base_train that was made alike, and the nearest of
    it, each of another patient, by embeddings in standard deviations; the nearest nowhere while the risk is held back."""
    workspace, table, scores = path("w.demur"), path("cohort.csv"), path("scores.csv")
    series = demur(workspace, "dicom", "import", shared("real/siemens-emotion"))["series"][0]
    demur(workspace, "cohort", "simulate", "small", "--scans", "400", "--sites", "6", "--base-train", "120", "--tune", "100", "--test", "100")
    demur(workspace, "train", "first", "--cohort", "small", "--as-published", "--epochs", "1", "--datasets-per-epoch", "64")
    demur(workspace, "cohort", "export", "small", table)
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    width = sum(name.startswith("emb_") for name in rows[0])
    vector = lambda row: [float(row[f"emb_{c}"]) for c in range(width)]
    model = next(row for row in rows if row["split"] == "test")
    with open(scores, "w", encoding="utf-8") as file:
        file.write("series_uid,risk," + ",".join(f"emb_{c}" for c in range(width)) + "\n")
        file.write(",".join([series["series_uid"], "0.1", *(model[f"emb_{c}"] for c in range(width))]) + "\n")
    demur(workspace, "scores", "import", scores, "--model", demur(workspace, "selector", "show", "first")["model"])
    reference = [row for row in rows if row["split"] == "base_train"]
    columns = list(zip(*map(vector, reference)))
    means = [sum(column) / len(column) for column in columns]
    variances = [sum((v - m) ** 2 for v in column) / len(column) for column, m in zip(columns, means)]
    gap = lambda row: sum((a - b) ** 2 / v for a, b, v in zip(vector(row), vector(model), variances) if v > 0)
    nearest = []
    for row in sorted(reference, key=gap):
        if row["patient_id"] not in [other["patient_id"] for other in nearest]:
            nearest.append(row)
    makers = {"SIEMENS": "Siemens", "TOSHIBA": "Canon", "PHILIPS": "Philips", "GE": "GE"}
    wanted = [f"· {row['site']}, {makers[row['manufacturer']]} {row['model_name']}: " +
              ("cancer" if row["label"] == "1" else "no cancer") for row in nearest[:3]]
    # A coverage that refuses nearly everything, and one that accepts everything.
    for coverage, verdict in (("0.05", "Risk held back"), ("1", "Accepted: the risk is shown")):
        demur(workspace, "tune", "first", "--cohort", "small", "--coverage", coverage)
        demur(workspace, "assess", "first", "--all")
        app = Workstation(workspace)
        app.wait_text(series["patient_id"])
        app.keys("n", "Return")
        app.wait_text(verdict)
        app.wait_text("How usual this scan is")
        for title, column in (("kernel ", "kernel"), ("slice thickness ", "slice_thickness_mm")):
            bar = wait_for(lambda: app.find("image", contains=title), f"the bar of the {column}")
            value = bar.name[len(title):].removesuffix(" mm")
            alike = (lambda cell: cell == value) if column == "kernel" else \
                (lambda cell: cell != "" and abs(float(cell) - float(value)) <= .1 * float(value) + 1e-9)
            share = sum(alike(row[column]) for row in reference) / len(reference)
            said = "under 1 %" if share < .01 else f"{100 * share:.0f}\u00a0%"
            assert bar.description == said, (bar.name, bar.description, share)
        seen = lambda: [text for text in app.texts() if re.match("· .*: (no )?cancer$", text)]
        if coverage == "0.05":
            assert not seen(), seen()
            app.keys("r")
            app.wait_text("Revealed: ")
        wait_for(lambda: seen() == wanted, f"{wanted}; there is {seen()}")
        app.quit()
    # The case changes while its reference scans are still read: they are read anew.
    demur(workspace, "tune", "first", "--cohort", "small", "--coverage", "0.05")
    demur(workspace, "assess", "first", "--all")
    app = Workstation(workspace)
    app.wait_text(series["patient_id"])
    app.keys("n", "Return", "r")
    app.wait_text("Revealed: ")
    wait_for(lambda: seen() == wanted, f"{wanted}; there is {seen()}")
    app.quit()


def a_foreign_table_is_mapped_and_split_in_the_window():
    """Columns in a hospital's own words, no split: what the window proposes is looked at, one column is chosen by hand, splits are
    made by site. Tables that are refused, and what is noticed in one that is not, are told in the words of the command line.
    Right value: the cohort, warnings and errors of the same bytes by the command line with a file of columns."""
    workspace, other = path("w.demur"), path("cli.demur")
    lines = ["MRN;Untersuchung;Hospital;Bronchial carcinoma;Predicted risk;sex"]
    lines += [f"N{k // 2:03};E{k:03};{'ABCDEFGH'[k // 2 % 8]};{int(k % 7 == 0)};0.{100 + k};{'fm'[k // 2 % 2]}" for k in range(300)]
    noticed = [line[:-1] + {4: "N/A", 8: "NULL", 11: "999", 15: "-1"}.get(at, line[-1]) if at else line for at, line in enumerate(lines)]
    tables = {"comma": "\n".join(lines).replace(";0.", ";0,").encode(), "utf16": "\r\n".join(lines).encode("utf-16"),
              "noticed": ("sep=;\n" + "\n".join(noticed) + "\n;;;;;\n;;;;;\n").encode()}
    with open(path("columns.csv"), "w", encoding="utf-8") as file:
        file.write("column,means\nMRN,patient_id\nUntersuchung,scan_id\nHospital,site\nBronchial carcinoma,label\n"
                   "Predicted risk,risk\n")
    title, said = "Import a file", {}
    for name, content in tables.items():
        with open(path(name + ".csv"), "wb") as file:
            file.write(content)
        said[name] = demur(other, "cohort", "import", name, path(name + ".csv"), "--model", "m", "--columns", path("columns.csv"),
                           "--split-by", "site", "0.4,0.2,0.1,0.3", check=False)
    # A risk of two years under a name of its own, with follow-up: six years are proposed, two are chosen.
    with open(path("years.csv"), "w", encoding="utf-8") as file:
        file.write("patient_id,scan_id,site,split,label,score,years_to_cancer,years_of_followup\n")
        file.writelines(f"p{k},s{k},{'AB'[k % 2]},test,{int(k % 5 == 0)},0.{100 + k},{'1.5' if k % 5 == 0 else ''},4\n" for k in range(60))
    with open(path("years-columns.csv"), "w", encoding="utf-8") as file:
        file.write("column,means\nscore,risk_year_2\n")
    demur(other, "cohort", "import", "years", path("years.csv"), "--model", "m", "--columns", path("years-columns.csv"), "--horizon", "2")
    app = Workstation(workspace)

    def menu_of(name):
        return wait_for(lambda: app.find("combo box", name), name)

    def chosen(name):
        return chosen_in(app, name)

    def choose(name, wanted):
        choose_in(app, title, name, wanted)

    def fill(name):
        app.activate("win.import-path", f"'{path(name + '.csv')}'")
        menu_of("This file is")
        choose("This file is", "A cohort: risks with known outcomes")
        for menu, column in (("Patient", "MRN"), ("Site", "Hospital"), ("Risk (0 to 1)", "Predicted risk")):
            choose(menu, column)
        choose("Scan", "Untersuchung")
        choose("Outcome (0 or 1)", "Bronchial carcinoma")
        choose("Splits", "made: whole sites; 40 % to train, 20 % validation, 10 % to tune, 30 % test")
        app.find("text", "Name").set_text(name)
        app.find("text", "External model").set_text("m")
        wait_for(lambda: app.find("push button", "Import").sensitive(), "Import to be possible")
        app.do("push button", "Import")
    fill("comma")
    app.wait_text(said["comma"]["error"].split("\n")[1].strip())  # the first row; the others stand below it
    fill("noticed")
    app.wait_text("Cohort noticed is kept: 300 scans")
    shown = " ".join(app.texts())
    assert len(said["noticed"]["warnings"]) > 3, said["noticed"]["warnings"]
    for warning in said["noticed"]["warnings"]:
        assert warning in shown, (warning, shown)
    app.wait_text("Within how many years risk and outcome are is not recorded.")
    app.activate("win.import-path", f"'{path('years.csv')}'")
    menu_of("Within how many years")
    assert chosen("Within how many years") == "6 years", chosen("Within how many years")
    choose("Within how many years", "2 years")
    app.find("text", "External model").set_text("m")
    wait_for(lambda: app.find("push button", "Import").sensitive(), "Import to be possible")
    app.do("push button", "Import")
    app.wait_text("Risk and outcome are within 2 years.")
    app.activate("win.import-path", f"'{path('utf16.csv')}'")
    app.wait_text(said["utf16"]["error"].split(": ", 1)[1])
    app.quit()
    ours, theirs = (demur(place, "cohort", "show", "noticed") for place in (workspace, other))
    assert ours["digest"] == theirs["digest"] and ours["splits"] == theirs["splits"], (ours, theirs)
    assert ours["warnings"] == theirs["warnings"] and ours["noticed"] == theirs["noticed"], (ours, theirs)
    assert sorted(cohort["name"] for cohort in demur(workspace, "cohort", "list")["cohorts"]) == ["noticed", "years"]
    ours, theirs = (demur(place, "cohort", "show", "years") for place in (workspace, other))
    assert ours["digest"] == theirs["digest"] and ours["horizon_years"] == theirs["horizon_years"] == 2, (ours, theirs)


def an_alarm_is_lifted_with_who_and_why():
    """Right value: `demur watch show` before and after: as many lines as signals, what changed in its words, the button dead
    without a reason, and behind it the reason and the user in the history; the next verdicts are accepted again."""
    workspace, _ = cohort_workspace()
    demur(workspace, "cohort", "simulate", "other", "--scans", "600", "--sites", "6", "--base-train", "300", "--tune", "300",
          "--test", "700", "--seed", "2", "--outside-shift", "3")
    demur(workspace, "watch", "start", "first", "--cohort", "small", "--split", "tune", "--rule", "ignore",
          "--rule", "kernel=withhold", "--rule", "thickness=note")
    app = Workstation(workspace)
    app.activate("win.page", "'watch'")
    app.wait_text("Nothing to compare yet: no patient was assessed since")
    others = {v["scan_id"] for v in demur(workspace, "assess", "first", "--cohort", "other")["verdicts"]}
    shown = demur(workspace, "watch", "show", "first")["watches"][0]
    alarm = next(a for a in shown["alarms"] if a["signal"] == "kernel")
    kernel = next(s for s in shown["signals"] if s["signal"] == "kernel")
    day = lambda found: f"{int(found[3])}\xa0{time.strftime('%B', time.strptime(found[0], '%Y-%m-%d'))}\xa0{found[1]}"
    changed = re.sub(r"(\d{4})-(\d\d)-(\d\d)", day, kernel["what_changed"])  # days stand on the page as people write them
    assert shown["withheld"] and alarm["withholds"], shown
    app.activate("win.page", "'worklist'")
    app.activate("win.page", "'watch'")
    app.activate("win.reload")
    app.wait_text("Stopped since")
    app.wait_text(changed)
    app.wait_text("No new risk is shown until it is lifted.")
    # The card of a scan that the alarm alone holds back says so, and leads here.
    held = demur(workspace, "assess", "first", "--cohort", "small")["verdicts"]
    alone = next(v for v in held if v["scan_id"] not in others and [r["kind"] for r in v["reason_details"]] == ["watch_stopped"])
    app.activate("win.reload")
    open_scan(app, alone["scan_id"])
    app.wait_text("Red flag: an alarm holds every risk back")
    app.wait_text("Read the scan as if there were no risk")
    app.do("push button", "Go to the Watch page")
    app.wait_text("No new risk is shown until it is lifted.")
    app.wait_image(f"an alarm is {kernel['limit']:.0f}", "reconstruction kernel")
    assert len([t for t in app.texts() if t in ("⚑ Alarm, stops", "⚑ Alarm, told only", "△ unusual", "✓ no alarm", "– nothing yet")]) == 2
    button = app.find("push button", "Lift the alarm")
    assert not button.sensitive(), "lifted without a reason"
    why = app.find("text", "Why may risks be shown again?")
    why.set_text("   ")
    assert not app.find("push button", "Lift the alarm").sensitive(), "lifted for blanks"
    why.set_text("the new kernel was checked with the physicist")
    wait_for(lambda: app.find("push button", "Lift the alarm").sensitive(), "the button to work")
    app.do("push button", "Lift the alarm")
    app.wait_text("the new kernel was checked with the physicist")
    app.wait_no_text("Stopped since")
    lifted = next(a for a in demur(workspace, "watch", "show", "first")["watches"][0]["alarms"] if a["signal"] == "kernel")
    assert lifted["lifted_why"] == "the new kernel was checked with the physicist" and lifted["lifted_by"], lifted
    app.wait_text(f"by {lifted['lifted_by']}: the new kernel")
    after = demur(workspace, "assess", "first", "--cohort", "small")["verdicts"]
    assert any(v["verdict"] == "accepted" for v in after), after[:3]
    app.quit()


def another_viewer_gets_this_series_alone():
    """Right value: the files that the workspace has of the series; another patient's lie in the same folder."""
    folder, workspace, told = path("disc"), path("w.demur"), path("told")
    shutil.copytree(shared_case("00-shared/ct"), folder)
    images = shared("real/siemens-emotion")
    for name in os.listdir(images):
        if os.path.isfile(os.path.join(images, name)):
            shutil.copy(os.path.join(images, name), os.path.join(folder, "other-" + name))
    one = next(s for s in demur(workspace, "dicom", "import", folder)["series"] if s["patient_id"] == "SAME-1")
    app = Workstation(workspace)
    open_scan(app, "SAME-1")
    app.keys("h")  # nothing is set yet: it asks
    app.wait_text("Which command opens a folder of DICOM files in another viewer?")
    app.type("viewer without a place")
    app.keys("Return", window="Another viewer")
    app.wait_text("needs {folder} where the folder of the images stands")
    app.activate("app.viewer")
    app.wait_text("Which command opens a folder of DICOM files in another viewer?")
    app.type("sh -c 'echo {folder} > " + told + ".folder; readlink -f {folder}/* > " + told + ".part; mv " + told + ".part " + told + "'")
    app.keys("Return", window="Another viewer")
    app.wait_text("The command of the other viewer is kept.")
    app.keys("h")
    wait_for(lambda: os.path.exists(told), "the other viewer to begin")
    with open(told, encoding="utf-8") as file:
        got = file.read().split()
    kept = sqlite3.connect(workspace).execute(
        "SELECT f.path FROM series_file f JOIN series s ON s.id = f.series_id WHERE s.scan_id = ? ORDER BY f.position",
        (one["scan_id"],)).fetchall()
    assert got == [os.path.realpath(row[0]) for row in kept], (got[:3], kept[:3])
    app.quit()
    with open(told + ".folder", encoding="utf-8") as file:
        assert not os.path.exists(file.read().strip()), "links stay"


def nothing_is_cut():
    """Right value: no page, no state of one and no dialog has a label that ends early, a widget outside of the window or one over
    another, a cut cell by which cases are told apart, or a text on an image that is cut or lies over another, in any size, scale, size of text, theme and language; 40 % longer words and the direction of the text among them (the tightest
    looks; all of them with DEMUR_UI_LOOKS=all)."""
    if shutil.which("msgfmt") is None:
        print("skipped: msgfmt not installed (package gettext)")
        sys.exit(77)
    workspace, _ = cohort_workspace()
    demur(workspace, "dicom", "import", shared("real/siemens-emotion"))
    for images in ("00-shared/ct", "01-reimport-other-patient/ct"):  # contradict each other
        demur(workspace, "dicom", "import", shared_case(images))
    for series in (shared("derived/00_baseline"), earlier_copy(shared("derived/00_baseline"))):
        if series is not None:  # a prior beside the current scan
            demur(workspace, "dicom", "import", series)
    demur(workspace, "watch", "start", "first", "--cohort", "small")
    tables = [path("scores.csv"), path("cohort.csv")]
    with open(tables[0], "w", encoding="utf-8") as file:
        file.write("scan_id;risk\n1.2.3;0,5\n")
    with open(tables[1], "w", encoding="utf-8") as file:
        file.write("patient_id;site;split;label;risk\np1;s1;train;0;5 %\n")
    wrong = []
    for look in LOOKS if os.environ.get("DEMUR_UI_LOOKS") == "all" else TIGHT:
        size, scale, dots, theme, language = look
        result = subprocess.run([WORKSTATION, "--workspace", workspace, "--check-layout", "--size", size, "--theme", theme,
                                 shared("real/siemens-emotion"), *tables],
                                capture_output=True, text=True, check=False, env=environment(look, HOME, os.environ), timeout=600)
        assert result.returncode in (0, 1), (size, language, result.returncode, result.stderr)
        for complaint in ("nothing here opens it", "still has children"):
            assert complaint not in result.stderr, result.stderr
        wrong += [f"{size} x{scale} {dots} {theme} {language}: {line}" for line in result.stdout.splitlines()]
    print("\n".join(wrong))
    assert not wrong, f"{len(wrong)} texts can't be read"


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print(f"ok {sys.argv[1]}")
