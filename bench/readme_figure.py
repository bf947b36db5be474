"""The figure of the README: where restarts of scikit-learn end, and the proof that closes in; writes docs/proof.png.

Run: python bench/readme_figure.py     (make figures; needs matplotlib and scikit-learn; about a minute)
"""

import warnings
from pathlib import Path

import datasets
import matplotlib
import numpy as np
from matplotlib import pyplot

import gopfast
from gopfast.plot import UPPER_COLOUR

OUT = Path(__file__).resolve().parents[1] / "docs" / "proof.png"
N_COMPONENTS, FLOOR = 4, 0.3**2
N_FITS = 100
# Of a palette that colour-blind readers tell apart, also in grey.
STARTS = {"kmeans": ("k-means starts (default)", "#e69f00"), "k-means++": ("k-means++ starts", "#56b4e9")}
SAME = 0.05  # nats: fits closer than this are one local optimum
BELOW = 6.0  # nats below the optimum that the bounds are drawn from: the fits of the left picture miss by as much


def fits(X, start):
    """Objectives of 100 fits of scikit-learn; those with a variance below the floor are of another model: left out."""
    from sklearn.mixture import GaussianMixture

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence
        for seed in range(N_FITS):
            model = GaussianMixture(
                N_COMPONENTS, covariance_type="diag", init_params=start, random_state=seed, max_iter=2000, tol=1e-8
            ).fit(X)
            if model.covariances_.min() >= FLOOR:
                found.append(-len(X) * model.score(X))
    return np.array(found)


def restarts(ax, found, result):
    """Bars at the local optima; the proved optimum as a line."""
    width = 0.16
    ends = np.sort(np.concatenate(list(found.values())))
    ends = ends[np.append(True, np.diff(ends) > SAME)]
    begins = dict.fromkeys(range(len(ends)), 0.0)  # at each end: bars begin at their value, side by side
    for start, objectives in found.items():
        label, colour = STARTS[start]
        nearest = np.abs(objectives[:, np.newaxis] - ends).argmin(axis=1)
        used, counts = np.unique(nearest, return_counts=True)
        places = ends[used] + [begins[end] for end in used]
        bars = ax.bar(places, counts, width, align="edge", color=colour, edgecolor="black", linewidth=0.6, label=label)
        for end in used:
            begins[end] += 1.3 * width
        ax.bar_label(bars, fontsize=8, padding=1)
    ax.axvline(result.objective, color=UPPER_COLOUR, linewidth=1.6, linestyle="--", zorder=0)
    ax.annotate(
        f"proved optimum\n{result.objective:.2f}", (result.objective, 0.5), xytext=(8, 0),
        xycoords=("data", "axes fraction"), textcoords="offset points", color=UPPER_COLOUR, va="center",
    )  # fmt: skip
    ax.set_ylim(0, 1.12 * N_FITS)
    ax.set_xlabel("negative log-likelihood where a fit ends (nats)")
    ax.set_ylabel(f"fits, of {N_FITS}")
    ax.set_title(f"scikit-learn on the galaxies, K = {N_COMPONENTS}", fontsize=11)
    ax.legend(frameon=False, fontsize=9, loc="upper center")


def main():
    matplotlib.use("Agg")
    X = datasets.galaxies().reshape(-1, 1)
    result = gopfast.solve(
        gopfast.GaussianMixture(X, N_COMPONENTS, covariance="diag", variance_floor=FLOOR), time_limit=60
    )
    if not result.success:
        raise SystemExit(f"no proof: {result!r}")
    found = {start: fits(X, start) for start in STARTS}
    for start, objectives in found.items():
        missed = objectives > result.objective + 0.01
        least = objectives[missed].min() - result.objective
        below = N_FITS - len(objectives)
        print(f"{start}: {missed.sum()} of {len(objectives)} miss by {least:.2f} nats or more; {below} below the floor")
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.0, 3.6), layout="constrained")
    restarts(left, found, result)
    result.plot(ax=right)
    right.set_title(f"gopfast: proved within {result.gap:.2f} nats", fontsize=11)
    for line in right.lines:
        if line.get_color() == UPPER_COLOUR:
            line.set_linestyle("--")
    right.set_xscale("linear")
    right.set_xlim(0, 1.03 * result.time)
    right.set_ylim(result.objective - BELOW, result.objective + 0.1 * BELOW)
    right.legend(frameon=False, fontsize=9, loc="lower right")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(OUT, dpi=110)
    print(f"{OUT.name}: {result!r}")


if __name__ == "__main__":
    main()
