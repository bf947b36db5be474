"""What every mixture problem is: data, a likelihood, an E step, an M step and an objective, in plain NumPy.

Theory: (A2) of docs/theory/problem.md.
"""

import math
from dataclasses import FrozenInstanceError

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import FloatArray, IntArray, ParameterLike, Parameters, Prior, State
from gopfast.errors import InputError, InputTypeError


class MixtureProblem:
    """
    Base class of the mixture problems; plain NumPy, independent of the compiled core.

    A solver minimises `objective` over the mixture weights pi, the component parameters and the
    responsibilities tau, so that ``elbo = elbo_constant - objective``::

        objective = - sum_i w_i log sum_k pi_k p(x_i | theta_k)  [ - log prior density of theta ]

    A state of the model is the weights and one value for each of `parameter_names`. Methods take the values in
    that order or by name; `maximize` returns a state as a dict, so that EM reads::

        tau = problem.responsibilities(**state)
        state = problem.maximize(tau, **state)
        value = problem.objective(**state)

    A subclass defines `parameter_names`, `n_parameters`, ``_check_values`` (one value for each name in, the
    checked values out), ``_log_kernel`` (log densities, without the ``_log_constant`` that the objective leaves
    out) and ``_m_step``; with a prior ``_penalty``, the negative log density, and ``_flat_priors`` if there is
    another prior than None that leaves an unused component undetermined. For the solver it defines ``_family``; what
    else the solver asks (``_closed_form``, ``_ceiling``, ``_notes``, ``_coordinates`` and more) has an answer for every
    model.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only copy of the data.
    sample_weight : ndarray, shape (n,)
        Read-only weights w_i, at least 0.
    n_samples, n_features, n_components : int
        n, d and K.
    total_weight : float
        W, the sum of the sample weights.
    prior
        The prior of the parameters; None for maximum likelihood.
    posterior : str
        Form of the posterior of the parameters; "point" unless the model says otherwise.
    elbo_constant : float
        What the objective leaves out; 0 unless the model says otherwise.
    parameter_names : tuple of str
        Names of the parameters beside the weights; the first one orders the components.
    shared_names : tuple of str
        Those of the parameters that belong to all components together.
    columns : tuple of str
        Names of the columns, where the data have them: those of a data frame, the name of a series; else empty.
    n_parameters : int
        Number of free parameters, the K - 1 of the weights included; for BIC and AIC.
    """

    X: FloatArray
    sample_weight: FloatArray
    n_samples: int
    n_features: int
    n_components: int
    total_weight: float
    prior: Prior
    posterior: str = "point"
    elbo_constant: float = 0.0
    parameter_names: tuple[str, ...]
    shared_names: tuple[str, ...] = ()
    n_parameters: int
    columns: tuple[str, ...] = ()
    _flat_priors = (None,)
    _log_constant = 0.0

    @property
    def _n_columns_to_identify(self):
        """Columns below which the parameters need not be unique, even up to the components' order."""
        return 0

    @property
    def n_weights(self) -> int:
        """Number of mixture weights: K, or with a noise component one more, the last."""
        return self.n_components

    def _store(self, X, n_components, sample_weight, **others):
        """Check what all models share and set every attribute; `X` must have shape (n, d) already."""
        n_samples, n_features = X.shape
        if sample_weight is None:
            weight = np.ones(n_samples)
        else:
            weight = checks.real_array("sample_weight", sample_weight)
            checks.at_least("sample_weight", checks.of_shape("sample_weight", weight, (n_samples,)), 0.0)
            if weight.max() == 0.0:
                raise InputError("sample_weight must have a positive entry; all are zero")
        with np.errstate(over="ignore"):
            total_weight = float(weight.sum())
        if not np.isfinite(total_weight):
            raise InputError("sample_weight is too large: the sum overflows")
        state = {
            "X": X,
            "sample_weight": weight,
            "n_samples": n_samples,
            "n_features": n_features,
            "n_components": checks.whole_number("n_components", n_components, 1, n_samples),
            "total_weight": total_weight,
        }
        self.__setstate__({**state, **others})

    def __setstate__(self, state: dict[str, object]) -> None:
        """Set every attribute; arrays become read-only, which pickling forgets."""
        for value in state.values():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    array.setflags(write=False)
        self.__dict__.update(state)

    def _with(self, **changed):
        """Return the same model with other `X`, `sample_weight` or `n_components`, which are not checked."""
        state = {**self.__dict__, **changed}
        state.update(n_samples=len(state["X"]), total_weight=float(state["sample_weight"].sum()))
        other = object.__new__(type(self))
        other.__setstate__(state)
        return other

    def _enlarged(self, n_components):
        """Return the same model with more components, and with defaults that suit them."""
        return self._with(n_components=n_components)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a problem never changes."""
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        """Refuse: a problem never changes."""
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        """Return the sizes and the model, not the data."""
        names = ("n_samples", "n_features", "n_components", *self._model_names())
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({shown})"

    def _model_names(self):
        """Names of the attributes that tell the model, for `repr`."""
        return ("prior",)

    # What a solver and its tests evaluate

    def log_densities(self, *values: ParameterLike, **parameters: ParameterLike) -> FloatArray:
        """
        Compute the log density of each sample under each component, with all constants.

        Parameters
        ----------
        *values, **parameters
            One value for each of `parameter_names`.

        Returns
        -------
        ndarray, shape (n, K)
            ``log p(x_i | theta_k)``, -inf where the density is 0; with a Gaussian posterior its expectation.
        """
        return self._log_kernel(self.check_parameters(*values, **parameters)) + self._log_constant

    def _log_densities_of(self, X, **parameters):
        """Compute `log_densities` of other samples, (m, d) and of the same kind as `X`, which is not checked."""
        other = object.__new__(type(self))
        other.__setstate__({**self.__dict__, "X": X, "n_samples": len(X)})
        return other.log_densities(**parameters)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns for tables and figures; "x", or "x0", "x1", ... where the data have none."""
        if self.columns:
            return list(self.columns)
        return ["x"] if self.n_features == 1 else [f"x{j}" for j in range(self.n_features)]

    def _columns_of(self, name):
        """Return which columns of the data a parameter has numbers of, in its order."""
        return list(range(self.n_features))

    def _column_as_given(self, j):
        """Return a column of the data (n,) as the user has it."""
        return self.X[:, j]

    @classmethod
    def _rebuilt(cls, X, sample_weight, columns, given):
        """Make the problem from data of named `columns` and the other arguments of its constructor."""
        return cls(X, sample_weight=sample_weight, **given)

    def _rows_like(self, X):
        """Check other samples, as a user gives them; return them (m, d) in the form of `X`."""
        raise NotImplementedError

    def _drawn_rows(self, X, rng):
        """Return samples that were drawn, in the form of `X`."""
        return self._rows_like(X)

    def _draw(self, rng, components, parameters):
        """Draw a sample of each of some components (m,) by a numpy Generator; return them (m, d) in the user's form."""
        raise NotImplementedError

    def responsibilities(
        self, weights: ArrayLike, *values: ParameterLike, **parameters: ParameterLike
    ) -> FloatArray:
        """
        Compute the optimal responsibilities (the E step).

        Parameters
        ----------
        weights : array_like, shape (K,)
            Mixture weights, at least 0, summing to 1.
        *values, **parameters
            One value for each of `parameter_names`.

        Returns
        -------
        ndarray, shape (n, K)
            ``tau_ik`` proportional to ``pi_k p(x_i | theta_k)``, rows summing to 1. A sample that no component
            can produce gets the weights: every choice is as bad.

        Raises
        ------
        InputError
            If an argument has a wrong shape or is out of range.
        """
        weights = self._check_weights(weights)
        scores = log_zero(weights) + self._log_kernel(self.check_parameters(*values, **parameters))
        total = log_sum_exp(scores)
        impossible = np.isneginf(total)
        scores[impossible], total[impossible] = log_zero(weights), 0.0
        tau = np.exp(scores - total[:, np.newaxis])
        # Far from every component the logarithms are so large that their rounding shows in the sums.
        return tau / tau.sum(axis=1, keepdims=True)

    def objective(
        self,
        weights: ArrayLike,
        *values: ParameterLike,
        responsibilities: ArrayLike | None = None,
        **parameters: ParameterLike,
    ) -> float:
        """
        Evaluate the objective, in plain NumPy and independently of the solver.

        Parameters
        ----------
        weights : array_like, shape (K,)
            Mixture weights pi, at least 0, summing to 1.
        *values, **parameters
            One value for each of `parameter_names`.
        responsibilities : array_like, shape (n, K), optional
            Rows on the simplex. By default the optimal ones.

        Returns
        -------
        float
            In nats; infinite if a sample of positive weight is impossible, or a responsibility is positive
            where the weight or the density is 0.

        Raises
        ------
        InputError
            If an argument has a wrong shape, is off its simplex or contradicts the model.
        """
        weights = self._check_weights(weights)
        checked = self.check_parameters(*values, **parameters)
        kernel = self._log_kernel(checked)
        if responsibilities is None:
            cost = -log_sum_exp(log_zero(weights) + kernel)
        else:
            tau = self._check_responsibilities(responsibilities)
            loss = np.multiply(tau, -kernel, out=np.zeros_like(tau), where=tau > 0.0)
            cost = (loss + relative_entropy(tau, weights)).sum(axis=1)
        # A sample without weight costs nothing, however impossible: 0 * inf would be NaN.
        cost = np.where(self.sample_weight > 0.0, cost, 0.0)
        return float(self.sample_weight @ cost) + self._penalty(checked)

    def elbo(
        self,
        weights: ArrayLike,
        *values: ParameterLike,
        responsibilities: ArrayLike | None = None,
        **parameters: ParameterLike,
    ) -> float:
        """
        Evaluate the ELBO with all its constants, ``elbo_constant - objective``; arguments as `objective`.

        Without a prior and with the optimal responsibilities it is the log-likelihood.
        """
        value = self.objective(weights, *values, responsibilities=responsibilities, **parameters)
        return self.elbo_constant - value

    def maximize(self, responsibilities: ArrayLike, **state: ParameterLike) -> State:
        """
        Compute the weights and parameters that are best for given responsibilities (the M step).

        Parameters
        ----------
        responsibilities : array_like, shape (n, K)
            Rows on the simplex.
        **state : optional
            The state before: ``weights`` (not used) and one value for each of `parameter_names`.

        Returns
        -------
        dict
            "weights" and one entry for each of `parameter_names`. A component without responsibility whose
            parameters the prior leaves open keeps those of `state`, or else gets those of the pooled samples.
        """
        tau = self._check_responsibilities(responsibilities)
        state.pop("weights", None)
        former = self.check_parameters(**state) if state else None
        mass = self.sample_weight[:, np.newaxis] * tau
        size = mass.sum(axis=0)
        weights, mass = size / size.sum(), mass[:, : self.n_components]
        unused = np.zeros(self.n_components, dtype=bool)
        if self.prior in self._flat_priors:
            unused = mass.max(axis=0) == 0.0
            mass[:, unused] = self.sample_weight[:, np.newaxis]
            # Only ratios matter then, and those of subnormal numbers have no digits.
            mass /= mass.max(axis=0)
        parameters = self._m_step(mass, weights, former)
        if former is not None and unused.any():
            order = np.arange(self.n_components) + self.n_components * unused
            for name in self._own_names():
                parameters[name] = _rows(_stacked(parameters[name], former[name]), order)
        return {"weights": weights, **parameters}

    def canonical_order(
        self, weights: ArrayLike, *values: ParameterLike, **parameters: ParameterLike
    ) -> IntArray:
        """
        Order the components by their first parameter, first coordinate first; the weight decides between equals.

        Returns
        -------
        ndarray of int, shape (K,)
        """
        return self._order(self._check_weights(weights), self.check_parameters(*values, **parameters))

    def _order(self, weights, parameters):
        """Order components as `canonical_order`, by values that are checked."""
        first = parameters[self.parameter_names[0]]
        first = np.hstack(first) if isinstance(first, tuple) else first
        # lexsort takes the last key first.
        return np.lexsort((weights[: self.n_components], *first.T[::-1]))

    def reordered(
        self, order: ArrayLike, weights: ArrayLike, *values: ParameterLike, **parameters: ParameterLike
    ) -> State:
        """Return the state with its components in the given order, as a dict."""
        return self._reorder(order, self._check_weights(weights), self.check_parameters(*values, **parameters))

    def _reorder(self, order, weights, parameters):
        """Return a state that is checked with its components in the given order."""
        for name in self._own_names():
            parameters[name] = _rows(parameters[name], order)
        return {"weights": np.append(weights[order], weights[self.n_components :]), **parameters}

    def canonical_state(
        self, weights: ArrayLike, *values: ParameterLike, **parameters: ParameterLike
    ) -> State:
        """Return the state with its components in `canonical_order`, as a dict."""
        weights, checked = self._check_weights(weights), self.check_parameters(*values, **parameters)
        return self._reorder(self._order(weights, checked), weights, checked)

    # What the solver asks of a model

    def _family(self):
        """
        Make the compiled core's copy of the problem: imported inside, as problems load nothing compiled.

        Returns
        -------
        Family
        """
        raise NotImplementedError(f"{type(self).__name__} has no family of the core to be solved by")

    def _primal(self, family, note, **options):
        """
        Make what searches locally in the core.

        Parameters
        ----------
        family : Family
        note : callable
            Takes a line of text.
        **options
            Of `MixturePrimal`.
        """
        from gopfast.mixtures.primal.em import MixturePrimal  # compiled, as problems are not

        return MixturePrimal(family, **options)

    def _moved(self, distance):
        """Return the distance by which the core's units move the samples; `distance` is of points and weights."""
        return distance(self.X, self.sample_weight[:, np.newaxis])

    def _moved_means(self, distance, solution):
        """Return the distance by which the core's units move the means of a solution; `distance` as of `_moved`."""
        return distance(solution.means, self.total_weight * solution.weights[: self.n_components, np.newaxis])

    def _statistics(self):
        """Return the columns (n, F) of which the core's are made, in the order of the user."""
        return self.X

    def _record_of_proof(self):
        """Return the problem as `gopfast.checker` reads it, JSON types; None where proofs have no entry for it."""
        return None

    def _data_of_proof(self):
        """Return the samples as the user has them, whose labels are no codes."""
        return self.X

    def _weights_of_proof(self):
        """Return the weights as the user has them."""
        return self.sample_weight

    def _closed_form(self, X, w):
        """
        Solve the problem of one component.

        Parameters
        ----------
        X : ndarray, shape (m, d)
            The samples of positive weight.
        w : ndarray, shape (m,)
            Their weights.

        Returns
        -------
        gopfast.mixtures.problems.closed_form.Optimum or None
            None where it has no closed form.
        """
        return None

    def _ceiling(self):
        """
        Bound every density from above, and so the objective from below.

        Returns
        -------
        terms : list of float
            A lower bound of the objective, in nats, is their sum less 1e-12 of their magnitudes and of `size`.
        size : float
            Sum of the magnitudes of what has cancelled within the terms.
        """
        return [-math.inf], 0.0

    def _notes(self, solution, proved) -> list[str]:
        """
        Tell what a reader of a solution should know of this model.

        Parameters
        ----------
        solution : MixtureSolution
        proved : bool
            Whether it is proved optimal.
        """
        return []

    def _caution(self, solution) -> str:
        """Say in half a sentence what makes an optimal solution no useful fit; empty if nothing does."""
        return ""

    def _checked_start(self, **given) -> dict:
        """Check the parameters of a start by name, the first one among them; return what the core starts from."""
        return self.check_parameters(**given)

    def _coordinates(self, blocks) -> dict:
        """
        Map the parameters to a box, for gradient methods.

        Parameters
        ----------
        blocks : module
            `gopfast.mixtures.local._coordinates`.

        Returns
        -------
        dict
            A block for each parameter that is not eliminated, by name.
        """
        raise NotImplementedError(f"{type(self).__name__} has no coordinates for a gradient method yet")

    def _pseudo_samples(self):
        """Return samples (m, d) and weights (m, d) that stand for a prior of location parameters; none by default."""
        return np.zeros((0, self.n_features)), np.zeros((0, self.n_features))

    def _points(self):
        """
        Return the samples as points (n, c) in which Euclidean distance makes sense, for starts and k-means.

        Columns are centred, and in units of their standard deviation.
        """
        share = self.sample_weight / self.total_weight
        centred = self.X - share @ self.X
        variance = self._point_variances(share, centred)
        return centred / np.sqrt(np.where(variance > 0.0, variance, 1.0))

    def _point_variances(self, share, centred):
        """Return the variance of each column that is the unit of distances."""
        return share @ np.square(centred)

    # Columns of which `plot.density` can draw the density at a time: 0, 1 or 2; whether they hold counts.
    _most_columns_drawn = 0
    _counts = False

    def _least_drawn(self, largest):
        """Return the least value at which a density is drawn, of data up to `largest`."""
        return -math.inf

    def _column_log_densities(self, column, values, **parameters):
        """Return the components' marginal log densities of one column, (K, m), at values (m,)."""
        raise NotImplementedError

    # Whether the rows of probabilities that are one array sum to 1.
    _on_simplex = False
    # Whether a component can be narrow enough to sit on samples that share a value.
    _can_sit_on_ties = False
    # Whether `_log_kernel` keeps digits that the core's costs lose for very large counts.
    _formula_keeps_digits = False

    def _inside(self, value, most):
        """Return the first parameter with probabilities of 1 lowered to `most`; itself where there are none."""
        return value

    # Checks

    def check_parameters(self, *values: ParameterLike, **parameters: ParameterLike) -> Parameters:
        """
        Check one value for each of `parameter_names`, by position or by name.

        Returns
        -------
        dict
            Arrays of the documented shapes, by name.

        Raises
        ------
        InputError
            If a parameter is missing, unknown, of a wrong shape or outside the model.
        """
        names = self.parameter_names
        unknown = sorted(parameters.keys() - set(names[len(values) :]))
        if len(values) > len(names) or unknown:
            got = f"unknown or repeated: {', '.join(unknown)}" if unknown else f"got {len(values)} values"
            raise InputTypeError(f"parameters must be {', '.join(names)}; {got}")
        given = {**dict(zip(names, values, strict=False)), **parameters}
        checked = self._check_values(*(given.get(name) for name in names))
        return dict(zip(names, checked, strict=True))

    def _check_weights(self, weights):
        weights = checks.real_array("weights", weights)
        return checks.simplex("weights", checks.of_shape("weights", weights, (self.n_weights,)))

    def _check_responsibilities(self, responsibilities):
        tau = checks.real_array("responsibilities", responsibilities)
        checks.of_shape("responsibilities", tau, (self.n_samples, self.n_weights))
        return checks.simplex("responsibilities", tau)

    def _check_rows(self, name, value):
        """Check a parameter of shape (K, d); (K,) is taken too if d is 1."""
        array = checks.real_array(name, value)
        if self.n_features == 1 and array.ndim == 1:
            array = array[:, np.newaxis]
        return checks.of_shape(name, array, (self.n_components, self.n_features))

    def _own_names(self):
        """Names of the parameters that each component has for itself."""
        return [name for name in self.parameter_names if name not in self.shared_names]

    # What a model defines

    def _check_values(self, *values):
        raise NotImplementedError

    def _log_kernel(self, parameters):
        raise NotImplementedError

    def _m_step(self, mass, weights, former):
        raise NotImplementedError

    def _penalty(self, parameters):
        return 0.0

    def _penalty_size(self, parameters):
        """Sum of the magnitudes of the terms of the penalty: scale of its rounding error."""
        return abs(self._penalty(parameters))


def _rows(value, order):
    """Take rows of an array, or of each array of a tuple."""
    return tuple(array[order] for array in value) if isinstance(value, tuple) else value[order]


def _stacked(first, second):
    """Put the rows of `second` below those of `first`."""
    if isinstance(first, tuple):
        return tuple(np.concatenate(arrays) for arrays in zip(first, second, strict=True))
    return np.concatenate([first, second])


def average(mass, values):
    """Return ``sum_i mass_ik values_ij / sum_i mass_ik``, shape (K, d), for masses with a positive sum."""
    return (mass.T @ values) / mass.sum(axis=0)[:, np.newaxis]


def log_sum_exp(scores):
    """Compute ``log sum_k exp(scores_ik)`` for scores of shape (n, K); -inf for a row of -inf."""
    largest = scores.max(axis=1)
    shift = np.where(np.isneginf(largest), 0.0, largest)
    return shift + log_zero(np.exp(scores - shift[:, np.newaxis]).sum(axis=1))


def relative_entropy(tau, weights):
    """Compute ``tau_ik log(tau_ik / pi_k)`` with ``0 log 0 = 0``; infinite where only pi_k is 0."""
    with np.errstate(divide="ignore", over="ignore"):
        ratio = np.divide(tau, weights, out=np.ones_like(tau), where=tau > 0.0)
    return tau * np.log(ratio)


def log_zero(values):
    """Logarithm with ``log 0 = -inf`` and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)
