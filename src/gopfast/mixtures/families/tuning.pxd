"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef enum:
    # [matrix, matrices, tied] Facets of entries.

    # up to which boxes of entries are worth facets; the size of rounding errors of eigenvalues is counted out up to so
    # many | columns | [2, 32] | not measured
    FEW_COLUMNS = 6

cdef extern from *:
    # [exponential] Counts, waiting times and labels.

    # at which probabilities and rates of 0 are evaluated | none | (0, 1e-200] | argument: no other parameter gives the
    # samples concerned a density so small
    real LEAST_PROBABILITY "1e-280"
    # share below which there is none | none | (0, 1e-200] | argument: above what the kernel's least term leaves of 0,
    # e^-600
    real NOTHING "1e-250"
    # at which the root box ends where means have no upper bound (T = 0 and S = 0 with a prior moment alone); cells that
    # reach its end are endless | prior moments per unit of mass | [1e3, 1e100] | argument: an endless cell bounds all
    # means beyond
    real FARTHEST "1e12"
    # over the columns when a cell is fitted to the samples' average; later ones hardly gain | sweeps | [0, inf) |
    # not measured
    int EXPONENTIAL_SWEEPS "3"
    # into which logarithms of the user's means are drawn, or into the root cell: means of 0 and infinity have none |
    # nats | (0, 690] | argument: exponentials of it are normal numbers
    real FARTHEST_LOG "600.0"

    # [full] Matrices of two columns, by factors.

    # added to the variance that slopes are divided by | floor of the first coordinate | (0, inf) | not measured
    real RIDGE "0.1"
    # what a residual's error is worth: while slopes are wide, a minorant cannot use the residual's range | factor |
    # (0, 1] | not measured
    real SPLIT_RESIDUAL "0.3"
    # to which cells are widened where slopes between corners are taken | relative, or part of the floor | (0, 1) |
    # argument: a wider cell holds the narrower one (M3)
    real LEAST_WIDTH "1e-6"
    # stands for 0 in a divisor | none | (0, 1e-100] | argument: it decides where to split alone
    real SMALLEST_RANGE "1e-300"
    # errors of the variables do not tell where to split once the minorant loses so many times their sum | factor |
    # (0, inf) | not measured
    real UNTOLD "2.0"
    # of a factor's typical multiplier times the range of its facet, at least | nats per unit of mass | (0, inf) |
    # not measured
    real LEAST_LOSS "1e-4"
    # the same, at most | nats per unit of mass | (0, inf) | not measured
    real MOST_LOSS "0.1"

    # [matrices] Matrices of three columns and more.

    # over the coordinates when a box is fitted to the samples' average; later ones hardly gain | sweeps | [0, inf) |
    # not measured
    int MATRICES_SWEEPS "2"

    # [tied] One matrix for all components.

    # over the coordinates when a box is fitted to the samples' average; later ones hardly gain | sweeps | [0, inf) |
    # not measured
    int TIED_SWEEPS "2"

    # [matrix] The cost of a covariance matrix in a box of entries.

    # of Jacobi's method | sweeps | [1, inf) | argument: what is left counts as an error
    int MATRIX_SWEEPS "16"
    # squares beside the diagonal at which it ends | of those on the diagonal | (0, 1e-20] | argument: what is left
    # counts as an error
    real CONVERGED "1e-36"
    # from which (-log(1 - q) - q) / q^2 is computed as it stands; below, where it cancels, from its power series |
    # none | (1e-4, 0.1) | argument: either is accurate there
    real SMALL_RADIUS "0.01"
    # from which the tangent's loss is not bounded by M = (1 - t q) C0: it goes to infinity at 1 | none | (0, 1) |
    # not measured
    real MOST_RADIUS "0.9"
    # width of entries above which slopes between vertices are taken along them | relative | (0, 1) | argument: any
    # slopes give a minorant (M5)
    real MATRIX_NARROW "1e-12"
    # of what the second derivatives of G say, the least that a minorant is taken to lose where it is split, since G may
    # lie below it where C is no covariance | part | [0, 1] | not measured
    real GAP_SHARE "0.25"
    # the same, at most | nats per unit of mass | (0, inf) | not measured
    real MOST_GAP "1.0"

    # [shape] Gamma components.

    # from which Stirling's series are taken, for log Gamma and its derivatives | shape | [8, inf) | argument: five
    # terms then leave 1e-15 of the first
    real FROM_STIRLING "16.0"
    # of Newton's method for a shape, which starts within 2 percent | steps | [4, inf) | argument: digits double
    int NEWTON_STEPS "12"

    # [gamma] Cells of Gamma components.

    # half width below which ranges have no facets: next to a point the logarithm is linear in its argument, so that
    # multipliers of facets of both would have no end | relative | [1e-10, 1e-2] | docs/notebook/gamma.md
    real THIN "1e-8"

    # [normal, regression, gamma] Free variances.

    # of the half width on both sides of the middle, where tangents are taken | part | (0, 1] | not measured
    real TANGENT_AT "0.5"
    # of its cap that a multiplier of the second minorant typically is | part | (0, 1) | not measured
    real TYPICAL_SHARE_OF_CAP "0.3"
    # the second minorant is left out where the mean's range matters less beside the variance's | relative | (0, 1) |
    # argument: leaving out a facet only loosens the bound
    real NORMAL_NARROW "1e-6"

    # [family, affine, balance, exponential, full, gamma, gaussian, matrices, matrix, normal, regression, tied] All.

    # of the largest multiplier of a facet that the minorant's slopes can ask for, where the interior-point method
    # starts | part | (0, 1) | argument: chosen by counts of data passes, which are not recorded
    real TYPICAL_MULTIPLIER "0.2"
    # of the half width times the mass, its slack there | part | (0, 1] | argument: chosen by counts of data passes,
    # which are not recorded
    real TYPICAL_SLACK "0.1"
    # below which no multiplier starts: at 0 an interior-point method does not move | of its natural unit | (0, 1) |
    # not measured
    real LEAST_MULTIPLIER "1e-9"

    # [variance] Where a range is split.

    # of the way from the solution's split point of a mean or entry towards the middle of the cell | part | [0, 1] |
    # argument: counts of nodes, as bench/parameters.py makes them of `gaussian`; not recorded
    real SPLIT_PULL "0.3"
    # at most so far | standard deviations of the component | [0, inf) | argument: counts of nodes, not recorded
    real SPLIT_PULL_MOST "1.0"
    # not at all in wider cells, where a mean sits on a cluster | standard deviations of the component | (0, inf) |
    # argument: counts of nodes, not recorded
    real SPLIT_WIDE "16.0"
    # of a range that is split, that both its parts have at least | part | (0, 0.5) | not measured
    real SPLIT_INSIDE "0.3"

    # [variance, matrix, full] What a mean's range costs.

    # of the exact cost's curvature, with which it is reckoned at least: a minorant of the whole cell may be flat where
    # its parts will not be | part | [0, 1] | not measured
    real LEAST_CURVATURE "0.2"

    # [matrix, matrices, tied] Facets of entries.

    # half width that the typical slack of an entry's facets is of, at least | squared units of the floor | (0, 1) |
    # argument: where the method starts alone
    real LEAST_SPAN "1e-12"

    # [regression] Regressions.

    # of a cell's strip, up to which the minorant and its facets may bound it better than samples one by one | its
    # square, least variances | (0, inf) | docs/notebook/regressions.md
    real FINE "30.0"

    # beside the variance's range, of what the box matters, below which the second minorant is left out | part |
    # (0, 1) | not measured
    real REGRESSION_NARROW "1e-6"
    # what rounding of squares may cost a sample before minorants are made flatter | nats | (0, inf) |
    # docs/notebook/regressions.md
    real MOST_ROUNDING "1e-3"
    # what the minorant of one component's wide box may lie below the cost of its least variance: flatter ones bound it
    # better; mixtures do without | nats | (0, inf) | docs/notebook/regressions.md
    real MOST_LOST "4.0"

    # [counts, regression] Regressions of all kinds.

    # what a box loses of a sample counts less and less from here on: the sample is another component's | nats |
    # (0, inf) | docs/notebook/regressions.md
    real SATURATED "9.0"
    # weights of all samples in a component's fit: it is a fit of positive weights even where its own leave coefficients
    # open | of its mass | (0, 1) | argument: any positive weights do (J1)
    real REGRESSION_RIDGE "1e-12"
    # least size of a sample's terms: what rounding moves a residual by divides | none | (0, 1e-50] | argument: its
    # square is a normal number
    real LEAST_SIZE "1e-100"
    # at least, that parts of a wide box lie from the fit | deviations | (0, inf) | not measured
    real WIDE "16.0"

    # [counts] Regressions of counts.

    # of a cell's strip, up to which its tangents may bound it better than samples one by one | its square times the
    # precision of a count, at most 1 | (0, inf) | not measured
    real COUNT_FINE "4.0"
    # of the cost of a sample, or of minus it, in a cell | nats | [1e3, 1e300] | argument: no exponential of it differs
    # from 0, or from infinity
    real FARTHEST_COST "1e30"
    # about a deviation of a linear predictor at a place, where wide boxes are split | none | (0, inf) | not measured
    real COUNT_UNIT "0.3"
    # of a linear predictor's exponential: those above are taken to be this, or to bound nothing | none | (0, 700] |
    # argument: their products are finite
    real LARGEST_PREDICTOR "690.0"
    # of Newton's method for a fit | steps | [1, inf) | argument: each halves what is missing far from the optimum
    int COUNT_STEPS "50"
    # of a step | halvings | [1, 1000] | argument: from then on a step is rounding
    int COUNT_HALVINGS "40"
    # of what the quadratic model promises, that a step must gain | part | (0, 0.5) | argument: Armijo's rule
    real COUNT_ARMIJO "1e-4"
    # what a step must promise to be taken | nats per unit of mass | (0, 1) | argument: below what rounding costs
    real COUNT_SOLVED "1e-13"

    # [chain] Chains of regressions.

    # of all samples' mean squares, added to those of a component: its fit is one even where its own samples leave
    # slopes open | part | (0, 1) | argument: only ascents and EM see it
    real CHAIN_RIDGE "1e-10"
    # turns of a fit on the border of the domain | turns | [1, inf) | argument: only ascents and EM see it
    int FIT_TURNS "12"

    # [regression, chain, counts] Fits.

    # of a component that has a fit: less may be what the kernel's least term leaves of far samples | mass |
    # (0, 1e-200] | argument: above e^-600 of a million samples
    real NO_MASS "1e-250"
