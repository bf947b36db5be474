"""Plans of mechanisms, of problems as they are."""

from gopfast.mixtures.primal.em import MixturePrimal

from gopfast.mixtures import engine
from gopfast.mixtures.plan import MixturePlan
from gopfast.options import Options


def plan_of(problem, primal=None, **options):
    """The mechanisms at work in a search of a problem with these options of `gopfast.solve`, and a primal."""
    family = engine.family(problem)
    plan = MixturePlan(problem, family, Options.from_arguments(**options))
    plan.primal = MixturePrimal(family) if primal is None else primal
    return plan
