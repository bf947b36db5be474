"""One covariance matrix: what prices that go with the matrix would leave open, as far as ascents know.

For a precision P of all components, in units of the covariance within clusters, sample i of cluster j (z_i from the
cluster's mean) has the price z_i'P z_i / 2 + t_j - log pi_j, S_j t_j the same for all clusters. What is printed is the
largest K (G(P, m) - S_j t_j) - W D(P) that ascents from random P and m come to, per unit of weight, with G by (P2) and
D(P) = (tr P - d - log det P) / 2; eigenvalues of P within --range. Where that is near 0 such prices would prove as much
for all matrices at once, whatever their number of columns is. Nothing is proved by it.

Usage: python bench/natural_prices.py [--range 0.12 5] [--lift 0.5] [--rows "2000 5 3 7" ...]
           (samples, columns, components, deviations apart)
"""

import argparse

import numpy as np
from everyday_cases import unequal
from scipy.optimize import minimize
from sklearn.mixture import GaussianMixture

ROWS = ["2000 5 3 7", "4000 3 4 6", "4000 3 5 5", "4000 4 3 8", "4000 5 8 8"]
N_STARTS = 30
STEEP = 10.0  # nats for the square of a logarithm beyond the range


def clusters_of(n, d, K, apart):
    """Return samples from their clusters' means (n, d), labels, means (K, d), in units within clusters, and shares."""
    X = unequal(n, d, K, apart, "tied", 1)
    fit = GaussianMixture(K, covariance_type="tied", n_init=5, random_state=0, tol=1e-8, max_iter=500).fit(X)
    label = fit.predict(X)
    means = np.array([X[label == k].mean(axis=0) for k in range(K)])
    Z = X - means[label]
    unit = np.linalg.inv(np.linalg.cholesky(Z.T @ Z / n))
    return Z @ unit.T, label, means @ unit.T, np.bincount(label) / n


def saved(gains):
    """Return what the best column saves, over n, and the column (n,), over n (P2); gains: prices less costs."""
    n = len(gains)
    if np.logaddexp.reduce(gains) <= np.log(n):
        return 0.0, np.zeros(n)
    order = np.sort(gains)[::-1]
    rest = np.exp(np.minimum(order, 700.0))
    rest = np.concatenate([np.cumsum(rest[::-1])[::-1][1:], [0.0]])
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = np.log(np.arange(1, n + 1)) - np.log(np.where(rest < n, n - rest, np.nan))
    fits = (scales + order >= 0) & (scales + np.append(order[1:], -np.inf) < 0)
    scale = scales[np.flatnonzero(fits)[0]]
    tau = np.exp(np.minimum(0.0, gains + scale))
    return np.maximum(0.0, gains + scale).sum() / n, tau / n


def ascents(n, d, K, apart, lift, least, most):
    """Return the largest excess, the eigenvalues of P and the distances of m from the clusters, best first."""
    Z, label, means, shares = clusters_of(n, d, K, apart)
    X = Z + means[label]
    value = lift * shares.max()
    raised = (value / shares - np.log(shares))[label]
    lower, diagonal = np.tril_indices(d), np.diag_indices(d)

    def matrix(point):
        C = np.zeros((d, d))
        C[lower] = point[d:]
        C[diagonal] = np.exp(np.clip(C[diagonal], -20.0, 20.0))
        return C

    def fall(point):
        """Return minus the excess, and its gradient."""
        C, R = matrix(point), X - point[:d]
        P = C @ C.T
        gain, tau = saved(raised + 0.5 * np.square(Z @ C).sum(axis=1) - 0.5 * np.square(R @ C).sum(axis=1))
        divergence = 0.5 * (np.trace(P) - d) - np.log(np.diag(C)).sum()
        values, vectors = np.linalg.eigh(P)
        logs = np.log(np.maximum(values, 1e-300))
        beyond = np.maximum(0.0, logs - np.log(most)) + np.minimum(0.0, logs - np.log(least))
        by_P = 0.5 * K * ((Z * tau[:, None]).T @ Z - (R * tau[:, None]).T @ R)
        by_P -= (vectors * (2 * STEEP * beyond / values)) @ vectors.T
        by_C = 2 * by_P @ C - C + np.diag(1 / np.diag(C))
        by_C[diagonal] *= np.diag(C)
        excess = K * (gain - value) - divergence - STEEP * np.square(beyond).sum()
        return -excess, -np.concatenate([K * (R @ P * tau[:, None]).sum(axis=0), by_C[lower]])

    rng, found = np.random.default_rng(0), []
    for _ in range(N_STARTS):
        Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
        C = np.linalg.cholesky(Q * np.exp(rng.uniform(np.log(least), np.log(most), d)) @ Q.T)
        C[diagonal] = np.log(np.diag(C))
        start = np.concatenate([rng.dirichlet(np.full(K, 0.5)) @ means + 0.7 * rng.standard_normal(d), C[lower]])
        end = minimize(fall, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
        C = matrix(end.x)
        found.append((-end.fun, np.linalg.eigvalsh(C @ C.T), np.sort(np.linalg.norm(means - end.x[:d], axis=1))))
    return sorted(found, key=lambda one: -one[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", nargs="+", default=ROWS)
    parser.add_argument("--lift", type=float, default=0.5)
    parser.add_argument("--range", type=float, nargs=2, default=(0.12, 5.0))
    arguments = parser.parse_args()
    print("| data | excess per sample | eigenvalues of P | distances of m |\n| --- | --- | --- | --- |")
    for row in arguments.rows:
        n, d, K, apart = (float(part) for part in row.split())
        excess, values, distances = ascents(int(n), int(d), int(K), apart, arguments.lift, *arguments.range)[0]
        numbers = [" ".join(f"{x:.3g}" for x in some) for some in (values, distances)]
        name = f"{n:,.0f} x {d:.0f}, K={K:.0f}, {apart:g} apart"
        print(f"| {name} | {excess:.2g} | {numbers[0]} | {numbers[1]} |", flush=True)


if __name__ == "__main__":
    main()
