"""
Outliers as noise
=================

Two clusters and some points that belong to neither. Without a place for them one component has to be that place: it
grows until it holds the outliers and a whole cluster. With ``noise=True`` one more component of constant density takes
them, mclust's way. Both fits are proved, so that the difference is the model's, not the search's.
"""

import matplotlib.pyplot as plt
import numpy as np

import gopfast
from gopfast import drawing

rng = np.random.default_rng(4)
clusters = np.array([[0.0, 0.0], [5.0, 1.0]])[rng.integers(2, size=60)] + 0.7 * rng.standard_normal((60, 2))
X = np.vstack([clusters, rng.uniform([-12, -14], [18, 15], (9, 2))])
plain = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="spherical", variance_floor=0.1))
noisy = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="spherical", variance_floor=0.1, noise=True))
for name, result in (("without noise", plain), ("with noise", noisy)):
    print(f"{name}: {result.status.name}, BIC {result.bic:.1f}, standard deviations "
          f"{np.sqrt(result.solution.covariances).round(2)}, weights {result.solution.weights.round(2)}")

# %%
# Circles of two standard deviations. Noise is component 2 of ``predict``, and its weight the last.

figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), sharex=True, sharey=True, layout="constrained")
for ax, result, title in zip(axes, (plain, noisy), ("two components", "two components and noise"), strict=True):
    own = result.predict()
    for k, mark in zip(range(3), "o^x", strict=True):
        colour = drawing.COLOURS[k] if k < 2 else "0.4"
        ax.scatter(*X[own == k].T, s=18, marker=mark, color=colour, label="noise" if k == 2 else f"component {k}")
    for k in range(2):
        radius = 2.0 * np.sqrt(result.solution.covariances[k])
        ax.add_patch(plt.Circle(result.solution.means[k], radius, fill=False, color=drawing.COLOURS[k]))
    ax.set(title=f"{title}: BIC {result.bic:.0f}", aspect="equal")
axes[1].legend(frameon=False, loc="lower left")
