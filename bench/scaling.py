"""Cost against the number of samples and of components; writes bench/results/scaling.md and two figures.

Run: OMP_NUM_THREADS=1 python bench/scaling.py     (about 4 minutes)
"""

import machine
import matplotlib
import numpy as np
from speed_table import line, measure, scikit_learn

import gopfast

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter, ScalarFormatter

SAMPLES = [10**2, 10**3, 10**4, 10**5, 10**6, 10**7]
COMPONENTS = range(2, 9)
MOST_FOR_SCIKIT_LEARN = 10**6  # ten restarts on 10^7 samples take minutes
COLORS = {"gopfast": "#1b5e9e", "scikit": "#c8511b", "nodes": "#1b5e9e", "passes": "#4c9a5b"}


def point(n_samples, n_components, gap):
    """Seconds, status, gap, nodes and passes of one thread; seconds of two; seconds of ten restarts or None."""
    data = line(n_samples, n_components, gap)
    one, result = measure(data, n_components, None, 1)
    two, other = measure(data, n_components, None, 2)
    if (result.n_nodes, result.n_passes) != (other.n_nodes, other.n_passes) and result.success and other.success:
        raise RuntimeError("counts differ between one and two threads")
    restarts = scikit_learn(data, n_components) if n_samples <= MOST_FOR_SCIKIT_LEARN else None
    found = {
        "N": n_samples, "K": n_components, "one": one, "two": two, "status": result.status.name, "gap": result.gap,
        "nodes": result.n_nodes, "passes": result.n_passes, "restarts": restarts,
    }  # fmt: skip
    print(found, flush=True)
    return found


def table(rows, key):
    lines = [
        f"| {key} | one thread s | two threads s | status | gap | nodes | passes | passes per node "
        "| scikit-learn, n_init=10, s | ratio |",
        "|" + " --- |" * 10,
    ]
    for row in rows:
        other, ratio = "-", "-"
        if row["restarts"] is not None:
            other, ratio = f"{row['restarts']:.3g}", f"{row['restarts'] / row['one']:.2g}"
        lines.append(
            f"| {row[key]:,} | {row['one']:.3g} | {row['two']:.3g} | {row['status']} | {row['gap']:.2g} "
            f"| {row['nodes']:,} | {row['passes']:,} | {row['passes'] / row['nodes']:.1f} | {other} | {ratio} |"
        )
    return "\n".join(lines) + "\n"


def figure(name, title, rows, key, label, logarithmic):
    """Seconds on the left, nodes and passes on the right."""
    x = [row[key] for row in rows]
    picture, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), constrained_layout=True)
    left.plot(x, [row["one"] for row in rows], "o-", color=COLORS["gopfast"], label="gopfast, proved, 1 thread")
    left.plot(x, [row["two"] for row in rows], "o--", mfc="white", color=COLORS["gopfast"], label="2 threads")
    with_restarts = [row for row in rows if row["restarts"] is not None]
    left.plot(
        [row[key] for row in with_restarts], [row["restarts"] for row in with_restarts], "s-",
        color=COLORS["scikit"], label="scikit-learn, n_init=10, no proof",
    )  # fmt: skip
    left.set_ylabel("wall time in seconds")
    right.plot(x, [row["nodes"] for row in rows], "o-", color=COLORS["nodes"], label="nodes")
    right.plot(x, [row["passes"] for row in rows], "^-", color=COLORS["passes"], label="data passes, most on summaries")
    right.set_ylabel("count")
    unproved = [row for row in rows if row["status"] != "OPTIMAL"]
    if unproved:
        left.plot(
            [row[key] for row in unproved], [row["one"] for row in unproved], "x", color="black", ms=10,
            label="stopped at the time limit",
        )  # fmt: skip
    for axes in (left, right):
        axes.set_xlabel(label)
        axes.set_yscale("log")
        if logarithmic:
            axes.set_xscale("log")
        else:
            axes.set_xticks(x)
            axes.xaxis.set_major_formatter(ScalarFormatter())
            axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(True, which="major", color="0.88")
        axes.legend(frameon=False, fontsize=9, loc="upper left")
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * 12)  # room for the legend
    picture.suptitle(title, fontsize=11)
    picture.savefig(machine.RESULTS / name, dpi=120)
    plt.close(picture)


def main():
    head = machine.heading("Cost against N and K", "scikit-learn")
    gopfast.solve(gopfast.GaussianMixture(line(100, 2, 4), 2, covariance="known"))  # threads started
    by_samples = [point(n, 3, 4) for n in SAMPLES]
    by_components = {gap: [point(1000, k, gap) for k in COMPONENTS] for gap in (4, 5)}
    figure(
        "scaling_samples.png", "Proof to an absolute gap of 0.01: K = 3, means 4 standard deviations apart",
        by_samples, "N", "number of samples N", True,
    )  # fmt: skip
    for gap, rows in by_components.items():
        figure(
            f"scaling_components_gap{gap}.png",
            f"Proof to an absolute gap of 0.01: N = 1000, means {gap} standard deviations apart",
            rows, "K", "number of components K", False,
        )  # fmt: skip
    order = np.polyfit(np.log([r["N"] for r in by_samples[2:]]), np.log([r["one"] for r in by_samples[2:]]), 1)[0]
    text = head + f"""
Data of one dimension as in the issue on speed, seed 1. Whole calls (problem and solve), best of three, one where it
takes over 2 s; limit 60 s. Absolute gap 0.01. scikit-learn's spherical mixture estimates the variances: another model,
only its time is compared. *ratio*: its time over that of one thread.

## N, with K = 3 and gap 4

{table(by_samples, "N")}
From N = {by_samples[2]["N"]:,} on, time grows as N to the power {order:.2f}.

![cost against N](scaling_samples.png)

"""
    for gap, rows in by_components.items():
        text += f"## K, with N = 1000 and gap {gap}\n\n{table(rows, 'K')}\n"
        text += f"![cost against K](scaling_components_gap{gap}.png)\n\n"
    machine.write("scaling.md", text)


if __name__ == "__main__":
    main()
