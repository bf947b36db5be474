"""
Old Faithful: full covariance matrices, and what a statistician reads
=====================================================================

272 eruptions: their length and the waiting time for the next. Two components with a covariance matrix each, proved,
and the summary with standard errors from the observed information.
"""

import gopfast

frame = gopfast.datasets.load_faithful(as_frame=True)
problem = gopfast.GaussianMixture(frame, 2, covariance="full")
result = gopfast.solve(problem, time_limit=30.0)
print(result.summary())

# %%
# Ellipses of one and two standard deviations; the axes have the names of the data frame's columns.

ax = result.plot("density")
ax.set_title("Old Faithful, two components: proved optimum")
