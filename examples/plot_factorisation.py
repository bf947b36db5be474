"""
Rank-one factorisation in the worst entry
=========================================

A matrix M is approximated by a product :math:`u v^T` so that the largest error of an entry is as small as possible:
linear in u, linear in v, and not convex in both. Alternating linear programs end in local optima.
"""

import matplotlib.pyplot as plt
import numpy as np

import gopfast

M = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 1.0], [2.0, 0.5, 3.0]])
m, n = M.shape
# variables: u (m), v (n), the largest error t; u has entries up to 1, so that the scale of v is fixed
size = m + n + 1
rows, lower, upper = [], [], []
for i in range(m):
    for j in range(n):
        Q = np.zeros((size, size))
        Q[i, m + j] = 1.0
        for sign in (-1.0, 1.0):  # -t <= u_i v_j - M_ij <= t
            a = np.zeros(size)
            a[-1] = sign
            bounds = (None, M[i, j]) if sign < 0 else (M[i, j], None)
            rows.append((Q, a, *bounds))
c = np.zeros(size)
c[-1] = 1.0
problem = gopfast.BiconvexProblem(
    c, quadratic_rows=rows, lower=np.zeros(size), upper=[*np.ones(m), *np.full(n, 2.0 * M.max()), M.max()]
)
result = gopfast.solve(problem, rel_tol=1e-4, time_limit=30.0)
z = result.solution.z
u, v = z[:m], z[m:-1]
print(f"{result.status}: largest error {result.objective:.5f}, proved at least {result.lower_bound:.5f}")

# %%
# The matrix, its factorisation, and the errors, many of which are as large as the largest.

figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, table, title in zip(axes, (M, np.outer(u, v), np.outer(u, v) - M), ("M", "u v'", "error")):
    ax.imshow(table, cmap="RdBu", vmin=-M.max(), vmax=M.max())
    for (i, j), value in np.ndenumerate(table):
        ax.text(j, i, f"{value:.2f}", ha="center", va="center")
    ax.set(title=title, xticks=[], yticks=[])
