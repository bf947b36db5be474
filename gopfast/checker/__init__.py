"""
A small program that checks proofs; it knows nothing of the search that wrote them, and imports none of it.

What is checked, and by what mathematics. Of mixtures: `tree` (every mixture lies in some leaf), `families` (an affine
function below the costs in a leaf's cells; of covariance matrices `matrices`, on `covariance` and `within`), `priors`
(the same for what a prior adds), `leaf` (what such a function bounds) and `objective` (the value that is attained);
`problem` reads the problem and the data. Of biconvex problems: `biconvex` (every point lies in some leaf) and
`certificate` (what multipliers prove of a box). Of k-means: `clustering` (what prices prove) and `savings` (the most
that a cluster saves at given prices). `file` is the format. Needs NumPy alone; the folder can be copied and run by
itself: ``python -m checker proof.npz data.csv`` or ``python -m checker proof.npz problem.json``.
"""

from .biconvex import CheckedBiconvex
from .errors import ProofError
from .verify import Checked, check

__all__ = ["Checked", "CheckedBiconvex", "ProofError", "check"]
