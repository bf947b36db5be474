"""What bounds the nodes of a mixture's search, and what is learnt beside its tree, as options and model have it."""

from types import SimpleNamespace

from gopfast.errors import InputError
from gopfast.mixtures import bounds
from gopfast.mixtures.bounds.blocks import BlocksBound, is_divided
from gopfast.mixtures.bounds.confinement import Confinement
from gopfast.mixtures.bounds.corners import CornerRelaxation, has_corners
from gopfast.mixtures.bounds.counts import CountsBound
from gopfast.mixtures.bounds.crossed import CrossedRelaxation, is_crossed, is_spanned
from gopfast.mixtures.bounds.em import MixturePrimal
from gopfast.mixtures.bounds.entropic import EntropicRelaxation
from gopfast.mixtures.bounds.handover import HandoverReduction
from gopfast.mixtures.bounds.pricing_cuts import PricingReduction
from gopfast.mixtures.bounds.pricing_levels import LevelledBound, levels_of
from gopfast.mixtures.bounds.pricing_root import PricingBound
from gopfast.mixtures.bounds.shared import SharedBound
from gopfast.mixtures.bounds.shared_cuts import SharedReduction
from gopfast.mixtures.bounds.simplices import SimplexBound
from gopfast.mixtures.marginal import MarginalBound
from gopfast.options import EPSILON

MOST_PRICED = 20_000  # samples; prices are one for each
MOST_POINTS = 50_000  # of their summaries, where there are more
# Nodes from which on something is learnt beside the tree, so that small problems are done before it would pay: hitting
# sets, and prices that were asked for. Otherwise prices begin once the tree has cost so many terms of its sums for each
# sample, about what prices cost, but at least and at most so many (0.08 and 0.3 s). A node has one for each sample,
# component and statistic (more where statistics are many, for their second moments), and so many more.
REDUCED_FROM = 256
ASKED_FROM = 1
SUMMARISED_FROM = 8_192  # prices of summaries: where the tree's own summaries do, it is done sooner
TERMS_OF_A_PRICE = 20_000
LEAST_BEFORE_PRICES, MOST_BEFORE_PRICES = 5_000_000, 20_000_000
TERMS_OF_A_NODE = 350
# Where prices were asked for, numbers of components are searched as well: once the tree has had so many more terms
# (one or two seconds), for so many components, and parameters of one.
TERMS_BEFORE_COUNTS = 30_000_000
MOST_COUNTED, MOST_PARAMETERS = 6, 8
CORNERS = 6  # times what the relaxed dual alone costs is a node whose corners are mixed
NODES_OF_A_BATCH = 8  # at least; fewer while the tree is small


def relaxation_of(family, options, provable=False):
    """Return the relaxation that the options ask for and the names of the methods used."""
    kind = options.relaxation or "entropic"
    branching = options.branching or "bisect"
    if kind == "linear":
        relaxed = family.linear_dual(bounds, options.partition == "paper", options.subproblem == "milp")
        if relaxed is None:
            raise InputError("relaxation='linear' needs a GaussianMixture of known variance with posterior='point'")
    elif not provable and branching == "bisect" and _takes_corners(family):
        relaxed = CornerRelaxation(family)
    elif not provable and branching == "bisect" and is_crossed(family):
        relaxed = CrossedRelaxation(family)
    else:
        relaxed = EntropicRelaxation(family, provable=provable)
    options.check_orthants(relaxed.n_connected)
    return relaxed, {
        "relaxation": kind, "partition": options.partition, "branching": branching, "subproblem": options.subproblem,
    }  # fmt: skip


def _takes_corners(family):
    """Whether nodes are bounded by corners; the crossed tree knows more of two variables: profiles may be moved."""
    return has_corners(family) and not (is_crossed(family) and is_spanned(family))


def reduction_of(problem, family, relaxation, begun=lambda what: None, epsilon=EPSILON, threads=1, cells=None,
                 hasty=False, rounds=True):
    """Return what is learnt beside the tree, where the model has it, and the nodes from which on.

    For a proof it takes what the cells are told to, `cells`, and is what has an entry there. In haste prices are found
    to a bound that is wanted soon rather than good. With `rounds` they look for better solutions, too.
    """
    learnt = family.reduction(bounds) if cells is None else None
    if learnt is not None and relaxation == "entropic":
        return learnt, REDUCED_FROM
    one = slices = None
    wanted = relaxation == "pricing" or (relaxation is None and problem.n_components > 1)
    few = family.data.n_samples <= MOST_PRICED
    if wanted and (cells is None or (few and cells.has_entry)):
        ones = [family.one_component(problem, level) for level in levels_of(family.data, MOST_PRICED, MOST_POINTS)]
        one = ones[0] if ones else None
        slices = family.slices(bounds) if one is None and few and cells is None else None
    if one is None and learnt is not None and relaxation is None:
        return learnt, REDUCED_FROM
    if one is None and slices is None:
        if relaxation == "pricing" and cells is not None:
            raise InputError(
                f"proof must be None with relaxation='pricing': prices of at most {MOST_PRICED:,} samples have an "
                "entry, without missing ones, of components that share no parameter and no estimated prior variance"
            )
        if relaxation == "pricing":
            raise InputError(
                f"relaxation='pricing' needs at most {MOST_PRICED:,} samples (more where a Gaussian model of up to "
                "three columns has summaries), posterior='point' and, with covariance='full', at most two columns"
            )
        return (_marginal_reduction(problem, family) if wanted and cells is None else None), ASKED_FROM

    F = family.n_statistics
    terms = TERMS_OF_A_NODE + family.data.n_samples * family.n_components * F * (8 + F) // 8
    if cells is None and _takes_corners(family):
        terms *= CORNERS

    def price(solution, limit):
        if cells is None and len(ones) == 1 and is_divided(family):
            begun("blocks of columns are priced")
            return BlocksBound(family, one, solution, limit, threads)
        begun("single components are priced")

        def confine(bound, at):
            return Confinement(bound, at, box_around(family, at, limit))

        if len(ones) > 1:
            return LevelledBound(family, ones, solution, limit, threads)
        priced = PricingBound(
            family, one, solution, limit, threads=threads, record=cells, hasty=hasty, rounds=rounds,
            confine=confine if cells is None and not hasty else None,
        )
        few = family.n_components <= MOST_COUNTED and one.n_cell <= MOST_PARAMETERS
        if relaxation != "pricing" or cells is not None or not few:
            return priced
        return CountsBound(priced, begun, TERMS_BEFORE_COUNTS // terms // NODES_OF_A_BATCH)

    def cut(solution, limit):
        begun("mixtures in which the shared parameter is fixed are bounded")
        if slices.has_simplices:
            return SimplexBound(slices, solution, limit, epsilon, *of_fixed(problem, hasty=True))
        return SharedBound(slices, slices.first(solution), limit, epsilon, *of_fixed(problem, hasty=not slices.exact))

    before = min(MOST_BEFORE_PRICES, max(LEAST_BEFORE_PRICES, TERMS_OF_A_PRICE * family.data.n_samples))
    begin = max(REDUCED_FROM, before // terms) if len(ones) == 1 else SUMMARISED_FROM
    if relaxation == "pricing" or (slices is not None and slices.at_once):
        begin = ASKED_FROM
    if one is None:
        return SharedReduction(family, cut), begin
    priced = PricingReduction(family, price, slack=None if cells is None else cells.slack())
    if learnt is not None and relaxation is None:
        # prices, where hitting sets have no more to tell and the tree is still at work
        return HandoverReduction(learnt, priced, begin // NODES_OF_A_BATCH), REDUCED_FROM
    return priced, begin


def box_around(family, solution, limit):
    """Return what finds a box around a solution on which nothing lies below a limit, or None."""

    def box():
        chart, primal, K = family.chart(bounds), MixturePrimal(family), family.n_components
        if chart is None:
            return None
        _, (value, *_), _ = primal.em(solution[:K], solution[K:-1], 0.0, 0)
        found = bounds.neighbourhood.Neighbourhood(primal, chart)
        return SimpleNamespace(**found.report()) if found.find(solution, value - limit) else None

    return box


def of_fixed(problem, hasty=False):
    """Return what is learnt beside the tree of a mixture whose shared parameter is fixed, and around its incumbent."""

    def beside(family):
        found, _ = reduction_of(problem, family, None, hasty=hasty, rounds=False)
        return found, ASKED_FROM if hasty else REDUCED_FROM

    return beside, lambda family, primal: family.basin(bounds, primal)


def _marginal_reduction(problem, family):
    """Return what is learnt of the marginal of a mixture whose components have too many parameters; None: nothing."""
    if not family.has_marginals or family.data.n_samples > MOST_PRICED:
        return None
    return PricingReduction(family, lambda solution, limit: MarginalBound(problem, family, solution, limit))
