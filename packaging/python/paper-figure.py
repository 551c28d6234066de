"""The paper's figure from a cohort: selective calibration error over coverage, of a selector, of confidence and of chance.

    demur cohort export C cohort.csv
    demur selector export S selector.json
    python3 paper-figure.py selector.json cohort.csv test figure.svg

Writes an SVG by itself: nothing but numpy and demur is needed. For research use, not a cleared device.
"""
import csv
import sys

import numpy as np

import demur

COLOURS = {"selector": "#1a5fb4", "confidence": "#c64600", "random": "#77767b"}


def read(path, split, width):
    """Risks, labels and embeddings of the scans of a split whose label is known."""
    with open(path, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == split and row["label"] != ""]
    if not rows:
        sys.exit(f"{path}: no labelled scan in split {split}")
    risks = np.array([float(row["risk"]) for row in rows])
    labels = np.array([float(row["label"]) for row in rows])
    embeddings = np.array([[float(row[f"emb_{k}"]) for k in range(width)] for row in rows], np.float32) if width else None
    return risks, labels, embeddings


def draw(curves, simulated, n):
    """The SVG of {name: curve}."""
    left, top, wide, high = 70, 50, 480, 300
    most = 1.05 * max(np.nanmax(curve["sbce2"]) for curve in curves.values())
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="780" height="420" font-family="sans-serif" font-size="12">',
             '<rect width="780" height="420" fill="white"/>',
             f'<text x="{left}" y="24" font-size="15">Selective calibration error, {n} scans{" (SIMULATED DATA)" if simulated else ""}</text>']
    for k in range(6):
        x, y = left + wide * k / 5, top + high * (1 - k / 5)
        parts += [f'<line x1="{x}" x2="{x}" y1="{top}" y2="{top + high}" stroke="#ddd"/>',
                  f'<line x1="{left}" x2="{left + wide}" y1="{y}" y2="{y}" stroke="#ddd"/>',
                  f'<text x="{x}" y="{top + high + 18}" text-anchor="middle">{20 * k} %</text>',
                  f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{most * k / 5:.3f}</text>']
    parts += [f'<text x="{left + wide / 2}" y="{top + high + 40}" text-anchor="middle">Coverage</text>',
              f'<text x="18" y="{top + high / 2}" text-anchor="middle" transform="rotate(-90 18 {top + high / 2})">S-BCE_2</text>',
              '<text x="70" y="412" fill="#555">For research use, not a cleared device.</text>']
    for k, (name, curve) in enumerate(curves.items()):
        points = " ".join(f"{left + wide * c:.1f},{top + high * (1 - e / most):.1f}" for c, e in zip(curve["coverage"], curve["sbce2"])
                          if np.isfinite(e))
        area = demur.coverage_auc(curve["coverage"], curve["sbce2"])
        dash = ["", "8 3", "2 3"][k % 3]
        parts += [f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2" stroke-dasharray="{dash}"/>',
                  f'<line x1="{left + wide + 12}" x2="{left + wide + 36}" y1="{top + 20 * k}" y2="{top + 20 * k}" '
                  f'stroke="{COLOURS[name]}" stroke-width="2" stroke-dasharray="{dash}"/>',
                  f'<text x="{left + wide + 42}" y="{top + 20 * k + 4}">{name} {area:.4f}</text>']
    return "\n".join(parts + ["</svg>", ""])


def curves_of(selector, risks, labels, embeddings):
    """{name: curve} of the selector's scores, of confidence and of chance, over the risks that the selector shows."""
    scores, shown = selector.score(risks, embeddings)
    by = {"selector": scores, "confidence": np.maximum(shown, 1 - shown), "random": np.random.default_rng(1).permutation(len(risks))}
    return {name: demur.selective_curve(shown, labels, score) for name, score in by.items()}


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    selector = demur.Selector(sys.argv[1])
    risks, labels, embeddings = read(sys.argv[2], sys.argv[3], selector.embedding_width)
    curves = curves_of(selector, risks, labels, embeddings)
    with open(sys.argv[4], "w", encoding="utf-8") as file:
        file.write(draw(curves, selector.simulated, len(risks)))
    for name, curve in curves.items():
        print(f"{name:12} {demur.coverage_auc(curve['coverage'], curve['sbce2']):.6f}")


if __name__ == "__main__":
    main()
