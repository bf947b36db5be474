"""Small dense linear algebra for Newton systems, see csrc/dense.h; modules that call it are named in setup.py."""

cdef extern from "dense.h" nogil:
    # IN/OUT a (n, n): the upper triangle of A becomes U, A = U'U; returns how many pivots were not positive.
    int dense_factor(int n, double *a)
    # IN/OUT b (n, q): solves U'Y = B. IN/OUT b (n,): solves U x = b.
    void dense_forward(int n, const double *factor, int q, double *b)
    void dense_backward(int n, const double *factor, double *b)
    # IN/OUT c (q, q), its upper triangle: adds B'B, b (n, q).
    void dense_gram(int n, int q, const double *b, double *c)
    # IN/OUT y: adds scale * B'x (q,); adds B x (n,).
    void dense_transposed_times(int n, int q, const double *b, double scale, const double *x, double *y)
    void dense_times(int n, int q, const double *b, const double *x, double *y)


# OUT out (n, n): the inverse of the matrix that dense_factor has factored.
cdef inline void dense_inverse(int n, const double *factor, double *out) noexcept nogil:
    cdef int i, j
    for i in range(n):
        for j in range(n):
            out[i * n + j] = 1 if i == j else 0
        dense_forward(n, factor, 1, out + i * n)
        dense_backward(n, factor, out + i * n)
