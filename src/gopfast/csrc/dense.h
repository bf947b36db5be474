/* Small dense linear algebra for the Newton systems of a node. Row-major, order n up to a few dozen. */
#ifndef GOPFAST_DENSE_H
#define GOPFAST_DENSE_H

/* Lower Cholesky factor in place (only the lower triangle is read and written). A pivot that
   rounding has made non-positive is replaced by a huge one: that direction is then not moved.
   Returns the number of replaced pivots. */
int dense_factor(int n, double *a);

/* Solves L L' x = b in place. */
void dense_solve(int n, const double *factor, double *b);

/* Solves L y = b in place. */
void dense_forward(int n, const double *factor, double *b);

/* Solves L' x = y in place. */
void dense_backward(int n, const double *factor, double *b);
#endif
