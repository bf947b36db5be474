"""EM over the protocol of `gopfast.models.MixtureProblem`: plain NumPy, no compiled code."""

import numpy as np


def em(problem, responsibilities, tol=1e-12, max_iter=10_000, state=None):
    """
    EM from given responsibilities (n, K); returns the last state and the trace of its objectives.

    Stops when a step gains at most `tol`, relative to ``1 + |objective|``. `state` is the state before the first
    M step, for what that step keeps of it (the prior variance, the parameters of an unused component).
    """
    state, trace = problem.maximize(responsibilities, **(state or {})), []
    for _ in range(max_iter):
        trace.append(problem.objective(**state))
        if len(trace) > 1 and trace[-2] - trace[-1] <= tol * (1.0 + abs(trace[-1])):
            break
        state = problem.maximize(problem.responsibilities(**state), **state)
    else:
        trace.append(problem.objective(**state))
    return state, np.array(trace)
