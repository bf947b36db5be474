"""
A small program that checks proofs; it knows nothing of the search that wrote them, and imports none of it.

What is checked, and by what mathematics: `gopfast.checker.tree` (every mixture lies in some leaf),
`gopfast.checker.families` (an affine function below the costs in a leaf's cells), `gopfast.checker.leaf` (what such a
function bounds) and `gopfast.checker.objective` (the value that is attained). `gopfast.checker.file` is the format.
Needs NumPy alone; the folder can be copied and run by itself: ``python -m checker proof.npz data.csv``.
"""

from .errors import ProofError
from .verify import Checked, check

__all__ = ["Checked", "ProofError", "check"]
