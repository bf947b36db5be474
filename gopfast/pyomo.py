"""gopfast as a solver of Pyomo models; needs pyomo, which ``pip install gopfast[pyomo]`` brings.

Importing this module registers the solver::

    import gopfast.pyomo
    pyomo.environ.SolverFactory("gopfast").solve(model, tee=True)

Linear, bilinear and quadratic terms of continuous variables are taken as Pyomo's standard representation gives them;
what else there is, products of more variables, powers, quotients, roots, magnitudes, exponentials and logarithms, from
the expressions.
"""

import math

from pyomo.core import Constraint, Objective, SOSConstraint, Var, minimize, value
from pyomo.core.expr.numeric_expr import UnaryFunctionExpression
from pyomo.core.expr.numvalue import is_fixed, is_potentially_variable
from pyomo.core.expr.visitor import StreamBasedExpressionVisitor, identify_variables
from pyomo.opt import SolverFactory, SolverResults, SolverStatus, TerminationCondition
from pyomo.repn import generate_standard_repn

from gopfast import __version__
from gopfast.biconvex.composition import Composition, constant, plus, scaled, variable
from gopfast.biconvex.polynomial import PolynomialProblem
from gopfast.biconvex.products import lifted
from gopfast.errors import InputError
from gopfast.result import Status
from gopfast.solver import solve

# What Pyomo's users look at: why the solver ended.
CONDITIONS = {
    Status.OPTIMAL: (SolverStatus.ok, TerminationCondition.optimal),
    Status.INFEASIBLE: (SolverStatus.ok, TerminationCondition.infeasible),
    Status.UNBOUNDED: (SolverStatus.ok, TerminationCondition.unbounded),
    Status.TIME_LIMIT: (SolverStatus.ok, TerminationCondition.maxTimeLimit),
    Status.NODE_LIMIT: (SolverStatus.ok, TerminationCondition.maxIterations),
    Status.MEMORY_LIMIT: (SolverStatus.aborted, TerminationCondition.resourceInterrupt),
    Status.INTERRUPTED: (SolverStatus.aborted, TerminationCondition.userInterrupt),
}
OTHERWISE = (SolverStatus.warning, TerminationCondition.other)
# Pyomo's classes of expressions that polynomials have.
OPERATIONS = {
    "SumExpression": "sum", "LinearExpression": "sum", "NegationExpression": "negative", "AbsExpression": "magnitude",
    "ProductExpression": "product", "MonomialTermExpression": "product", "DivisionExpression": "quotient",
    "PowExpression": "power", "ScalarExpression": "name", "ExpressionData": "name", "_GeneralExpressionData": "name",
}  # fmt: skip
FUNCTIONS = {"sqrt": "root", "exp": "exponential", "log": "logarithm", "log10": "decimal logarithm"}


@SolverFactory.register("gopfast", doc="Proved global optima of bilinear, convex quadratic and polynomial problems")
class GopfastSolver:
    """
    The solver that ``SolverFactory("gopfast")`` returns.

    Parameters
    ----------
    options : dict, optional
        Arguments of `gopfast.solve`, for every call of `solve`.

    Attributes
    ----------
    options : dict
        As given; entries may be set.
    result : BiconvexResult or None
        Of the last call.
    problem : BiconvexProblem, PolynomialProblem or None
        The last model as it was solved: what `gopfast.check` takes with the result's proof, and, as a file that its
        `to_json` writes, ``gopfast check``. A .nl file of the model may have other names, and another order.
    """

    def __init__(self, options=None, **_):
        self.options = dict(options or {})
        self.result = self.problem = None

    def available(self, exception_flag=True) -> bool:
        """Whether the solver can be called: where this module can be imported it can."""
        return True

    def license_is_valid(self) -> bool:
        """Whether it may be used: no license is asked for."""
        return True

    def version(self) -> tuple:
        """Version of gopfast, as Pyomo's four numbers."""
        numbers = tuple(int(part) for part in __version__.split(".") if part.isdigit())
        return (numbers + (0, 0, 0, 0))[:4]

    def __enter__(self):
        """Return itself; there is nothing to open."""
        return self

    def __exit__(self, *error):
        """Do nothing; there is nothing to close."""

    def solve(self, model, tee=False, timelimit=None, load_solutions=True, options=None, **_) -> SolverResults:
        """
        Solve a model and load its solution.

        Parameters
        ----------
        model : pyomo.environ.Block
            A concrete model with one active objective.
        tee : bool
            Whether to print the log.
        timelimit : float, optional
            Seconds.
        load_solutions : bool
            Whether the variables get the values of the solution, where there is one.
        options : dict, optional
            Arguments of `gopfast.solve`, before those of the solver.

        Returns
        -------
        SolverResults
            ``problem.lower_bound`` and ``upper_bound`` are proved bounds of the optimum; ``solver.status``,
            ``termination_condition`` and ``message`` say what ended the search.

        Raises
        ------
        InputError
            If the model is outside the class; the message names the part. Nothing has been solved then.
        """
        translation = _Translation(model)
        arguments = {**self.options, **(options or {})}
        if timelimit is not None:
            arguments["time_limit"] = timelimit
        if tee:
            arguments["log"] = True
        self.problem = translation.problem
        self.result = result = solve(self.problem, **arguments)
        if load_solutions and result.solution is not None:
            for variable, number in zip(translation.variables, result.solution.z.tolist(), strict=True):
                variable.set_value(number, skip_validation=True)
        return _record(result, translation)


class _Translation:
    """A Pyomo model as a `BiconvexProblem`, and the variables in its order."""

    def __init__(self, model):
        self.variables, self.index = [], {}
        objectives = list(model.component_data_objects(Objective, active=True))
        if len(objectives) != 1:
            raise InputError(f"model must have one active objective; {model.name!r} has {len(objectives)}")
        for _ in model.component_data_objects(SOSConstraint, active=True):
            raise InputError("special ordered sets are not supported")
        (objective,) = objectives
        parts = [(objective.expr, objective.name)]
        constraints = list(model.component_data_objects(Constraint, active=True, descend_into=True))
        parts += [(constraint.body, constraint.name) for constraint in constraints]
        # in the order of the model; its variables first, then those of elsewhere
        used = {id(v): v for body, _ in parts if body is not None for v in _free(body)}
        own = [v for v in model.component_data_objects(Var) if id(v) in used]
        known = {id(v) for v in own}
        for one in own + [v for key, v in used.items() if key not in known]:
            if not one.is_continuous():
                raise InputError(f"variable {one.name!r} is not continuous")
            self.index[id(one)] = len(self.variables)
            self.variables.append(one)
        if not self.variables:
            raise InputError(f"model {model.name!r} has no variables that are not fixed")
        self.composition = Composition(
            _unlike([v.name for v in self.variables]),
            [-math.inf if v.lb is None else v.lb for v in self.variables],
            [math.inf if v.ub is None else v.ub for v in self.variables],
        )
        goal = self._polynomial(*parts[0])
        rows = [
            (
                self._polynomial(*part),
                -math.inf if constraint.lower is None else value(constraint.lower),
                math.inf if constraint.upper is None else value(constraint.upper),
            )
            for constraint, part in zip(constraints, parts[1:], strict=True)
        ]
        sense = "min" if objective.sense == minimize else "max"
        made = self.composition.model(goal, rows, sense, str(model.name))
        self.problem = lifted(made).problem if made.is_quadratic else PolynomialProblem.of_model(made)

    def _polynomial(self, body, name):
        """Polynomial of an expression; `name` says to whom it belongs, for messages."""
        form = generate_standard_repn(body, quadratic=True, compute_values=True)
        found = dict.fromkeys([()], float(form.constant))
        linear = zip(((variable,) for variable in form.linear_vars), form.linear_coefs, strict=True)
        for variables, coefficient in (*linear, *zip(form.quadratic_vars, form.quadratic_coefs, strict=True)):
            monomial = tuple(sorted(self.index[id(variable)] for variable in variables))
            found[monomial] = found.get(monomial, 0.0) + coefficient
        if form.nonlinear_expr is None:
            return plus(found)
        try:
            return plus(found, self._walker().walk_expression(form.nonlinear_expr))
        except InputError as error:
            raise InputError(f"{name!r} has {error}") from None

    def _walker(self):
        """Return what makes the polynomial of an expression from those of its parts."""
        return StreamBasedExpressionVisitor(beforeChild=self._leaf, exitNode=self._operation)

    def _leaf(self, node, child, place):
        """Whether to go on below a part, and its polynomial if not."""
        if not is_potentially_variable(child) or is_fixed(child):
            return False, constant(value(child))
        if child.is_variable_type():
            return False, variable(self.index[id(child)])
        return True, None

    def _operation(self, node, parts):
        """Polynomial of one operation."""
        kind = OPERATIONS.get(type(node).__name__)
        if isinstance(node, UnaryFunctionExpression) and node.getname() in FUNCTIONS:
            kind = FUNCTIONS[node.getname()]
        try:
            if kind == "sum":
                return plus(*parts)
            if kind == "negative":
                return scaled(parts[0], -1.0)
            if kind == "product":
                return self.composition.times(*parts)
            if kind == "quotient":
                return self.composition.over(*parts)
            if kind == "magnitude":
                return self.composition.size(parts[0])
            if kind == "root":
                return self.composition.power(parts[0], 0.5)
            if kind == "power":
                return self.composition.raised(*parts)
            if kind == "exponential":
                return self.composition.exp(parts[0])
            if kind == "logarithm":
                return self.composition.log(parts[0])
            if kind == "decimal logarithm":
                return scaled(self.composition.log(parts[0]), 1.0 / math.log(10.0))
            if kind == "name":
                return parts[0]
        except InputError as error:
            raise InputError(f"{error}, in {node}") from None
        raise InputError(
            f"a term that is outside: {node}; there are sums, products, quotients, powers, roots, magnitudes, exp and "
            "log, and others may be replaced by such terms that lie below and above them"
        )


def _free(body):
    """Variables of an expression that are not fixed."""
    return identify_variables(body, include_fixed=False)


def _unlike(names):
    """Names without repetition: variables of different models may share one."""
    return names if len(set(names)) == len(names) else [f"{name}#{i}" for i, name in enumerate(names)]


def _record(result, translation):
    """Return what Pyomo's interfaces return."""
    record = SolverResults()
    problem = translation.problem
    record.problem.name = problem.name
    record.problem.sense = "minimize" if problem.sense == "min" else "maximize"
    record.problem.number_of_variables = problem.n_variables
    record.problem.number_of_constraints = problem.n_rows
    record.problem.lower_bound, record.problem.upper_bound = result.lower_bound, result.upper_bound
    record.solver.name = "gopfast"
    record.solver.status, record.solver.termination_condition = CONDITIONS.get(result.status, OTHERWISE)
    record.solver.message = repr(result)
    record.solver.wallclock_time = result.time
    return record
