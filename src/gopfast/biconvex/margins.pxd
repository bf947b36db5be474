"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [convex_programs] Convex programs of one side.

    # entries of a ray that are errors of the factorisation | the greatest entry | 9e4 u; it decides what is tried: a
    # ray is checked in rationals before it counts (X11)
    real RAY_ROUNDING "1e-11"
    # of sums of a few terms along a ray | relative to their sizes | 90 u of a few terms; a ray is checked in rationals
    # before it counts (X11), (R1)
    real RAY_SUM_ROUNDING "1e-14"

    # [convex_programs, settling] Points that count.

    # a coefficient this small beside its terms is the rounding of their sum | the terms' size | 900 u of a few terms;
    # it decides where a local search goes, and a point counts with its value (X9), (R1)
    real CANCELLED "1e-13"

    # [settling] Newton's steps until the user's rows hold (X9).

    # violations that are errors of the row's terms | relative to these | 90 u; the problem's own formulas check the
    # point that is returned (X9), (R1)
    real SETTLED "1e-14"

    # [bilinear_branching] Where a box is divided.

    # of a product of widths | factor | far above some u, for rows that prove nothing: every box is bounded by a program
    # of its own (X6), (R1)
    real PRODUCT_ROUNDING "(1 + 1e-9)"

    # [bilinear_rows] The program of a node.

    # of a sum of squares | factor | N u of N terms of one sign, for N up to 9,000 (R1), (X3)
    real SUM_ROUNDING "(1 + 1e-12)"

    # [atoms, data] Values of univariate functions, and what is made of them (XF1).

    # of exp, log, pow of the C library and a few operations on them | relative | 9 u; the library's functions are
    # within an ulp, 2 u, on the platforms that are built for, and four operations follow at most (XF1), (R1)
    real FUNCTION_ROUNDING "1e-15"

    # [data, atoms] Propagation through rows (X7).

    # of any product that underflows, absolute | none | far above what products of tiny numbers lose, some 5e-324 (X7),
    # (R2)
    real UNDERFLOW "1e-300"
    # sum of sizes, and results of functions, below which terms may have underflowed | none | errors of products above
    # 2^-969, 2e-292, are doubles (X7), (R2)
    real TINY "1e-280"
    # of a row's terms, beyond which its value is not precise enough | relative to what its violations are | a hundredth
    # of the violation that counts, 1e-8; with more, rationals decide (X9), (R1)
    real IMPRECISE "1e-10"
