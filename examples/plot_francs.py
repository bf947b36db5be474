"""
The 100 Swiss francs problem
============================

Sturmfels offered 100 Swiss francs for a proof that a certain 4 x 4 table has its maximum likelihood, with two latent
classes, at a table that joins the first two and the last two rows and columns. Algebraists found one years later, for
this table; the search proves it to 0.01 nats in about a second, and gives a bound for any other.
"""

import matplotlib.pyplot as plt
import numpy as np

import gopfast

counts = np.full((4, 4), 2) + 2 * np.eye(4, dtype=int)
rows = np.array([[str(i), str(j)] for i in range(4) for j in range(4) for _ in range(counts[i, j])])
TIME_LIMIT = 10.0  # in the tests: 1.0
result = gopfast.solve(gopfast.LatentClass(rows, 2), time_limit=TIME_LIMIT)
published = 24 * np.log(3 / 40) + 16 * np.log(1 / 20)
print(f"published {published:.6f}, found {result.log_likelihood:.6f}, proved at most {result.log_likelihood_bound:.6f}")

# %%
# The counts, and those that the best fit expects: 3 in two blocks, 2 elsewhere.

solution = result.solution
expected = 40 * (solution.weights[:, np.newaxis] * solution.probabilities[0]).T @ solution.probabilities[1]
figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
for ax, table, title in zip(axes, (counts, expected), ("counts", "expected by the best fit")):
    ax.imshow(table, cmap="Greys", vmin=0, vmax=6)
    for (i, j), value in np.ndenumerate(table):
        ax.text(j, i, f"{value:.2g}", ha="center", va="center")
    ax.set(title=title, xlabel="second item", ylabel="first item", xticks=range(4), yticks=range(4))
