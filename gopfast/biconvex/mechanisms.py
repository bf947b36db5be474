"""
The mechanisms that are at work in the solve of a biconvex problem, in the order in which they act.

What all solves have (tightening, lifted equations, cycles, local searches) is part of `preparation` and of `bilinear`.
"""

from gopfast.biconvex.concave_directions import ConcaveDirections
from gopfast.biconvex.lifted_inequalities import LiftedInequalities
from gopfast.biconvex.local_budget import LocalBudget
from gopfast.biconvex.moments import SemidefiniteCuts
from gopfast.biconvex.node_bounds import NodeBounds
from gopfast.biconvex.squared_forms import SquaredForms
from gopfast.biconvex.symmetry import Symmetry

MECHANISMS = (
    SquaredForms, ConcaveDirections, LiftedInequalities, SemidefiniteCuts, Symmetry, NodeBounds, LocalBudget,
)  # fmt: skip
NAMES = tuple(mechanism.name for mechanism in MECHANISMS)
