"""
Seizures before and after treatment
===================================

A patient's seizures were counted on 140 days, some hours a day, before and under a treatment (Wang, Puterman, Cockburn
& Le, 1996, as the R package flexmix has it). Counts spread more than one Poisson regression allows; with two there are
good days and bad ones, each with an effect of treatment. The best two are proved, where flexmix restarts EM.
"""

import matplotlib.pyplot as plt
import numpy as np

import gopfast
from gopfast import drawing

seizures, hours, treated, day = gopfast.datasets.load("seizure").T
TIME_LIMIT = 25.0  # in the tests: 1.0
fits = [
    gopfast.solve(
        gopfast.RegressionMixture(treated, seizures, K, family="poisson", offset=np.log(hours)), time_limit=TIME_LIMIT
    ) for K in (1, 2)
]  # fmt: skip
for fit in fits:
    print(f"K={len(fit.solution.weights)}: {fit.status.name}, BIC {fit.bic:.1f}, at least {fit.lower_bound:.3f} nats")
solution = fits[1].solution
before = np.exp(solution.intercepts)
under = np.exp(solution.intercepts + solution.coefficients[:, 0])
for k, weight in enumerate(solution.weights):
    print(f"{weight:.0%} of the days: {before[k]:.2f} seizures an hour before, {under[k]:.2f} under treatment")

# %%
# Each day by its more probable component; lines are the components' rates.

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
own = fits[1].predict()
start = day[treated > 0].min() - 0.5
for k, mark in enumerate("o^"):
    ax.scatter(day[own == k], (seizures / hours)[own == k], s=16, marker=mark, color=drawing.COLOURS[k])
    ax.plot([0, start], [before[k]] * 2, color=drawing.COLOURS[k])
    ax.plot([start, 140], [under[k]] * 2, color=drawing.COLOURS[k], label=f"component {k}: {solution.weights[k]:.0%}")
ax.axvline(start, color="0.6", linewidth=0.8, linestyle=":")
ax.text(start + 1, ax.get_ylim()[1] * 0.93, "treatment begins")
ax.set(xlabel="day", ylabel="seizures an hour")
ax.legend(frameon=False)
