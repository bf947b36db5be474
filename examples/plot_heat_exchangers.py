"""
Two heat exchangers: in series, in parallel or between
======================================================

A cold stream of 10 kW/K at 150 K cools two hot ones, one from 500 to 250 and one from 350 to 200 K. It may be split,
pass either exchanger or both, and be mixed again behind each; an exchanger costs 1300 times its area to the power 0.6.
This is problem 5.4.3 of the Handbook of Test Problems (Floudas et al. 1999); the published optimum is 4845.462.
"""

import numpy as np
from matplotlib import pyplot as plt

import gopfast


def network(*rows):
    """Flows f, temperatures i and o of the cold stream at both ends of exchangers, differences d to the hot ones."""
    return gopfast.PolynomialProblem(
        "1300*(1000/(d11*d12/30 + (d11 + d12)/6))^0.6 + 1300*(600/(d21*d22/30 + (d21 + d22)/6))^0.6",
        [
            "f11 + f21 == 10", "f11 + f23 == f12", "f21 + f13 == f22", "f14 + f13 == f12", "f24 + f23 == f22",
            "150*f11 + o2*f23 == i1*f12", "150*f21 + o1*f13 == i2*f22", "f12*(o1 - i1) == 1000",
            "f22*(o2 - i2) == 600", "d11 + o1 == 500", "d12 + i1 == 250", "d21 + o2 == 350", "d22 + i2 == 200", *rows,
        ],
        dict.fromkeys(["d11", "d12"], (10, 350)) | dict.fromkeys(["d21", "d22"], (10, 200))
        | dict.fromkeys(["i1", "i2", "o1", "o2"], (150, 310))
        | {f"f{i}{j}": (0, 10) for i in (1, 2) for j in (1, 2, 3, 4)},
    )  # fmt: skip


best = network()
result = gopfast.solve(best, rel_tol=1e-3, proof=True)
print(result)
print(gopfast.check(result.proof, best))

# %%
# All of the stream passes the second exchanger and then the first. The less of it goes there first, the more a network
# costs, but for those near the fewest that can be, where there is another local optimum. What is left out has none.
# All of it is proved, the costs to one part in a hundred.

N_SHARES = 17  # in the tests: 3
shares = np.linspace(0, 1, N_SHARES)
found = [gopfast.solve(network(f"f21 == {10 * share}"), rel_tol=1e-2) for share in shares]
costs = [own.objective if own.success else np.nan for own in found]
print([f"{share:.2f}" for share, own in zip(shares, found, strict=True) if own.status.name == "INFEASIBLE"])

figure, ax = plt.subplots()
ax.plot(shares, costs, "o-", label="least cost, proved")
ax.axhline(4845.462, color="k", linestyle="--", label="published optimum")
ax.set(xlabel="part of the cold stream that enters the second exchanger first", ylabel="cost")
ax.set_title("Two heat exchangers")
ax.legend()
