"""
Two reactors in series
======================

A reacts to B and B to C in two stirred tanks, whose costs grow with the roots of their volumes; most B is to leave the
second (Manousiouthakis and Sourlas 1992). Where there is one tank alone is a local optimum, of 0.3746. The published
optimum is 0.38881.
"""

import numpy as np
from matplotlib import pyplot as plt

import gopfast

k1, k3 = 0.09755988, 0.0391908
k2, k4 = 0.99 * k1, 0.9 * k3
problem = gopfast.PolynomialProblem(
    "b2",
    [
        f"a1 + {k1}*a1*v1 == 1", f"a2 - a1 + {k2}*a2*v2 == 0", f"b1 + a1 + {k3}*b1*v1 == 1",
        f"b2 - b1 + a2 - a1 + {k4}*b2*v2 == 0", "v1^0.5 + v2^0.5 <= 4",
    ],
    dict.fromkeys(["a1", "a2", "b1", "b2"], (0, 1)) | dict.fromkeys(["v1", "v2"], (0, 16)),
    sense="max",
)  # fmt: skip
result = gopfast.solve(problem)
print(result)

# %%
# What leaves of B against both volumes. On the limit of the costs there is a maximum at each end, and the proved one
# between them.

v1, v2 = np.meshgrid(np.linspace(0, 16, 200), np.linspace(0, 16, 200))
a1 = 1 / (1 + k1 * v1)
a2 = a1 / (1 + k2 * v2)
b1 = (1 - a1) / (1 + k3 * v1)
b2 = (b1 + a1 - a2) / (1 + k4 * v2)
figure, ax = plt.subplots()
figure.colorbar(ax.contourf(v1, v2, b2, 20), label="B that leaves")
limit = np.linspace(0, 16, 200)
ax.plot(limit, (4 - np.sqrt(limit)) ** 2, "k", label="limit of the costs")
ax.plot(result.solution["v1"], result.solution["v2"], "r*", markersize=14, label="proved")
ax.set(xlabel="volume of the first tank", ylabel="of the second", title="Two reactors in series")
ax.legend()
