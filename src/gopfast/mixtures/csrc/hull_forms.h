/* Quadratics in the cosine c of a block's samples with a direction u, and their sums, forms b'u + u'M u: the loops of
   gopfast.mixtures.pricing.hull_cells. */
#ifndef GOPFAST_HULL_FORMS_H
#define GOPFAST_HULL_FORMS_H
#include "hull.h"

/* constant + linear c + square c^2 of every sample. */
typedef struct {
    double constant[HULL_BLOCK], linear[HULL_BLOCK], square[HULL_BLOCK];
} hull_quadratics;

/* What quadratics of masses come to. */
typedef struct {
    double plain;  /* sum of w min(1, exp(t)), */
    double value;  /* of the constants, */
    double curved; /* of those of quadratics that are no constants, */
    double part;   /* and of the other ones below w */
    double size;   /* of the magnitudes of all */
} hull_mass;

/* What quadratics of y > 0 come to. */
typedef struct {
    double plain;  /* sum of w max(0, t), */
    double value;  /* of the constants, */
    double size;   /* and of the magnitudes of all */
} hull_gain;

/* Of a ball, what samples come to whose y is surely above a shift, and all others. */
typedef struct {
    double surely, nearly; /* weights; nearly: of those of y > -shift */
    double value, size;    /* of the bounds, and magnitudes */
} hull_sides;

/* OUT: at least price + the largest line at the squares of the lengths, and `more`; (HULL_BLOCK,). */
void hull_centers(const double *lengths, const double *prices, double more, const hull_lines *lines, double *out);

/* OUT: of y <= t - slope (1 - c) quadratics that are at least w min(1, exp(y)) on [-1, 1]; `plain`: constants. */
void hull_masses(const double *tops, const double *slopes, const double *weights, int plain, hull_quadratics *out,
                 hull_mass *sums);

/* OUT: quadratics that are at least w max(0, y), in p coordinates; 0 where t <= 0. */
void hull_gains(const double *tops, const double *slopes, const double *weights, int p, hull_quadratics *out,
                hull_gain *sums);

/* IN: quadratics of `hull_gains`, and y at most center + reach c', c' the product with a vector of length 1 at most.
   OUT: `within` has what `all` has of samples that are not surely in, `of_v` (HULL_BLOCK,) w reach of those that are. */
void hull_divide(const double *tops, const double *slopes, const double *weights, const double *centers,
                 const double *reaches, const double *sizes, double shift, const hull_quadratics *all,
                 hull_quadratics *restrict within, double *restrict of_v, hull_sides *sums);

/* IN/OUT: adds to forms (p + p (p + 1) / 2, HULL_LANES), b and the lower half of M, row by row, those of a block's unit
   vectors (p, HULL_BLOCK). `square` may be NULL. */
void hull_add_forms(const double *unit, int p, const double *linear, const double *square, double *forms);

/* IN/OUT: adds the sums over lanes of forms (n, HULL_LANES) to out (n,), to `also` unless it is NULL, and sets them 0. */
void hull_collect(double *forms, ptrdiff_t n, double *out, double *also);
#endif
