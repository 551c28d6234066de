#!/usr/bin/env python3
"""The update of Algorithm 1 beside a PyTorch twin written from the paper, and beside numpy with the same shortcuts.

    update.py equality FOLDER [UPDATES]   same data, initial weights and resampled data sets: the same path? (exit 1 if not)
    update.py time FOLDER [THREADS [KERNEL..]]
                                          milliseconds of one update, the three side by side in one run, ours by each kernel;
                                          of one thread the processor time

FOLDER holds bench-update and bench-update-double. The twin does what the paper writes down, without a
shortcut: every resampled scan goes through the network, every data set has its n x n kernel, the loss is built
for all 32 data sets and the mean of the kappa worst is differentiated. Equality is asked of the float program
within float tolerance, and of the double build of the same source to nearly the last digit.
"""
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = sys.argv[3] if len(sys.argv) > 3 and sys.argv[1] == "time" else "2"
# The twins run as they would elsewhere: nothing that tunes our BLAS on this machine, and threads that sleep.
CHILD_ENVIRONMENT = dict(os.environ)
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = THREADS

import numpy as np
import torch

COVERAGES = [0.05 + 0.95 * i / 9 for i in range(10)]
WIDTH, LAMBDA2, BIN_SIZE = 0.2, 0.01, 25


def count_of(coverage, n):
    """ceil(coverage n) in exact arithmetic."""
    product = coverage * n
    nearest = round(product)
    return nearest if abs(product - nearest) < 1e-9 else math.ceil(product)


def trapezoid(values):
    return sum((values[i] + values[i - 1]) / 2 * (COVERAGES[i] - COVERAGES[i - 1]) for i in range(1, 10)) / (
        COVERAGES[-1] - COVERAGES[0])


class Torch:
    """Algorithm 1, lines 5-9, as it stands in the paper."""

    def __init__(self, data, dtype):
        self.dtype, self.kappa = dtype, data["kappa"]
        self.features = torch.tensor(data["features"], dtype=dtype)
        self.risks = torch.tensor(data["risks"], dtype=dtype)
        self.labels = torch.tensor(data["labels"], dtype=dtype)
        sites = torch.tensor(data["sites"].astype(np.int64))
        self.sites = sites
        self.site_sizes = torch.bincount(sites, minlength=data["n_sites"]).to(torch.float32)
        d, h = data["d"], data["hidden"]
        self.net = torch.nn.Sequential(torch.nn.Linear(d, h), torch.nn.ReLU(), torch.nn.Linear(h, h), torch.nn.ReLU(),
                                       torch.nn.Linear(h, 1)).to(dtype)
        torch.nn.utils.vector_to_parameters(torch.tensor(data["parameters"], dtype=dtype), self.net.parameters())
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=1e-3, weight_decay=1e-5)
        self.errors = None

    def draw(self, m, n):
        present = self.site_sizes > 0
        weights = torch.zeros(m, len(self.site_sizes))
        weights[:, present] = torch.distributions.Dirichlet(torch.ones(int(present.sum()))).sample((m,))
        probabilities = weights[:, self.sites] / self.site_sizes[self.sites]
        return torch.multinomial(probabilities, n, replacement=True).sort(dim=1).values

    @staticmethod
    def calibration_error(r, y):
        """S-BCE_2 of the selected, in the order of their risk: equal-mass bins as array_split cuts them."""
        n = r.numel()
        m = max(1, min(15, n // BIN_SIZE))
        sizes = torch.full((m,), n // m)
        sizes[: n % m] += 1
        bins = torch.repeat_interleave(torch.arange(m), sizes)
        gaps = torch.zeros(m, dtype=r.dtype).index_add_(0, bins, y - r)
        return (gaps * gaps / sizes).sum().div(n).sqrt()

    def auc(self, g, r, y):
        n = g.numel()
        ranked = g.sort(descending=True).values
        order = torch.argsort(r, stable=True)
        g, r, y = g[order], r[order], y[order]
        errors = []
        for coverage in COVERAGES:
            keep = g >= ranked[count_of(coverage, n) - 1]
            errors.append(self.calibration_error(r[keep], y[keep]))
        return trapezoid(errors)

    @staticmethod
    def double_sum(v, r):
        """sum_ij v_i v_j k(r_i, r_j). A data set at a time: one tensor of 32 x n x n takes longer, since its memory
        is had from the system and given back at every operation."""
        kernel = torch.exp(-(r[:, None] - r[None, :]).abs() / WIDTH)
        return (v[:, None] * kernel * v[None, :]).sum()

    def update(self, rows):
        n = rows.shape[1]
        r, y = self.risks[rows], self.labels[rows]
        z = self.net(self.features[rows]).squeeze(-1)
        g = torch.sigmoid(z)
        v = (y - r).abs().square() * g
        s = torch.stack([self.double_sum(v[k], r[k]) for k in range(len(rows))])
        loss = s.sqrt() / math.sqrt(n) + LAMBDA2 / n * torch.nn.functional.softplus(-z).sum(1)
        with torch.no_grad():
            self.errors = torch.stack([self.auc(z[k], r[k], y[k]) for k in range(len(rows))])
            worst = self.errors.topk(self.kappa).indices
        loss = loss[worst].mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), 10.0)
        self.optimiser.step()
        return float(loss.detach())

    def parameters(self):
        return torch.nn.utils.parameters_to_vector(self.net.parameters()).detach().numpy()


class Numpy:
    """The shortcuts of our own program in numpy, float32 in the network: data sets are counts over the scans, one
    forward pass over the distinct scans, one sort by score, O(n) loss by cumulative sums, backward for kappa only."""

    def __init__(self, data):
        self.kappa, self.d, self.h = data["kappa"], data["d"], data["hidden"]
        self.features = data["features"].astype(np.float32)
        self.risks, self.labels = data["risks"], data["labels"]
        self.e = (self.labels - self.risks) ** 2
        self.up, self.down = np.exp(self.risks / WIDTH), np.exp(-self.risks / WIDTH)
        self.difference = self.labels - self.risks
        self.sites = data["sites"].astype(np.int64)
        self.site_sizes = np.bincount(self.sites, minlength=data["n_sites"]).astype(float)
        self.p = data["parameters"].astype(np.float32).copy()
        self.m, self.v, self.step = np.zeros(len(self.p)), np.zeros(len(self.p)), 0
        self.random = np.random.default_rng(1)

    def parts(self, p):
        d, h = self.d, self.h
        ends = np.cumsum([h * d, h, h * h, h, h, 1])
        w1, b1, w2, b2, w3, b3 = np.split(p, ends[:-1])
        return w1.reshape(h, d), b1, w2.reshape(h, h), b2, w3, b3

    def draw(self, m, n):
        weights = self.random.dirichlet(np.ones(len(self.site_sizes)), m)
        probabilities = weights[:, self.sites] / self.site_sizes[self.sites]
        probabilities /= probabilities.sum(1, keepdims=True)
        return np.stack([self.random.multinomial(n, p) for p in probabilities])

    def auc(self, rows, counts, rank):
        by_score = np.argsort(rank, kind="stable")
        kept_by = np.cumsum(counts[by_score])
        total = kept_by[-1]
        values = []
        for coverage in COVERAGES:
            last = rank[by_score[np.searchsorted(kept_by, count_of(coverage, total))]]
            keep = rank <= last
            difference = np.repeat(self.difference[rows[keep]], counts[keep])
            n = len(difference)
            m = max(1, min(15, n // BIN_SIZE))
            sizes = np.full(m, n // m)
            sizes[: n % m] += 1
            gaps = np.add.reduceat(difference, np.concatenate(([0], np.cumsum(sizes)[:-1])))
            values.append(math.sqrt((gaps * gaps / sizes).sum() / n))
        return trapezoid(values)

    def update(self, counts):
        union = np.flatnonzero(counts.any(0))
        place = np.zeros(len(self.risks), np.int64)
        place[union] = np.arange(len(union))
        w1, b1, w2, b2, w3, b3 = self.parts(self.p)
        x = self.features[union]
        h1 = np.maximum(x @ w1.T + b1, 0)
        h2 = np.maximum(h1 @ w2.T + b2, 0)
        z = h2 @ w3 + b3
        rank = np.unique(-z, return_inverse=True)[1]
        sets = [np.flatnonzero(c) for c in counts]
        self.errors = np.array([self.auc(rows, c[rows], rank[place[rows]]) for rows, c in zip(sets, counts)])
        worst = np.argsort(-self.errors, kind="stable")[: self.kappa]
        dz, loss = np.zeros(len(union)), 0.0
        for k in worst:
            rows = sets[k]
            c, at = counts[k][rows], place[rows]
            n, zk = c.sum(), z[at].astype(np.float64)
            g = 1 / (1 + np.exp(-zk))
            v = c * self.e[rows] * g
            left, right = v * self.up[rows], v * self.down[rows]
            kv = self.down[rows] * np.cumsum(left) + self.up[rows] * (np.cumsum(right[::-1])[::-1] - right)
            s = v @ kv
            loss += (math.sqrt(s / n) + LAMBDA2 / n * (c * np.logaddexp(0, -zk)).sum()) / self.kappa
            dg = c * self.e[rows] * kv / math.sqrt(s * n)
            dz[at] += (dg * g * (1 - g) - LAMBDA2 / n * c * (1 - g)) / self.kappa
        back = np.flatnonzero(dz)
        dz, x, h1, h2 = dz[back].astype(np.float32), x[back], h1[back], h2[back]
        d2 = np.outer(dz, w3) * (h2 > 0)
        d1 = (d2 @ w2) * (h1 > 0)
        gradient = np.concatenate([(d1.T @ x).ravel(), d1.sum(0), (d2.T @ h1).ravel(), d2.sum(0), dz @ h2, [dz.sum()]])
        gradient = gradient.astype(np.float64)
        gradient = gradient * min(1, 10 / (np.linalg.norm(gradient) + 1e-6)) + 1e-5 * self.p
        self.step += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * gradient * gradient
        change = 1e-3 / (1 - 0.9**self.step) * self.m / (np.sqrt(self.v) / math.sqrt(1 - 0.999**self.step) + 1e-8)
        self.p = (self.p - change).astype(np.float32)
        return loss


def read(path):
    """Header, arrays and an iterator over the updates of a file of bench-update."""
    file = open(path, "rb")

    def take(dtype, *shape):
        count = math.prod(shape)
        return np.fromfile(file, dtype, count).reshape(shape)

    n, d, hidden, m, size, updates, p, real, kappa, n_sites = (int(v) for v in take("<i8", 10))
    real = np.dtype("<f4" if real == 4 else "<f8")
    data = {"n": n, "d": d, "hidden": hidden, "m": m, "size": size, "updates": updates, "kappa": kappa,
            "n_sites": n_sites, "real": real, "features": take(real, n, d), "risks": take("<f8", n),
            "labels": take("<f8", n), "sites": take("<u4", n), "parameters": take(real, p)}

    def each():
        for _ in range(updates):
            rows, errors, values = take("<u4", m, size), take("<f8", m), take("<f8", 2)
            yield rows, errors, values[0], values[1], take(real, p)

    return data, each()


def relative(a, b):
    return abs(a - b) / max(abs(a), abs(b), 1e-300)


def equality(folder, updates):
    fine = True
    # Largest differences allowed: relative of the loss, and of the parameters to the largest of them. In float the
    # order of sums differs between the two, and Adam divides by the root of tiny second moments.
    for program, name, loss_limit, parameter_limit in (("bench-update", "float", 1e-4, 1e-4),
                                                       ("bench-update-double", "double", 1e-9, 1e-9)):
        with tempfile.TemporaryDirectory() as temporary:
            path = os.path.join(temporary, "updates")
            subprocess.run([os.path.join(folder, program), "write", path, str(updates)], check=True,
                           env=CHILD_ENVIRONMENT)
            data, records = read(path)
            twin = Torch(data, torch.float32 if data["real"].itemsize == 4 else torch.float64)
            plain = Numpy(data) if program == "bench-update" else None
            worst = dict.fromkeys(("loss", "norm", "errors", "parameters", "numpy"), 0.0)
            others = 0
            for rows, errors, loss, norm, parameters in records:
                found = twin.update(torch.tensor(rows.astype(np.int64)))
                worst["loss"] = max(worst["loss"], relative(loss, found))
                worst["norm"] = max(worst["norm"], relative(norm, float(twin.norm)))
                worst["errors"] = max(worst["errors"], float(np.abs(errors / twin.errors.numpy() - 1).max()))
                worst["parameters"] = max(worst["parameters"], float(
                    np.abs(parameters - twin.parameters()).max() / np.abs(parameters).max()))
                if plain is not None:
                    counts = np.stack([np.bincount(set_rows, minlength=data["n"]) for set_rows in rows])
                    worst["numpy"] = max(worst["numpy"], relative(loss, plain.update(counts)))
                ours = set(np.argsort(-errors, kind="stable")[: data["kappa"]])
                others += ours != set(twin.errors.topk(data["kappa"]).indices.tolist())
            good = (max(worst["loss"], worst["numpy"]) <= loss_limit and worst["parameters"] <= parameter_limit)
            fine = fine and good
            print(f"{name}: {updates} updates of {data['m']} x {data['size']} beside PyTorch {torch.__version__}: largest"
                  f" relative difference of the loss {worst['loss']:.2g}, of the gradient's norm {worst['norm']:.2g}, of"
                  f" the selection errors {worst['errors']:.2g}; of the parameters {worst['parameters']:.2g} of the"
                  f" largest; other data sets chosen in {others} updates"
                  f"{'; of the loss to numpy ' + format(worst['numpy'], '.2g') if plain is not None else ''}:"
                  f" {'equal' if good else 'NOT EQUAL'} (allowed {loss_limit:g}, {parameter_limit:g})", flush=True)
    return 0 if fine else 1


def timing(folder):
    torch.set_num_threads(int(THREADS))
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "updates")
        subprocess.run([os.path.join(folder, "bench-update"), "write", path, "1"], check=True, env=CHILD_ENVIRONMENT)
        data, _ = read(path)
    programs = {" ".join(["demur", *kernel]): subprocess.Popen(
        [os.path.join(folder, "bench-update"), "serve", THREADS, *kernel], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env=CHILD_ENVIRONMENT) for kernel in [[k] for k in sys.argv[4:]] or [[]]}
    clock = time.process_time if THREADS == "1" else time.perf_counter

    def ours(program, n):
        program.stdin.write(f"{n}\n")
        program.stdin.flush()
        return [float(v) for v in program.stdout.readline().split()]

    spent = {name: [] for name in [*programs, "numpy", "torch"]}
    twins = {"torch": Torch(data, torch.float32), "numpy": Numpy(data)}
    # Interleaved, so that whatever else the machine does meets all three: 5 to warm up, then 20 of each; ours is
    # so much shorter that each turn takes 25 and keeps their median.
    for turn in range(25):
        for name, twin in twins.items():
            start = clock()
            twin.update(twin.draw(data["m"], data["size"]))
            elapsed = (clock() - start) * 1e3
            if turn >= 5:
                spent[name].append(elapsed)
        for name, program in programs.items():
            measured = ours(program, 25)
            if turn >= 5:
                spent[name].append(statistics.median(measured))
    for program in programs.values():
        program.stdin.close()
        program.wait()
    median = {name: statistics.median(values) for name, values in spent.items()}
    load = os.getloadavg()[0]
    print(f"one update of {data['m']} x {data['size']} of {data['n']} scans, kappa {data['kappa']}, {THREADS} threads,"
          f"{' processor time,' if THREADS == '1' else ''} drawing included; medians of 20 after 5; load {load:.1f} on {os.cpu_count()} processors")
    for name, values in spent.items():
        print(f"  {name:14s} {median[name]:9.3f} ms   (least {min(values):.3f}, most {max(values):.3f})")
    for name in programs:
        if 250 <= median["torch"] <= 700:
            print(f"  {name}: ratio to PyTorch {median['torch'] / median[name]:.0f} (wanted: 150)")
        else:
            print(f"  no ratio to PyTorch: the twin took {median['torch']:.0f} ms, outside 250 to 700 ms")
        print(f"  {name}: ratio to numpy with the same shortcuts {median['numpy'] / median[name]:.1f} (wanted: 10)")
    return 0


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("equality", "time"):
        sys.exit(__doc__)
    if sys.argv[1] == "equality":
        return equality(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 200)
    return timing(sys.argv[2])


sys.exit(main())
