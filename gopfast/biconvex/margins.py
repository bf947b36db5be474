"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [ellipsoid] Bounds by convex rows (X11).

# of a few operations | relative | 8 u, with the factors that stand beside it (X11), (R1)
ELLIPSOID_ROUNDING = 2.0**-50

# [ellipsoid, convex_dual] What counts as definite.

# of a matrix with ones on its diagonal, for each of its rows | none | 900 u a row: see the head of `ellipsoid`
# (X11), (X12)
EIGENVALUE_ERROR = 1e-13

# [concave_directions, forms, grouping] What counts as convex.

# of an eigenvalue: what counts as none | the form's size | thousands of u; a form that is convex but for this is
# bounded by what it is, `block_defect` (X3), (R1)
EIGENVALUE_TOL = 1e-12

# [concave_directions] What is left of a form.

# of a coefficient: what counts as 0 | the greatest one | tens of u; what is left out is part of the loss (XL3), (R1)
RESIDUE = 2.0**-48

# [hyperbolas] Tangents of hyperbolas (X13).

# of the squares' slopes in tangents of cones | relative | far above 2 u, so that their condition holds in rationals; if
# it does not, there is no tangent (X13)
LOST_BY_CONES = 2.0**-40

# [preparation] What comes before the search.

# what rounding makes of the objective's terms at the best point: the absolute tolerance is no smaller | their range |
# 90 u of a sum of terms (R1)
ROUNDING_SHARE = 1e-14
# violations that are errors of the row's terms | relative to these | 90 u; the problem's own formulas check the point
# that is returned (X9), (R1)
EXACT = 1e-14

# [preparation, solve] Tolerances.

# of the tolerance that the search may use | part | what is left covers the rounding of the gap, so that it does not
# exceed the tolerance (R1)
WITHIN = 1 - 1e-6
# the same where functions are steep at the end of their domain | the tolerance | points that are moved there are mostly
# worse by less than a hundredth of it (XF4)
WITHIN_AT_ENDS = 0.98
# the same where a problem stands for another whose objective is off by its loss | part | no proof reaches a tolerance
# below twice the loss: such a solve ends without one (XL3)
LEAST_WITHIN = 0.5

# [problem] Rows in rationals.

# of a row, beyond which rationals decide | relative to what its violations are | far below the violation that counts,
# 1e-8 (X9), (R1)
BLUR = 1e-12

# [proof, directed_proofs] Proofs (V9), (VL3).

# by which certificates must hold | of what is proved | the checker's sums may be in another order: thousands of u (V9),
# (R1)
PROOF_MARGIN = 1e-12
# what a proof of a bound that a limit left may give away | relative to the bound | far above the rounding of the bound,
# which was proved with margins of its own (V9)
GIVEN_AWAY = 1e-9

# [cuts] Bounds by single rows (V9).

# of a row's other terms | relative to their sizes | thousands of u (V9), (R1)
CUT_MARGIN = 1e-12

# [domain_ends] Arguments of functions (XF4).

# of an argument that is made of other functions' values | its terms' magnitudes | 2 u of each value, and u of the sum;
# an estimate, in no bound (XF4)
ARGUMENT_ROUNDING = 2.0**-51
