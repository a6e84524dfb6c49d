"""Group B: derivatives where an operator's own comparisons go one way or the other."""

from __future__ import annotations

from operad_check.cases.kinds import SMOOTH
from operad_check.checks.derivative import agrees_along
from operad_check.checks.second_derivative import agree_at, gradient_operator, second_order_arguments
from operad_check.comparison.branch_points import branch_points
from operad_check.comparison.point import compared_arguments, random_direction
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial


@check("B314", SMOOTH)
def beside_branches(trial: Trial) -> Evidence:
    """At each branch of an operator, and on both sides of it, first and second gradients are derivatives.

    A formula for large arguments is reached by no ordinary case; a wrong slope there is met by the one row in
    a thousand that saturates.

    Broken by:
        def data_grad(output_grad, data):    # of log(1 + e^x), which is x where x > 20
            return output_grad * np.where(data > 20, 2, 1 / (1 + np.exp(-data)))
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data): return np.where(data > 20, data, np.log1p(np.exp(np.minimum(data, 20))))
        HERE
    Fix:
        Derive each branch of the function again, and compare the thresholds of function and gradient.
    How:
        Compare gradients, and gradients of gradients, with numeric derivatives at the points where the scalar
        forms of the operator compare equal numbers, and beside them.
    """
    compared = compared_arguments(trial)
    if compared is None:
        return None
    wanted = second_order_arguments(trial)
    made = gradient_operator(trial, wanted) if any(wanted) else None
    count = 0
    for inputs in branch_points(trial):
        for i in compared:
            if trial.inputs[i].size:
                count += agrees_along(trial, inputs, {i: random_direction(trial, i, 0)})
        if made is not None:
            count += agree_at(trial, made, wanted, inputs)
    return count or None  # none, too, where there are branches at the end of the domain alone
