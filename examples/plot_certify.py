"""
Is a fit of scikit-learn the best there is?
===========================================

``gopfast.certify`` answers for any fit: proved within epsilon, beaten by a better one, or undecided. Below for fits
of four components to the galaxies, from many starts.
"""

import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

import gopfast
from gopfast import plot

warnings.filterwarnings("ignore")
X = gopfast.datasets.load_galaxies() / 1000
problem = gopfast.GaussianMixture(X, 4, covariance="diag", variance_floor=0.3**2)
N_FITS = 60  # in the tests: 3

fits = [GaussianMixture(4, covariance_type="diag", random_state=seed).fit(X) for seed in range(N_FITS)]
allowed = [fit for fit in fits if fit.covariances_.min() >= 0.09]
certificate = gopfast.certify(problem, allowed[0])
print(certificate)

# %%
# Where all fits end, beside the proved optimum.

ends = [problem.objective(fit.weights_, fit.means_, fit.covariances_) for fit in allowed]
result = gopfast.solve(problem)
print(f"{np.mean(np.array(ends) > result.objective + 0.01):.0%} of the fits miss the optimum")
ax = plot.local_optima({"scikit-learn": ends}, result)
