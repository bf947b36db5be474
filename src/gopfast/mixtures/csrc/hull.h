/* Distances of samples from a box, and what they save at most: the loops of gopfast.mixtures.pricing.hull_cells. */
#ifndef GOPFAST_HULL_H
#define GOPFAST_HULL_H
#include <stddef.h>

/* Samples of a block, which follow each other in memory; and lines of the squared distance, of which the largest
   is what a sample saves at most but for its price; so many partial sums, so that all instruction sets round alike;
   the largest order of matrices whose powers are taken. */
enum { HULL_BLOCK = 32, HULL_LINES = 4, HULL_LANES = 8, HULL_MOST_ACROSS = 65 };

typedef struct {
    double constant[HULL_LINES];
    double slope[HULL_LINES];
} hull_lines;

/* OUT: lines whose largest is at least (d / 2) log s - s x / 2 of every s in [s_low, s_high], at each x >= 0: for the
   ends, and two chords between the distances at which these are best. log_low, log_high: d / 2 times the logarithms;
   d = 0 where s is 1. */
void hull_draw(int d, double s_low, double s_high, double log_low, double log_high, hull_lines *lines);

/* At least the length of b (p,). */
double hull_length(const double *b, int p);

/* At least the largest eigenvalue of a positive semidefinite matrix M of order p, its lower half, row by row. */
double hull_top(const double *M, int p);

/* The same, closer: by a power of M, where p is at most HULL_MOST_ACROSS. */
double hull_top_closely(const double *M, int p);

/* At least b'u + u'M u of every unit vector u. */
double hull_largest(const double *b, const double *M, int p);

/* OUT (n,), n a multiple of HULL_LANES: the same of n blocks, whose ranges in n_rows coordinates are `least` and `most`
   (n_rows, n) and whose largest prices are `prices`, over the box [low, high] (n_rows,). */
void hull_ranges(const double *low, const double *high, int n_rows, const double *least, const double *most,
                 const double *prices, ptrdiff_t n, const hull_lines *lines, double *out);

/* OUT (HULL_BLOCK,): price and the largest line at each sample's squared distance from the box; coordinates
   (n_rows, HULL_BLOCK). */
void hull_tops(const double *low, const double *high, int n_rows, const double *coordinates, const double *prices,
               const hull_lines *lines, double *out);

/* OUT: at least the sums of w max(0, t) and w min(1, exp(t)), t = top + shift, n a multiple of HULL_LANES. */
void hull_sums(const double *tops, const double *weights, ptrdiff_t n, double shift, double *above, double *mass);
#endif
