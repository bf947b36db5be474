"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [biconvex] Biconvex problems (V9).

# of a row, beyond which rationals decide | relative to its violations' size | far below the violation that counts, 1e-8
# (V7), (V9)
BLUR = 1e-12

# [families, matrices, regressions, counts] Cells (V3), (J5), (JC4).

# of the few operations that bounds of a cell take | relative | thousands of u (V3), (V7)
WIDER = 1e-12

# [families] Cells of families (V3).

# of a sum of means of labels | none | thousands of u, for thousands of labels (V3), (V7)
LABEL_SLACK = 1e-12

# [priors] What a prior adds (V4).

# of log Gamma | 1 and its value | 900 u, far above that of math.lgamma (V7)
GAMMA_ERROR = 1e-13

# [regressions] The box of all fits (J5).

# a determinant that is less is computed in fractions | times the width of its interval | so that quotients by others
# are wider by a thousandth at most; any number is valid (J5)
CERTAIN_DETERMINANT = 1000.0

# [counts] Regressions of counts (JC4).

# of a row's deviance, and of a mean | u of the sizes of their terms | 16 u each of exponential, logarithm and their
# quotient or sum, some more of products and sums (V7)
COUNT_TERMS = 64

# [hull_bounds, hull_cells, hull_corners] Components in the hull of their means (VH1).

# of an eigenvalue by powers | relative | far above 2 p^1.5 u of p columns (VH2)
EIGENVALUE = 1e-9
# of distances that are compared | of themselves and of the diameter | far above 8 d^1.5 u, the axes' defect and
# (d + 8) u of squares (VH4)
SPARE = 1e-12
# of samples that count as of y = -OUT | of their weight | e^-20 is 2.06e-9, and no scale is above 1 (VH4)
OUT_MASS = 2.1e-9
