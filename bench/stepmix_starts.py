"""Random starts of StepMix on a table of labels; prints JSON: seconds, and the log-likelihood that each start reached.

Run by `latent_classes.py`, by a Python that has StepMix: python bench/stepmix_starts.py TABLE.csv N_CLASSES N_STARTS

Equal rows are merged, and the defaults kept: 1000 steps, absolute tolerance 1e-10 of the average log-likelihood.
"""

import csv
import json
import sys
import time
import warnings

import numpy as np
from stepmix.stepmix import StepMix


def main():
    """Run the starts."""
    path, n_classes, n_starts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path, encoding="utf-8", newline="") as lines:
        table = np.array(list(csv.reader(lines))[1:])
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in table.T], axis=1)
    rows, index = np.unique(codes, axis=0, return_inverse=True)
    weight = np.bincount(index.reshape(-1)).astype(float)
    warnings.simplefilter("ignore")
    began, reached = time.perf_counter(), []
    for seed in range(n_starts):
        model = StepMix(
            n_components=n_classes, measurement="categorical", n_init=1, init_params="random", random_state=seed,
            verbose=0, progress_bar=0,
        )  # fmt: skip
        model.fit(rows, sample_weight=weight)
        reached.append(float(model.score(rows, sample_weight=weight) * weight.sum()))
    print(json.dumps({"seconds": time.perf_counter() - began, "reached": reached}))


if __name__ == "__main__":
    main()
