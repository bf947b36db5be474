/* Quadratics in the cosine c of a block's samples with a direction u, and their sums, forms b'u + u'M u: the loops of
   gopfast.mixtures.pricing.hull_cells, hull_shells and hull_distances. */
#ifndef GOPFAST_HULL_FORMS_H
#define GOPFAST_HULL_FORMS_H
#include "hull.h"

/* constant + linear c + square c^2 of every sample. */
typedef struct {
    double constant[HULL_BLOCK], linear[HULL_BLOCK], square[HULL_BLOCK];
} hull_quadratics;

/* What quadratics of y > 0 come to. */
typedef struct {
    double plain;  /* sum of w max(0, t), */
    double value;  /* of the constants, */
    double size;   /* and of the magnitudes of all */
} hull_gain;

/* What quadratics of masses come to. */
typedef struct {
    double value;  /* sum of the constants, */
    double size;   /* and of the magnitudes of all */
} hull_mass;

/* A shell around a component: the root of its precision, by which lengths are to be multiplied; distances so multiplied,
   and half of what their squares are above the least. */
typedef struct {
    double root, least, most, further;
} hull_radii;

/* What the samples of a shell come to. */
typedef struct {
    double surely; /* weight of those that have y >= 0 all over the shell; */
    double value;  /* constants of all, */
    double size;   /* and magnitudes; */
    double bent;   /* of the others the least slopes of gains by y, */
    double mass;   /* sum of w min(1, exp(A)), */
    double amount; /* magnitudes, */
    double more;   /* and by how much the masses may be more, but for `rise` and `bend`, */
    double less;   /* or less, but for `fall` and `sag`; */
    double well;   /* weight of those with y >= shift all over the shell; */
    double often;  /* of others that have it but for c of a large magnitude, */
    double seldom; /* and constants of what of these has less at most */
} hull_shell_sums;

/* Factors of c and of c^2 of every sample. */
typedef struct {
    double linear[HULL_BLOCK], square[HULL_BLOCK];  /* in what it gains, */
    double rise[HULL_BLOCK], fall[HULL_BLOCK];      /* in its mass, from above and from below, */
    double bend[HULL_BLOCK], sag[HULL_BLOCK];       /* and what these bend by; */
    double missed[HULL_BLOCK], missed_square[HULL_BLOCK];   /* in what of its weight has y < shift at most */
    double bent, sunk;                              /* sums of `bend` and of `sag` */
} hull_shell_forms;

/* OUT: quadratics that are at least w max(0, y), in p coordinates; 0 where t <= 0. */
void hull_gains(const double *tops, const double *slopes, const double *weights, int p, hull_quadratics *out,
                hull_gain *sums);

/* OUT: quadratics that are at least w min(1, exp(y)), y at most top - slope (1 - c), c in [-1, 1], in p coordinates. */
void hull_masses(const double *tops, const double *slopes, const double *weights, int p, hull_quadratics *out,
                 hull_mass *sums);

/* OUT: of y = A - (|m|^2 - least^2) / 2 + most |z| c, c in [-1, 1], quadratics that are at least w y of samples with
   y >= 0 all over the shell, and of all others at least w (max(0, y) + min(1, exp(y))), and such as their masses
   w min(1, exp(y)) are between; and quadratics that are at least w where y < shift, of some of those that have
   y >= shift for most c; p coordinates. */
void hull_shell(const double *lengths, const double *prices, const double *weights, int p, const hull_radii *radii,
                double log_scale, double shift, hull_shell_forms *out, hull_shell_sums *sums);

/* IN/OUT: adds to forms (p + p (p + 1) / 2, HULL_LANES), b and the lower half of M, row by row, those of a block's unit
   vectors (p, HULL_BLOCK). `square` may be NULL. */
void hull_add_forms(const double *unit, int p, const double *linear, const double *square, double *forms);

/* IN/OUT: adds to forms (p + p (p + 1) / 2,) the multiples linear b and square M of a bin's sums. */
void hull_add_bin(const double *b, const double *M, int p, double linear, double square, double *restrict forms);

/* IN/OUT: adds the sums over lanes of forms (n, HULL_LANES) to out (n,), and sets them 0. */
void hull_collect(double *forms, ptrdiff_t n, double *out);
#endif
