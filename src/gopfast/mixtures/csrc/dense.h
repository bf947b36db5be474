/* Small dense linear algebra for the Newton systems of a node. Row-major, order n up to a few dozen.
   Loops run along rows, so that they vectorise without changing the order of any sum. */
#ifndef GOPFAST_DENSE_H
#define GOPFAST_DENSE_H

/* Cholesky factor A = U' U in place (only the upper triangle is read and written). A pivot that
   rounding has made non-positive is replaced by HUGE_PIVOT: that direction is then not moved.
   Returns the number of replaced pivots. */
int dense_factor(int n, double *a);

/* Solves U' Y = B in place for q right-hand sides, the columns of B (n, q). */
void dense_forward(int n, const double *factor, int q, double *b);

/* Solves U x = y in place. */
void dense_backward(int n, const double *factor, double *b);

/* Upper triangle of C (q, q) += B' B, B (n, q). */
void dense_gram(int n, int q, const double *b, double *c);

/* y (q) += scale * B' x, B (n, q); and y (n) += B x. */
void dense_transposed_times(int n, int q, const double *b, double scale, const double *x, double *y);
void dense_times(int n, int q, const double *b, const double *x, double *y);
#endif
