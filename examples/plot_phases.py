"""
Phase equilibrium: does a liquid split?
=======================================

A liquid is stable if no composition lies below the plane that touches its Gibbs energy (Baker, Pierce and Luks 1982).
The least distance from that plane has several local minima; McDonald and Floudas (1995) find the global one by GOP.
Here it is n-butyl acetate and water with the NRTL model of their excess energy, in ex6.1.2 of the test problems of
Floudas et al. (1999), whose published optimum is -0.0325.
"""

import numpy as np
from matplotlib import pyplot as plt

import gopfast

ENERGIES, RATES = (0.925356626778358, 0.746014540096753), (0.307941026821595, 0.159040857374844)
EXCESS = f"x*y*({ENERGIES[0]}/({RATES[0]}*x + y) + {ENERGIES[1]}/(x + {RATES[1]}*y))"


def least_distance(slopes):
    """The least distance of the energy of mixing, over RT, from a plane a x + b y."""
    text = f"x*log(x) + y*log(y) + {EXCESS} - ({slopes[0]:.17g})*x - ({slopes[1]:.17g})*y"
    return gopfast.solve(gopfast.PolynomialProblem(text, ["x + y == 1"], dict.fromkeys("xy", (0, 1))))


result = least_distance((-0.06391, 0.02875))
print(result)

# %%
# Below 0: the liquid whose plane that is splits. Planes through points that lie below the last one end at one that
# touches twice, which the search proves to have nothing below it: the two phases.


def energy(x):
    y = 1 - x
    excess = x * y * (ENERGIES[0] / (RATES[0] * x + y) + ENERGIES[1] / (x + RATES[1] * y))
    return x * np.log(x) + y * np.log(y) + excess


phases = [0.7, 0.005]
for _ in range(20):
    a, b = (energy(x) for x in phases)
    slope = (a - b) / (phases[0] - phases[1])
    plane = (a + slope * (1 - phases[0]), a - slope * phases[0])
    found = least_distance(plane)
    if found.objective > -1e-7:
        break
    x = found.solution["x"]
    phases[int(abs(x - phases[0]) > abs(x - phases[1]))] = x
print(f"shares of {phases[0]:.4f} and {phases[1]:.4f}; nothing lies more than {-found.bound:.0e} below their plane")

x = np.linspace(1e-6, 1 - 1e-6, 1000)
figure, ax = plt.subplots()
ax.plot(x, energy(x), label="energy of mixing, over RT")
ax.plot([0, 1], [plane[1], plane[0]], "--", label="plane that touches twice")
ax.plot(phases, energy(np.array(phases)), "o", label="phases, proved")
ax.set(xlabel="share of n-butyl acetate", title="n-butyl acetate and water")
ax.legend()
