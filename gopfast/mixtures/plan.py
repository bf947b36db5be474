"""Which mechanisms are at work in the search of a mixture, and what they are made of."""

from functools import cached_property

from gopfast.errors import InputError
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.learning.handover import HandoverReduction
from gopfast.mixtures.mechanisms import (
    ASKED_FROM,
    BOXES,
    EARLY,
    FLOORS,
    LEARNERS,
    MOST_PRICED,
    NODES_OF_A_BATCH,
    REDUCED_FROM,
    ChainsOfRegressions,
    HittingSets,
    LocalSearch,
    Marginal,
    Moves,
    Perturbation,
    PriceLevels,
    Pricing,
    RelaxedDual,
    SharedParameters,
    has_exact_lines,
    has_groups,
    is_few,
    priced_families,
)
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.tuning import MOST_SLICED, MOST_SLICED_EXACTLY
from gopfast.search.mechanism import Plan
from gopfast.search.search import Search
from gopfast.tuning import EPSILON


class MixturePlan(Plan):
    """
    The mechanisms of one search of a mixture; attributes are what they ask whether they apply.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
        The core's copy of it, for a proof the provable one.
    options : Options
        Its relaxation, branching, partition, subproblem and the mechanisms that are switched off.
    cells : object or None
        For a proof: what cells of one component are told to.
    begun : callable (str)
        Told what begins beside the tree.
    epsilon : float
        Of the whole search.
    threads : int
    hasty : bool
        Whether a bound is wanted soon rather than good.
    blocks : BlockRecords or None
        For a proof: what keeps the cells of blocks of columns.
    rounds : bool
        Whether solutions are looked for among what prices are found with.
    """

    def __init__(self, problem, family, options, cells=None, begun=lambda what: None, epsilon=EPSILON, threads=1,
                 hasty=False, rounds=True, blocks=None):  # fmt: skip
        super().__init__(options.without, cells is not None)
        self.problem, self.family, self.options, self.cells, self.begun = problem, family, options, cells, begun
        self.epsilon, self.threads, self.hasty, self.rounds, self.blocks = epsilon, threads, hasty, rounds, blocks
        self.relaxation, self.primal = options.relaxation, None
        self.is_bisected = options.branching in (None, "bisect")

    # What mechanisms ask

    @cached_property
    def is_summary(self):
        """Whether the data stand for samples that are not at hand."""
        return self.family.data.is_summary

    @cached_property
    def wants_prices(self):
        """Whether prices were asked for, or may begin unasked."""
        if self.is_summary:
            return False  # they are of samples
        return self.relaxation == "pricing" or (self.relaxation is None and self.problem.n_components > 1)

    @cached_property
    def priced(self):
        """The families of one component that prices are of, see `mechanisms.priced_families`."""
        if not self.wants_prices or (self.cells is not None and not (is_few(self) and self.cells.has_entry)):
            return []
        return priced_families(self)

    @cached_property
    def slices(self):
        """What a shared parameter can be fixed in; None where there is none, or hitting sets come first."""
        if not self.wants_prices or self.priced or self.cells is not None or self.has(HittingSets):
            return None
        most = MOST_SLICED_EXACTLY if has_exact_lines(self.family) else MOST_SLICED
        is_many = self.family.data.n_samples > most
        return None if is_many and not has_groups(self) else self.family.slices()

    # What a search is made of

    def relaxed(self):
        """Return the relaxation."""
        return RelaxedDual.make(self)

    def take_primal(self, make, **options):
        """Return the primal, made by `make(**options)`, with what is at work in it."""
        if not self.has(Moves):
            options["thorough"] = False
        if not self.has(Perturbation):
            options["perturbed"] = False
        self.primal = primal = make(**options)
        primal.meter = self.meter(LocalSearch)
        if self.has(Moves):
            primal.moving = self.meter(Moves)
        if self.has(Perturbation):
            primal.perturbing = self.meter(Perturbation)
        return primal

    def box(self):
        """Return the Basin around the incumbent, or None."""
        return next((one.make(self) for one in BOXES if self.has(one)), None)

    def reduction(self):
        """
        Return what is learnt beside the tree, or None, and the nodes from which on.

        Hitting sets or all early learners that apply, one after the other, then the first of the others that does.

        Raises
        ------
        InputError
            Where prices were asked for and none apply, but for those that are switched off.
        """
        first = HittingSets.make(self) if self.has(HittingSets) else None
        if first is not None and self.relaxation == "entropic":
            return first, HittingSets.begin(self)
        learner = next((one for one in LEARNERS if self.has(one)), None)
        is_off = any(one.name in self.without for one in (Pricing, PriceLevels, SharedParameters))
        if self.relaxation == "pricing" and learner in (None, ChainsOfRegressions, Marginal) and not is_off:
            raise InputError(self._why_no_prices())
        early = sorted([one for one in EARLY if self.has(one)], key=lambda one: not one.comes_first(self))
        if early:
            found = [one.make(self) for one in (*early, learner) if one is not None]
            return found[0] if len(found) == 1 else HandoverReduction(found), early[0].begin(self)
        if learner is None or (first is not None and learner is not Pricing):
            return first, ASKED_FROM if first is None else HittingSets.begin(self)
        begin, then = learner.begin(self), learner.make(self)
        if first is None:
            return then, begin
        # prices, where hitting sets have no more to tell and the tree is still at work
        return HandoverReduction([first, then], begin // NODES_OF_A_BATCH), HittingSets.begin(self)

    def least(self):
        """Return a lower bound that is known before the search."""
        return max([ceiling.least_objective(self.problem), *(one.make(self) for one in FLOORS if self.has(one))])

    def of_fixed(self, hasty=False):
        """Return what makes the plan of a mixture whose shared parameter is fixed, from its family."""
        options = self.options.of_fixed()
        return lambda family: MixturePlan(self.problem, family, options, hasty=hasty, rounds=False)

    def search(self, epsilon, learns=True, **primal):
        """
        Return the search of a mixture whose shared parameter is fixed.

        Parameters
        ----------
        epsilon : float
        learns : bool
            Whether anything is learnt beside the tree.
        **primal
            Options of its MixturePrimal.
        """
        relaxed = self.relaxed()
        found = self.take_primal(lambda **options: MixturePrimal(self.family, **options), **primal)
        return Search(
            relaxed, found, epsilon, reduction=self.reduction()[0] if learns else None,
            reduce_from=ASKED_FROM if self.hasty else REDUCED_FROM, basin=self.box(), meters=self.meters,
        )  # fmt: skip

    def _why_no_prices(self):
        """Return why there are no prices, in words."""
        if self.cells is not None:
            return (
                f"proof must be None with relaxation='pricing': prices of at most {MOST_PRICED:,} samples have an "
                "entry, without missing ones, of components that share no parameter and no estimated prior variance"
            )
        return (
            f"relaxation='pricing' needs at most {MOST_PRICED:,} samples (more where a Gaussian model of up to "
            "three columns has summaries), posterior='point' and, with covariance='full', at most two columns"
        )
