"""
Image segmentation: forty colours
=================================

The pixels of a photograph of scikit-learn's as a mixture of K = 40 colours, small clusters among large ones: the
example by which anti-annealing was proposed for EM (Naim & Gildea, 2012). EM, anti-annealing EM, BFGS and
expectation-conjugate-gradient start from the same colours; the figure shows what the picture loses. The search adds
what none of them has: a bound of the best palette, of known variance and of k-means.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import gopfast

STEP = 16  # in the tests: 60
K = 40  # in the tests: 4
MAX_ITER = 60  # in the tests: 5
TIME_LIMIT = 10.0  # in the tests: 1.0

image = load_sample_image("flower.jpg")[::STEP, ::STEP] / 255.0
pixels = image.reshape(-1, 3)
problem = gopfast.GaussianMixture(pixels, K, covariance="known", noise_variance=0.05**2)
start = pixels[np.random.default_rng(0).choice(len(pixels), K, replace=False)]
methods = {
    "EM": gopfast.local.em,
    "anti-annealing EM": gopfast.local.anneal,
    "BFGS": gopfast.local.quasi_newton,
    "expectation-conjugate-gradient": gopfast.local.conjugate_gradient,
}
fits = {name: method(problem, start, max_iter=MAX_ITER) for name, method in methods.items()}

# %%
# A pixel is painted in the mean of its most probable component. What is lost is the root of the mean squared
# difference.

figure, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained")
axes[0, 0].imshow(image)
axes[0, 0].set_title(f"photograph\n{len(pixels):,} pixels", fontsize="small")
result = gopfast.solve(problem, start=start, time_limit=TIME_LIMIT, log=False)
for ax, (name, fit) in zip(axes.flat[1:], {**fits, "best known": result}.items()):
    painted = fit.solution.means[fit.solution.predict()].reshape(image.shape)
    lost = np.sqrt(np.mean((painted - image) ** 2))
    ax.imshow(np.clip(painted, 0.0, 1.0))
    ax.set_title(f"{name}\n{fit.objective:.1f} nats, lost {255 * lost:.2f} of 255", fontsize="small")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])

# %%
# What is proved of the best palette. Forty colours in three dimensions are far from being proved optimal; the bound
# says how far the best can be from what is known.

print(f"{result.status}: best known {result.objective:.2f} nats, proved at least {result.lower_bound:.2f}")
palette = gopfast.solve(gopfast.KMeans(pixels, K), time_limit=TIME_LIMIT, log=False)
print(f"k-means: inertia {palette.inertia:.4f}, proved at least {palette.lower_bound:.4f}, gap {palette.rel_gap:.1%}")
