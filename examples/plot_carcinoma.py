"""
Carcinoma: latent classes with proof
====================================

Seven pathologists rated 118 slides (Landis & Koch, 1977). Two latent classes, the best there are, with the statistics
of poLCA: class sizes, item-response table, :math:`G^2` and bivariate residuals.
"""

import matplotlib.pyplot as plt

import gopfast
from gopfast import drawing

table = gopfast.datasets.load_carcinoma(as_frame=True)
problem = gopfast.LatentClass(table, 2)
result = gopfast.solve(problem)
fit = problem.fit_statistics(result)
print(fit)

# %%
# The item-response profile. Bars have patterns, so that they survive black and white.

figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
width = 0.38
for k, (name, size) in enumerate(zip(fit.class_names, fit.class_sizes)):
    chances = [probabilities[k, 1] for probabilities in fit.probabilities]
    places = [j + (k - 0.5) * width for j in range(7)]
    ax.bar(
        places, chances, width, label=f"{name} ({size:.0%})", color=drawing.COLOURS[k], hatch=drawing.HATCHES[k],
        edgecolor="white",
    )  # fmt: skip
ax.set_xticks(range(7), fit.columns)
ax.set_ylim(0.0, 1.3)
ax.set_xlabel("pathologist")
ax.set_ylabel("probability of rating 2")
ax.legend(frameon=False)
