"""A program that turns numbers round: how many outcomes are among the accepted scans of every operating point and curve that any
output of one workspace tells, and whether two of them differ by few.

Who has the outputs but no scan's risk tries on each number what can be done with it: counts, rates and shares at once; O:E times the
expected and both intercepts by a sum over the histogram's bins; reliability's bins; AUROC, net benefit and accuracy as fractions;
p (1 - p), alone or as what Brier's other parts leave; treating everyone; Spiegelhalter's z; errors of few bins; the areas under
curves of which one point alone is withheld. A number is found where one number of outcomes alone is possible. Sets of accepted scans
of one method lie within each other, so two numbers found must differ by no outcome and no other scan that are few (0 to 9), and so
must each from none and all; likewise in every group, and in what told groups leave of the whole split.

In the outputs of several states: thresholds tuned to coverages a few scans apart, other bins, net benefits and resamples, groupings,
the report, the tables of charts, another mix.

Usage: invert.py DEMUR
"""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

SMALL = 10


def logit(p):
    return math.log(p / (1 - p))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def make(seed, n_test, rate):
    """A cohort whose test split has about that rate of outcomes."""
    draw = random.Random(seed)
    rows = []
    for split, n in (("selector_train", 300), ("tune", 200), ("test", n_test)):
        for k in range(n):
            risk = min(max(rate * math.exp(draw.gauss(-.3, .8)), .001), .95)
            rows.append({"patient_id": f"p{len(rows)}", "scan_id": f"s{len(rows)}", "site": f"{split[0]}{k % 4}", "split": split,
                         "label": int(draw.random() < risk), "risk": f"{risk:.4f}", "sex": draw.choice("fm")})
    return rows


class Attack:
    """What is found out: {(method, risk, part): {number of scans: {number of outcomes}}}."""

    def __init__(self, demur, folder, rows):
        self.demur, self.folder, self.found, self.how = os.path.abspath(demur), folder, {}, {}
        self.guessed, self.parts, self.lies = {}, {}, set()
        self.test = [row for row in rows if row["split"] == "test"]
        self.n, self.n_outcomes = len(self.test), sum(row["label"] for row in self.test)
        self.n_tried = 0
        with open(os.path.join(folder, "c.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        self.run("cohort", "import", "c", "c.csv", "--model", "m")
        self.run("train", "s", "--cohort", "c", "--method", "confidence", "--recalibrate", "none")

    def run(self, *words):
        result = subprocess.run([self.demur, "--workspace", "w.demur", "--quiet", "--threads", "1", *words], cwd=self.folder,
                                capture_output=True, text=True, check=False)
        assert result.returncode == 0, (words, result.stderr)
        return result.stdout

    def note(self, key, n, numbers, where, exact=True):
        """The numbers of outcomes that are possible among n accepted scans: a single one is found. What goes by the histogram's
        middles may miss by one and counts where no fraction says otherwise."""
        self.n_tried += 1
        numbers = {k for k in numbers if max(0, self.n_outcomes - (self.n - n)) <= k <= min(n, self.n_outcomes)}
        if len(numbers) == 1 and 0 < n:
            k, = numbers
            (self.found if exact else self.guessed).setdefault(key, {}).setdefault(n, set()).add(k)
            self.how.setdefault((key, n), set()).add(where)

    # --- one number ---

    @staticmethod
    def near(value, error):
        """The whole numbers within an error of a value."""
        return set(range(math.ceil(value - error - 1e-9), math.floor(value + error + 1e-9) + 1))

    def auroc(self, value, n):
        error = 5e-4 if abs(value * 1000 - round(value * 1000)) < 1e-9 else 1e-12  # as it is told
        return {k for k in range(1, min(n, self.n_outcomes + 1))
                if abs(2 * value * k * (n - k) - round(2 * value * k * (n - k))) < 1e-8 + 2 * error * k * (n - k)}

    def net_benefit(self, value, threshold, n):
        """True positives where the false ones are whole too; all outcomes where the threshold calls nearly everybody."""
        odds = threshold / (1 - threshold)
        if odds <= 0 or threshold > .0011:
            return set()
        false = [(k, (k - n * value) / odds) for k in range(self.n_outcomes + 1)]
        return {k for k, f in false if abs(f - round(f)) < 1e-5 and 0 <= round(f) <= n - k}

    @staticmethod
    def coarseness(value):
        """Half the largest step of 1, 2 or 5 x 10^k that a told number is a whole number of."""
        for power in range(0, -9, -1):
            for step in (5, 2, 1):
                if abs(value / (step * 10.0 ** power) - round(value / (step * 10.0 ** power))) < 1e-9:
                    return step * 10.0 ** power / 2
        return 0

    # --- an operating point ---

    def point(self, key, at, document, where):
        n = at["n_accepted"]
        counted = at.get("n_counted", n)
        if counted is None:
            counted = n  # whatever is told nevertheless is tried
        histogram = at["histogram"]
        low, width = document["histogram"]["low"], document["histogram"]["width"]
        middles = [low + (b + .5) * width for b in range(len(histogram))]
        inside = width / math.sqrt(12)
        for row in at["rejected_by_label"]:
            if row["n_rejected"] is not None:
                kept = row["n_all"] - row["n_rejected"]
                self.note(key, counted, {kept if row["label"] == 1 else counted - kept}, where + " n_rejected")
            if row["rate"] is not None:
                kept = round(row["n_all"] * (1 - row["rate"]))
                self.note(key, counted, {kept if row["label"] == 1 else counted - kept}, where + " rate")
            if row["share_of_rejected"] is not None:
                refused = round((self.n - counted) * row["share_of_rejected"])
                kept = row["n_all"] - refused
                self.note(key, counted, {kept if row["label"] == 1 else counted - kept}, where + " share")
        if at["reliability"]:
            total = sum(b["n"] * b["observed"] for b in at["reliability"])
            self.note(key, counted, self.near(total, 1e-6), where + " bins")
        if at["smooth"]:
            observed = [min(at["smooth"], key=lambda place, m=m: abs(place["risk"] - m))["observed"] for m in middles]
            if all(value is not None for value in observed) and counted == n:
                self.note(key, n, self.near(sum(h * o for h, o in zip(histogram, observed)), .4), where + " smooth", False)
        self.measures(key, at, counted, where, document["net_benefit_threshold"])
        for row in at["decision_curve"]:
            if row["treat_all"] is not None:
                t = row["threshold"]
                self.note(key, counted, self.near(counted * (row["treat_all"] * (1 - t) + t), 1e-4), where + " treat_all")
            if row["net_benefit"] is not None:
                self.note(key, counted, self.net_benefit(row["net_benefit"], row["threshold"], counted), where + " decision")
        if counted != n:
            return
        # by the histogram: how far off its middles are in all
        error = 2 * inside * math.sqrt(max(n, 1))
        expected = sum(h * m for h, m in zip(histogram, middles))
        if at["reliability"]:
            expected, error = sum(b["n"] * b["mean_risk"] for b in at["reliability"]), 1e-6
        if at["oe_ratio"] is not None:
            self.note(key, n, self.near(at["oe_ratio"] * expected, at["oe_ratio"] * error), where + " O:E", error < 1e-3)
        error = 2 * inside * math.sqrt(max(n, 1))
        for name, slope in (("calibration_in_the_large", 1), ("calibration_intercept", at["calibration_slope"])):
            if at[name] is not None and slope is not None:
                total = sum(h * sigmoid(at[name] + slope * logit(m)) for h, m in zip(histogram, middles))
                self.note(key, n, self.near(total, error), f"{where} {name}", False)
        if at["spiegelhalter_z"] is not None and width < .02:
            spread = math.sqrt(sum(h * (1 - 2 * m) ** 2 * m * (1 - m) for h, m in zip(histogram, middles)))
            weight = sum(h * m * (1 - 2 * m) for h, m in zip(histogram, middles)) / max(expected, 1e-9)
            total = (at["spiegelhalter_z"] * spread + expected * weight) / weight
            self.note(key, n, self.near(total, .45), where + " Spiegelhalter", False)
        if at["brier"] is not None:
            self.brier(key, n, n * at["brier"], histogram, middles, width, where)
            whole = document["histogram"]["all"]
            full = next(m for m in document["methods"] if m["name"] == "full" and m["risk"] == key[1])["at"][0]
            rest = [a - h for a, h in zip(whole, histogram)]
            self.brier(key, n, self.n * full["brier"] - n * at["brier"], rest, middles, width, where, self.n_outcomes)
        if at["n_bins"] == 1 and at["sbce2"] is not None:
            both = self.near(expected + n * at["sbce2"], error) | self.near(expected - n * at["sbce2"], error)
            self.note(key, n, both, where + " one bin", False)

    def brier(self, key, n, total, histogram, middles, width, where, minus_from=None):
        """sum (r - y)^2 = sum r^2 + sum over outcomes of 1 - 2 r: how many outcomes, of the lowest or the highest risks there are."""
        squares = sum(h * (m * m + width * width / 12) for h, m in zip(histogram, middles))
        error = 2 * math.sqrt(sum(h * (2 * m * width) ** 2 / 12 for h, m in zip(histogram, middles)))
        gains = sorted(1 - 2 * m for h, m in zip(histogram, middles) for _ in range(h))
        possible, low, high = set(), 0.0, 0.0
        for k in range(len(gains) + 1):
            if low - error - .05 <= total - squares <= high + error + .05:
                possible.add(k)
            if k < len(gains):
                low, high = low + gains[k], high + gains[-1 - k]
        self.note(key, n, possible if minus_from is None else {minus_from - k for k in possible}, where + " Brier", False)

    def measures(self, key, at, n, where, threshold):
        """Numbers by name of n scans; AUROC is of the accepted themselves."""
        if at.get("brier_uncertainty") is not None:
            self.from_spread(key, n, at["brier_uncertainty"], where + " uncertainty")
        parts = [at.get(name) for name in ("brier", "brier_reliability", "brier_resolution", "brier_within")]
        if all(part is not None for part in parts):
            self.from_spread(key, n, parts[0] - parts[1] + parts[2] - parts[3], where + " Brier's parts")
        if at.get("net_benefit_treat_all") is not None:
            self.note(key, n, self.near(n * (at["net_benefit_treat_all"] * (1 - threshold) + threshold), 1e-4), where + " all")
        if at.get("net_benefit") is not None:
            self.note(key, n, self.net_benefit(at["net_benefit"], threshold, n), where + " net benefit")
        if at.get("auroc") is not None:
            self.note(key, at.get("n_accepted", n), self.auroc(at["auroc"], at.get("n_accepted", n)), where + " AUROC")
        if at.get("accuracy") is not None and all(float(row["risk"]) < .5 for row in self.test):  # as the histogram of all says
            self.note(key, n, self.near(n * (1 - at["accuracy"]), 1e-6), where + " accuracy")

    def from_spread(self, key, n, spread, where):
        """p (1 - p): two numbers, of which outcomes are the rarer half."""
        self.note(key, n, {k for k in range(n // 2 + 1) if abs(k / n * (1 - k / n) - spread) < 1e-9}, where)

    def curves(self, key, method, document, where):
        curve = method["curve"]
        for name in ("auroc", "brier_uncertainty", "net_benefit_treat_all", "net_benefit", "accuracy"):
            for point in curve[name]:
                if point["point"] is None:
                    continue
                self.measures(key, {name: point["point"]}, round(point["realised"] * self.n), f"{where} curve",
                              document["net_benefit_threshold"])
        for place in range(len(curve["brier_uncertainty"])):
            parts = {name: curve[name][place]["point"] for name in ("brier_reliability", "brier_resolution", "brier_within")}
            realised = curve["brier_uncertainty"][place]["realised"]
            brier = [p["point"] for p in curve["brier"] if abs(p["realised"] - realised) < 1e-9]
            if brier and all(part is not None for part in parts.values()):
                self.measures(key, {"brier": brier[0], **parts}, round(realised * self.n), f"{where} curve", .5)
        for name in ("brier_uncertainty", "net_benefit_treat_all"):  # an area of which one point lacks
            points = curve[name]
            lacking = [p for p in points if p["point"] is None]
            area = method["auc"][name]["point"]
            if len(lacking) != 1 or area is None:
                continue
            weights = [(.5 if place in (0, len(points) - 1) else 1) / (len(points) - 1) for place in range(len(points))]
            rest = area - sum(w * p["point"] for w, p in zip(weights, points) if p["point"] is not None)
            value = rest / weights[points.index(lacking[0])]
            n = round(lacking[0]["realised"] * self.n)
            if name == "brier_uncertainty":
                self.from_spread(key, n, value, f"{where} area")
            else:
                t = document["net_benefit_threshold"]
                self.note(key, n, self.near(n * (value * (1 - t) + t), 1e-4), f"{where} area")

    # --- outputs ---

    def document(self, document, where):
        evaluation = document.get("evaluation", document)
        for method in evaluation["methods"]:
            key = (method["name"], method["risk"], None)
            for at in method["at"]:
                self.point(key, at, evaluation, f"{where} at {at['coverage']} ({at['threshold_from']})")
            self.curves(key, method, evaluation, where)
        counted = {(method["name"], method["risk"], at["coverage"], at["threshold_from"]): at.get("n_counted", at["n_accepted"])
                   for method in evaluation["methods"] for at in method["at"]}
        for group in evaluation.get("groups", ()):
            rows = [row for row in self.test if row[group["by"]] == group["value"]]
            for method in group["methods"]:
                for at in method["at"]:
                    for row in at["rejected_by_label"]:
                        if row["rate"] is None or row["label"] != 1:
                            continue
                        of_label = sum(r["label"] for r in rows)
                        n = at.get("n_counted", at["n_accepted"])
                        kept = round(of_label * (1 - row["rate"]))
                        self.found.setdefault((method["name"], method["risk"], (group["by"], group["value"])), {}).setdefault(
                            n, set()).add(kept)
                        whole = counted[method["name"], method["risk"], at["coverage"], at["threshold_from"]]
                        self.parts.setdefault((method["name"], method["risk"], group["by"], whole), {})[group["value"]] = (n, kept)
                self.group_points((method["name"], method["risk"], (group["by"], group["value"])), method["at"],
                                  sum(r["label"] for r in rows), where)
        for rule in evaluation["hold_back"]:
            for row in rule["rows"]:
                if row["net_benefit"] is not None and rule["decision_threshold"] < .002 and row["method"] != "interval":
                    self.note((row["method"], rule["risk"], None), row["n_shown"],
                              self.net_benefit(row["net_benefit"], rule["decision_threshold"], row["n_shown"]), f"{where} held back")

    def group_points(self, key, points, n_outcomes, where):
        """O:E of two sets of a group, one within the other and of one of them the outcomes known: what lies between them expects
        as many as it has scans at most. And numbers that are of another set than is said: of one set they are the same."""
        names = [name + end for name in ("oe_ratio", "calibration_in_the_large") for end in ("", "_interval")]
        said = {}
        for at in points:
            numbers = [at[name] for name in names]
            if at["n_counted"] is None and any(number not in (None, [None, None]) for number in numbers):
                self.lies.add((key, at["n_accepted"], "no set is said", where))
            elif isinstance(at["n_counted"], int) and said.setdefault(at["n_counted"], numbers) != numbers:
                self.lies.add((key, at["n_counted"], "two numbers of one set", where))
        known = {}
        for at in points:
            for row in at["rejected_by_label"]:
                if row["label"] == 1 and row["rate"] is not None and at["n_accepted"] == at["n_counted"] and at["oe_ratio"]:
                    known[at["n_accepted"]] = (round(n_outcomes * (1 - row["rate"])), at["oe_ratio"])
        for at in points:
            n = at["n_accepted"]
            if not isinstance(n, int) or not at["oe_ratio"] or at["n_counted"] is None:
                continue
            for n_known, (kept, ratio) in known.items():
                between, sign = abs(n - n_known), 1 if n > n_known else -1
                self.n_tried += 1
                if between == 0 or at["oe_ratio"] == ratio:
                    continue
                possible = {kept + sign * more for more in range(between + 1)
                            if 0 <= sign * ((kept + sign * more) / at["oe_ratio"] - kept / ratio) <= between}
                if len(possible) == 1:
                    self.found.setdefault(key, {}).setdefault(n, set()).update(possible)
                    self.how.setdefault((key, n), set()).add(where + " O:E of a group")

    def mix(self, where):
        """Who is held back beside another mix, of the sets that `shift` shows."""
        told = json.loads(self.run("--json", "shift", "s", "--cohort", "c", "--bootstrap", "10", "--mix", "sex=f:0.5"))
        present = {name: row["present"] for name, row in told["measures"].items()}
        n = round(present["coverage"] * told["n_scans"])
        for label, name in ((1, "rejected_with_outcome"), (0, "rejected_without_outcome")):
            if present[name] is not None and n < self.n:
                of_label = self.n_outcomes if label else self.n - self.n_outcomes
                kept = self.near(of_label * (1 - present[name]), of_label * self.coarseness(present[name]))
                self.note(("selector:s", "raw", None), n, kept if label else {n - k for k in kept}, where + " " + name)

    def chart(self, name, *words):
        self.run("chart", name, "f.csv", "--selector", "s", "--cohort", "c", "--bootstrap", "10", "--resamples", "1", *words)
        with open(os.path.join(self.folder, "f.csv"), encoding="utf-8-sig") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def charts(self, tuned, evaluation):
        """The tables of charts, of the threshold tuned last; their numbers have 3 or 4 decimals."""
        method = next(m for m in evaluation["methods"] if m["name"] == "selector:s")
        at = next(at for at in method["at"] if at["threshold_from"] == "tune" and at["coverage"] == tuned)
        n = at.get("n_counted", at["n_accepted"]) or at["n_accepted"]
        key = ("selector:s", method["risk"], None)
        for row in self.chart("decision-curve", "--coverage", str(tuned)):
            value, t = row.get("accepted, treat all"), float(row["threshold risk"])
            if value:
                self.note(key, n, self.near(n * (float(value) * (1 - t) + t), n * 5e-5), f"decision curve {tuned}")
        rows = self.chart("reliability", "--coverage", str(tuned))
        names = list(rows[0]) if rows else []
        scans = [name for name in names if "scans" in name.lower() or name == "n"]
        observed = [name for name in names if "observed" in name.lower()]
        if scans and observed:
            bins = [(int(row[scans[0]]), float(row[observed[0]])) for row in rows if row[scans[0]] and row[observed[0]]]
            if bins and sum(b[0] for b in bins) == n:
                self.note(key, n, self.near(sum(m * o for m, o in bins), n * 5e-4), f"reliability {tuned}", False)

    def states(self):
        last = None
        for tuned, words in ((.9, ["--group-by", "site"]), (.89, ["--bin-size", "10", "--net-benefit-threshold", "0.001"]),
                             (.7, ["--group-by", "sex", "--resamples", "3", "--bin-size", "400"])):
            self.run("tune", "s", "--cohort", "c", "--coverage", str(tuned))
            words = [*words, "--selector", "s", "--cohort", "c", "--bootstrap", "10"]
            last = json.loads(self.run("--json", "evaluate", *(words if "--resamples" in words else [*words, "--resamples", "1"])))
            self.document(last, f"evaluate, tuned {tuned}")
            self.mix(f"shift, tuned {tuned}")
        self.run("report", "r.pdf", "--selector", "s", "--cohort", "c", "--bootstrap", "10", "--resamples", "1", "--coverage", "0.7")
        with open(os.path.join(self.folder, "r.json"), encoding="utf-8") as file:
            self.document(json.load(file), "report")
        for tuned in (.9, .7):
            self.charts(tuned, last)

    def faults(self):
        """Two numbers of sets within each other that differ by few."""
        faults = []
        for key, guessed in self.guessed.items():  # where all say the same and no fraction another thing
            for n, numbers in guessed.items():
                if len(numbers) == 1:
                    self.found.setdefault(key, {}).setdefault(n, numbers)
        for key, told in self.found.items():
            rows = self.test if key[2] is None else [row for row in self.test if row[key[2][0]] == key[2][1]]
            n_outcomes = sum(row["label"] for row in rows)
            for n, numbers in told.items():
                assert len(numbers) == 1, ("two answers", key, n, numbers, self.how.get((key, n)))
            sets = sorted({(n, next(iter(numbers))) for n, numbers in told.items()} | {(0, 0), (len(rows), n_outcomes)})
            for place, (n, k) in enumerate(sets):
                for n_more, k_more in sets[place + 1:]:
                    few = min(k_more - k, (n_more - n) - (k_more - k))
                    if n_more > n and few < SMALL:
                        faults.append((key, (n, k), (n_more, k_more), sorted(self.how.get((key, n), set()) | self.how.get((key, n_more), set()))[:3]))
        for (name, risk, by, n), told in self.parts.items():  # what the told groups leave of the whole split
            numbers = self.found.get((name, risk, None), {}).get(n)
            rest = [row for row in self.test if row[by] not in told]
            if not numbers or not rest:
                continue
            kept = next(iter(numbers)) - sum(k for _, k in told.values())
            n_kept = n - sum(m for m, _ in told.values())
            outcomes = sum(row["label"] for row in rest)
            few = min(kept, outcomes - kept, n_kept - kept, len(rest) - outcomes - (n_kept - kept))
            if few < SMALL:
                faults.append(((name, risk, by), sorted(told), (n_kept, kept), (len(rest), outcomes)))
        return faults + sorted(self.lies, key=str)

    def truth(self):
        """What was found is right: the accepted by the scores of `assess`, which no attacker has."""
        scored = json.loads(self.run("--json", "assess", "s", "--cohort", "c", "--split", "test", "--reveal", "a test"))
        scores = sorted(((scan["score"], scan["scan_id"]) for scan in scored["verdicts"]), reverse=True)
        labels = {row["scan_id"]: row["label"] for row in self.test}
        for key, told in self.found.items():
            if key[0] == "selector:s" and key[2] is None:
                for n, numbers in told.items():
                    right = sum(labels[scan] for _, scan in scores[:n])
                    if n == len(scores) or scores[n - 1][0] != scores[n][0]:
                        assert numbers == {right}, (key, n, numbers, right, self.how.get((key, n)))


def main():
    n_faults = 0
    for seed, n, rate in ((1, 400, .03), (2, 900, .15)):
        with tempfile.TemporaryDirectory() as folder:
            attack = Attack(sys.argv[1], folder, make(seed, n, rate))
            attack.states()
            attack.truth()
            faults = attack.faults()
            n_found = sum(len(told) for told in attack.found.values())
            print(f"{n} scans, {attack.n_outcomes} outcomes: {attack.n_tried} numbers tried, {n_found} sets found out, "
                  f"{len(faults)} pairs tell of few")
            for fault in faults[:12]:
                print("  ", *fault)
            n_faults += len(faults)
            print(f"  {sum(len(told) for told in attack.parts.values())} numbers of groups")
            # the attack is able: what may be told is found, by more than one way
            assert attack.n_tried > 200 and n_found > 0, n_found
    if n_faults:
        sys.exit(f"{n_faults} pairs of numbers tell of few outcomes")


main()
