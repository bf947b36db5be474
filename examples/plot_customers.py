"""
Customers: columns of different kinds
=====================================

Age, visits in a year, how they first came, and whether they take the newsletter: a number, a count, a label and an
answer that one in eight has not given. Scaled, coded and imputed they could go to k-means; as they are they go to a
mixture of mixed columns, with the best three segments proved. The data are drawn from three segments, so that we know
what is true.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas

import gopfast
from gopfast import drawing

rng = np.random.default_rng(7)
segment = rng.choice(3, 240, p=[0.5, 0.3, 0.2])
channels = ["friend", "search", "shop"]
frame = pandas.DataFrame({
    "age": rng.normal(np.array([28.0, 45.0, 66.0])[segment], 5.0),
    "visits": rng.poisson(np.array([3.0, 14.0, 7.0])[segment]),
    "channel": [channels[rng.choice(3, p=[[0.2, 0.7, 0.1], [0.3, 0.4, 0.3], [0.3, 0.1, 0.6]][s])] for s in segment],
    "newsletter": np.where(rng.random(240) < np.array([0.2, 0.8, 0.5])[segment], "yes", "no").astype(object),
})
frame.loc[frame.index % 8 == 0, "newsletter"] = None
kinds = {"age": "normal", "visits": "poisson", "channel": "categorical", "newsletter": "binary"}
problem = gopfast.MixedMixture(kinds, frame, 3)
TIME_LIMIT = 25.0  # in the tests: 3.0
result = gopfast.solve(problem, time_limit=TIME_LIMIT)
print(result)

# %%
# Who is in which segment, beside the truth: rows are the true segments, columns those found.

found = result.predict()
order = np.argsort(result.solution.means[:, 0])
print(np.array([[np.sum((segment == s) & (found == k)) for k in order] for s in range(3)]))

# %%
# The segments' profiles: each kind of column in its own unit.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.1), layout="constrained")
solution, names = result.solution, [f"{100 * result.solution.weights[k]:.0f} %" for k in order]
bars = {"color": drawing.COLOURS[:3], "edgecolor": "white"}
deviations = np.sqrt(solution.covariances[order, 0])
axes[0].bar(names, solution.means[order, 0], yerr=deviations, **bars)
axes[0].set(title="age", ylabel="years: mean, standard deviation")
axes[1].bar(names, solution.rates[order, 0], **bars)
axes[1].set(title="visits", ylabel="a year: mean")
labels = [*(f"by {name}" for name in problem.categories[0]), "newsletter"]
shares = np.column_stack([solution.probabilities[0], solution.probabilities[1][:, 1]])
for i, k in enumerate(order):
    axes[2].bar(np.arange(4) + 0.27 * (i - 1), shares[k], 0.27, color=drawing.COLOURS[i], hatch=drawing.HATCHES[i],
                edgecolor="white", label=names[i])
axes[2].set_xticks(range(4), labels, rotation=20, ha="right", rotation_mode="anchor")
axes[2].set(title="how they came, newsletter", ylabel="share of the segment")
