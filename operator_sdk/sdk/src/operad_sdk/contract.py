"""Declarations that an author makes of an operator beyond its code, for the contract checks.

Nothing here is needed to run an operator, and most operators need none of it: shapes come from the
spec line, parameters from their declarations, and points where a function is not smooth or not
defined are found by the checks. What no program can find out is said here, and every exemption
takes a reason, which reports show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, final

from operad.operator import OperatorProperty, Shape
from operad_sdk.domains import Domain
from operad_sdk.errors import call_declared


@final
@dataclass(frozen=True, slots=True)
class Tolerance:
    """Distance of a result from the float64 one that is allowed in a type; the default may be larger.

    Attributes:
        relative: Of the larger magnitude.
        absolute: Added to it.
        reason: Why the default does not do.
    """

    relative: float
    absolute: float
    reason: str


@final
@dataclass(frozen=True, slots=True)
class ResultTypes:
    """Element types of results, for some values of parameters.

    Attributes:
        types: Type of the first output by the type of the arguments that have none of their own, all
            by NumPy's names; a type that is not named is refused.
        params: Parameters for which that holds; the others are at their defaults.
    """

    types: Mapping[str, str]
    params: Mapping[str, Any] = field(default_factory=dict)


_FLOATING: Final = {name: name for name in ("float16", "float32", "float64")}
_WHOLE: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
REAL_RESULTS: Final = (ResultTypes(_FLOATING | dict.fromkeys((*_WHOLE, "bool"), "float64")),)
"""Results of an operator whose `promote` is `element_types.real_of`."""
COUNTED_RESULTS: Final = (ResultTypes(_FLOATING | {name: name for name in _WHOLE} | {"bool": "int64"}),)
"""Results of one whose `promote` is `element_types.counted`."""


@final
@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of a random operator's draws.

    Each of `mean`, `variance` and `cdf` is called with the property; `cdf(prop, x)` with an array
    of values as well.

    Attributes:
        mean: The draws' expected mean.
        variance: Their variance.
        cdf: Their cumulative distribution function; None: only the moments are tested.
        draws: `draws(prop, inputs, outputs)` takes the independent draws out of the arrays of one
            run, in training; None: the first output is the draws.
        params: Parameter values to test at; none: the defaults.
        shapes: Shapes of the arguments to test with; None: drawn like any.
    """

    mean: Callable[[Any], float]
    variance: Callable[[Any], float]
    cdf: Callable[[Any, Any], Any] | None = None
    draws: Callable[[Any, Sequence[Any], Sequence[Any]], Any] | None = None
    params: Sequence[Mapping[str, Any]] = ()
    shapes: Sequence[Shape] | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """Declarations for the contract checks; all optional.

    Attributes:
        inputs: Domains by argument or auxiliary state; the stem of numbered arguments stands for
            all. Default: multiples of 1/8 between -2 and 2, and 1/2 to 2 for auxiliary states.
        params: Values to try by parameter, instead of those derived from its declaration.
        narrowed: Why `params` gives fewer values of a parameter than are allowed, by its name; why a kind of
            cases (large, bulk, edges, extreme) is refused as a whole; and, by the word `reference`, for which
            arguments and parameters the reference does not say what the operator does. Reports show it.
        param_sets: Values of several parameters that go together, such as a count and lists of that length;
            each set is tried beside `params`, with the other parameters at their defaults and drawn.
        shapes: `shapes(prop, choose)` gives argument shapes where neither a spec line nor inference
            leads to them; `choose(sizes)` picks one of a sequence.
        dtypes: Element types that the operator is meant for, which are exactly those that inference is
            to accept; none: whatever it accepts.
        result_types: The type of the result for each type of the arguments, of an operator that infers
            it by a function of its own: inference and computation share that, and nothing else tells.
        reference: The outputs as a function of the inputs and of those parameters and states it names (and
            `is_train`; `**states` are all states), in NumPy; one array, or a tuple of the leading outputs, or
            of all outputs and then what becomes of the states. It is called in a type with more digits, and
            again in the operator's own.
        loss: The scalar whose gradient the operator gives, called as `reference` is, for an
            operator that ignores the head gradient.
        ignores_head_gradient: Why the gradient does not depend on the gradient of the output; or a
            function of the property that says so, and gives "" for parameters with which it does.
        no_numeric_gradient: Why the gradient is not that of the outputs; or a function of the property,
            as above.
        assumes_shapes: Why inference gives an argument one shape where others would be accepted too.
        ties: Why equal elements may have gradients that are not the derivative when they move together.
        nan_policy: Why a NaN in an input need not show in an output.
        undefined: Where finite arguments, whose neighbours give numbers, give none, or infinite ones give
            something else than the reference, and why that is meant.
        nondeterministic: Why two runs on the same inputs may differ in the last bits.
        distribution: What a random operator draws.
        computed_at_once: Elements of the parts in which a large array is computed; the reference is compared
            on an array of more than two. 0: nothing is known of parts.
        states_move: When a call changes the auxiliary states: "training" (running means), or "always" (an
            update of weights, which is a step of training itself).
        relations: What holds whatever the values: "elements" (permuted elements give permuted results),
            "items" (a batch along the first axes gives what its items give), "scaling" (`f(2x) = 2 f(x)`),
            "shifting" (`f(x + c) = f(x)`), of the first argument.
        tolerances: By element type name.
        completed_by_programs: Why the class alone computes nothing, but what a program completes, with a
            graph or with functions of its own: no cases are made, and only declarations are checked.
        expected_failures: Reasons by check id; a failure listed here is reported and is not an
            error, and its absence is.
    """

    inputs: Mapping[str, Domain] = field(default_factory=dict)
    params: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    narrowed: Mapping[str, str] = field(default_factory=dict)
    param_sets: Sequence[Mapping[str, Any]] = ()
    shapes: Callable[[Any, Callable[[Sequence[int]], int]], Sequence[Shape]] | None = None
    dtypes: Sequence[str] = ()
    result_types: Sequence[ResultTypes] = ()
    reference: Callable[..., Any] | None = None
    loss: Callable[..., Any] | None = None
    ignores_head_gradient: str | Callable[[Any], str] = ""
    no_numeric_gradient: str | Callable[[Any], str] = ""
    assumes_shapes: str = ""
    ties: str = ""
    nan_policy: str = ""
    undefined: str = ""
    nondeterministic: str = ""
    distribution: Distribution | None = None
    computed_at_once: int = 0
    states_move: Literal["training", "always"] = "training"
    relations: Sequence[Literal["elements", "items", "scaling", "shifting"]] = ()
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    completed_by_programs: str = ""
    expected_failures: Mapping[str, str] = field(default_factory=dict)

    def domain(self, name: str) -> Domain | None:
        """Domain declared for an argument or auxiliary state; None if none is declared."""
        return self.inputs.get(name) or self.inputs.get(name.rstrip("0123456789"))

    def why_head_is_ignored(self, prop: OperatorProperty) -> str:
        """Reason why the gradient does not depend on the head gradient, for these parameters; "": it does."""
        return _reason("ignores_head_gradient", self.ignores_head_gradient, prop)

    def why_no_numeric_gradient(self, prop: OperatorProperty) -> str:
        """Reason why the gradient is not that of the outputs, for these parameters; "": it is."""
        return _reason("no_numeric_gradient", self.no_numeric_gradient, prop)


def _reason(name: str, declared: str | Callable[[Any], str], prop: OperatorProperty) -> str:
    if isinstance(declared, str):
        return declared
    found: str = call_declared(f"Contract.{name}", declared, prop, gives=str)
    return found


NO_DECLARATIONS: Final = Contract()


def contract_of(cls: type[OperatorProperty]) -> Contract:
    """Declarations by the author of the property class `cls`."""
    declared = getattr(cls, "contract", NO_DECLARATIONS)
    return declared if isinstance(declared, Contract) else NO_DECLARATIONS
