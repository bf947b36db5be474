/* Distances of samples from a box, and what they save at most: the loops of gopfast.mixtures.pricing.hull_cells. */
#ifndef GOPFAST_HULL_H
#define GOPFAST_HULL_H
#include <stddef.h>

/* Samples of a block, which follow each other in memory; and lines of the squared distance, of which the largest
   is what a sample saves at most but for its price; so many partial sums, so that all instruction sets round alike. */
enum { HULL_BLOCK = 32, HULL_LINES = 4, HULL_LANES = 8 };

typedef struct {
    double constant[HULL_LINES];
    double slope[HULL_LINES];
} hull_lines;

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
