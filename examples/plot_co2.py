"""
Wealth and carbon dioxide
=========================

Gross national product and emission of carbon dioxide, both per head, of 28 countries in 1996 (Hurn, Justel & Robert,
2003; the R package mixtools has them). In some countries emission grows with wealth, in the others it does not. Three
runs of EM in four end at another pair of lines; the best pair is proved.
"""

import matplotlib.pyplot as plt
import numpy as np

import gopfast
from gopfast import drawing, plot

product, emission = gopfast.datasets.load("co2data").T
COUNTRIES = (
    "Canada, Mexico, United States, Japan, Korea, Australia, New Zealand, Austria, Belgium, Czechia, Denmark, Finland, "
    "France, Germany, Greece, Hungary, Ireland, Italy, Netherlands, Norway, Poland, Portugal, Spain, Sweden, "
    "Switzerland, Turkey, United Kingdom, Russia"
).split(", ")
TIME_LIMIT = 20.0  # in the tests: 1.0
N_RUNS = 200  # in the tests: 5
problem = gopfast.RegressionMixture(product, emission, 2)
result = gopfast.solve(problem, time_limit=TIME_LIMIT)
print(result)
ends = [gopfast.local.em(problem, random_state=seed).objective for seed in range(N_RUNS)]
print(f"{np.mean(np.array(ends) <= result.objective + 0.01):.0%} of the runs of EM reach the optimum")

# %%
# Left the proved lines, with the names of the countries whose emission follows wealth; right where the runs end.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
result.plot("density", ax=left)
left.set(xlabel="gross national product per head (1000 dollars)", ylabel="carbon dioxide per head (tonnes)")
slopes = result.solution.coefficients[:, 0]
rising = np.argmax(slopes)
for i in np.flatnonzero(result.predict() == rising):
    above = emission[i] > 0.1 + result.solution.intercepts[rising] + slopes[rising] * product[i]
    left.annotate(COUNTRIES[i], (product[i], emission[i]), (-5 if above else 5, 0), textcoords="offset points",
                  ha="right" if above else "left", va="center", fontsize=8, color=drawing.COLOURS[rising])  # fmt: skip
plot.local_optima({"EM": ends}, result, ax=right)
