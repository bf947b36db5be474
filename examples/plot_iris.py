"""
Iris: clusters, species and certainty
=====================================

Petal length and width of 150 irises. The clustering is the best one of its model, so what it gets wrong is the
model's doing and not the algorithm's.
"""

import numpy as np
from sklearn.datasets import load_iris

import gopfast

iris = load_iris(as_frame=True)
X = iris.data[["petal length (cm)", "petal width (cm)"]]
TIME_LIMIT = 60.0  # in the tests: 1.0
result = gopfast.solve(
    gopfast.GaussianMixture(X, 3, covariance="diag", variance_floor=0.2**2), time_limit=TIME_LIMIT
)
print(result.status, f"log-likelihood {result.log_likelihood:.3f}, at most {result.log_likelihood_bound:.3f}")
table = np.zeros((3, 3), dtype=int)
np.add.at(table, (iris.target, result.predict()), 1)
for name, row in zip(iris.target_names, table):
    print(f"{name:<12} {row}")

# %%
# How certain each flower's cluster is: one less the largest probability, as mclust reports it.

uncertainty = 1.0 - result.predict_proba().max(axis=1)
ax = result.plot("density")
doubtful = uncertainty > 0.1
ax.scatter(*X[doubtful].to_numpy().T, s=90, facecolor="none", edgecolor="black", label="uncertainty above 0.1")
ax.legend(frameon=False)
