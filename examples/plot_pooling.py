"""
Pooling: a biconvex problem
===========================

Haverly's pooling problem mixes crudes of different sulphur in a pool. Flow times quality is bilinear, so that linear
solvers end in local optima of it. The search proves the best profit.
"""

import gopfast

problem = gopfast.datasets.load_problem("haverly")
result = gopfast.solve(problem)
print(result)

# %%
# The bounds against time.

ax = result.plot()
ax.set_title("Haverly's pooling problem")
