#include "dense.h"

#include <math.h>

int dense_factor(int n, double *a)
{
    int replaced = 0;
    for (int i = 0; i < n; i++) {
        double *row = a + (long)i * n;
        const double diagonal = row[i];
        for (int j = 0; j < i; j++) {
            const double *other = a + (long)j * n;
            double s = row[j];
            for (int k = 0; k < j; k++) s -= row[k] * other[k];
            row[j] = s / other[j];
        }
        double s = diagonal;
        for (int k = 0; k < i; k++) s -= row[k] * row[k];
        if (!(s > 1e-14 * diagonal)) {
            s = 1e128;
            replaced++;
        }
        row[i] = sqrt(s);
    }
    return replaced;
}

void dense_forward(int n, const double *factor, double *b)
{
    for (int i = 0; i < n; i++) {
        const double *row = factor + (long)i * n;
        double s = b[i];
        for (int k = 0; k < i; k++) s -= row[k] * b[k];
        b[i] = s / row[i];
    }
}

void dense_backward(int n, const double *factor, double *b)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *row = factor + (long)i * n;
        const double x = b[i] / row[i];
        b[i] = x;
        for (int k = 0; k < i; k++) b[k] -= row[k] * x;
    }
}

void dense_solve(int n, const double *factor, double *b)
{
    dense_forward(n, factor, b);
    dense_backward(n, factor, b);
}
