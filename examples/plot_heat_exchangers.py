"""
Two heat exchangers: in series, in parallel or between
======================================================

A cold stream of 10 kW/K at 150 K cools two hot ones, from 500 to 250 and from 350 to 200 K. It may be split, pass either
exchanger or both, and be mixed again behind each; a cost is 1300 times an area to the power 0.6. This is problem 5.4.3 of
the Handbook of Test Problems (Floudas et al. 1999); the published optimum is 4845.462. Series in either order are local
optima of such networks (Floudas and Ciric 1989).
"""

from matplotlib import pyplot as plt

import gopfast

problem = gopfast.PolynomialProblem(
    "1300*(1000/(d11*d12/30 + (d11 + d12)/6))^0.6 + 1300*(600/(d21*d22/30 + (d21 + d22)/6))^0.6",
    [
        "f11 + f21 == 10", "f11 + f23 == f12", "f21 + f13 == f22", "f14 + f13 == f12", "f24 + f23 == f22",
        "150*f11 + o2*f23 == i1*f12", "150*f21 + o1*f13 == i2*f22", "f12*(o1 - i1) == 1000", "f22*(o2 - i2) == 600",
        "d11 + o1 == 500", "d12 + i1 == 250", "d21 + o2 == 350", "d22 + i2 == 200",
    ],
    dict.fromkeys(["d11", "d12"], (10, 350)) | dict.fromkeys(["d21", "d22"], (10, 200))
    | {f"f{i}{j}": (0, 10) for i in (1, 2) for j in (1, 2, 3, 4)} | dict.fromkeys(["i1", "i2", "o1", "o2"], (150, 310)),
)  # fmt: skip
result = gopfast.solve(problem, rel_tol=1e-3)
print(result)
print({name: round(value, 2) for name, value in result.solution.items() if name[0] == "f"})

# %%
# Temperatures in both exchangers, against the heat that has been given: areas are small where hot and cold are far apart.

figure, axes = plt.subplots(1, 2, sharey=True)
for number, (ax, (hot_in, hot_out), heat) in enumerate(zip(axes, ((500, 250), (350, 200)), (1000, 600), strict=True), 1):
    cold_in, cold_out = (result.solution[f"{side}{number}"] for side in "io")
    ax.plot([0, heat], [hot_out, hot_in], "r", label="hot")
    ax.plot([0, heat], [cold_in, cold_out], "b", label="cold, proved")
    ax.set(xlabel="heat, kW", title=f"exchanger {number}: {result.solution[f'f{number}2']:.2f} kW/K")
axes[0].set_ylabel("temperature, K")
axes[0].legend()
