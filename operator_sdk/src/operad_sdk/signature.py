"""What a function's signature says about an operator.

Two names are reserved in every function of an operator: `out` is an array to write into, and
`op_ctx` is the `OpContext` of the run. (`ctx` is not, because MXNet has operators with a parameter
of that name.) All other names are arguments or parameters.
"""

from __future__ import annotations

import difflib
import inspect
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, Union, final, get_args, get_origin

from operad.operator import REQUIRED, Param, param
from operad_sdk.errors import DeclarationError

OUT: Final = "out"
OP_CTX: Final = "op_ctx"

_EMPTY: Final = inspect.Parameter.empty
_TUPLE_TYPES: Final[dict[Any, Literal["shape", "floats"]]] = {int: "shape", float: "floats"}


@final
class Signature(NamedTuple):
    """The names a function takes.

    Attributes:
        what: How error messages call the function.
        names: Its parameters in order, without `out`.
        keyword_only: Those among `names` that cannot be given by position.
        takes_out: Whether it has a parameter `out`.
        parameters: The parameters as `inspect` sees them.
    """

    what: str
    names: tuple[str, ...]
    keyword_only: frozenset[str]
    takes_out: bool
    parameters: dict[str, inspect.Parameter]

    @property
    def takes_context(self) -> bool:
        """Whether the function takes the `OpContext`."""
        return OP_CTX in self.names


def read_signature(function: Callable[..., Any], what: str) -> Signature:
    """The signature of `function`, called `what` in messages.

    Raises:
        DeclarationError: It takes `*args` or `**kwargs`, whose names nobody knows; or `out`, which is
            given by name, stands in the way of what is given by position.
    """
    parameters = dict(inspect.signature(function).parameters)
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise DeclarationError(f"{what} takes {parameter}; name every parameter, expected no *{name}")
    behind = list(parameters)[list(parameters).index(OUT) + 1 :] if OUT in parameters else []
    if behind and parameters[behind[0]].kind is not inspect.Parameter.KEYWORD_ONLY:
        raise DeclarationError(
            f"{what} takes 'out' before {behind[0]!r}; put it last, after a '*' if need be"
        )
    names = tuple(name for name in parameters if name != OUT)
    keyword_only = frozenset(name for name in names if parameters[name].kind is parameters[name].KEYWORD_ONLY)
    return Signature(what, names, keyword_only, OUT in parameters, parameters)


def arranged(
    function: Callable[..., Any],
    signature: Signature,
    given: Sequence[str],
    public: Callable[[str], str] = str,
) -> Callable[..., Any]:
    """`function` as something to call with the values of `given`, in that order, and `out=`.

    That is `function` itself where it takes exactly `given`, so that the common case costs no
    further call.

    Args:
        public: The name in `given` that stands for a name in the signature.
    """
    names = tuple(public(name) for name in signature.names)
    if names == tuple(given) and not signature.keyword_only:
        return function
    places = [(name, given.index(public(name))) for name in signature.names]
    positions = [place for name, place in places if name not in signature.keyword_only]
    keywords = [(name, place) for name, place in places if name in signature.keyword_only]

    def call(*values: Any, **out: Any) -> Any:
        return function(*[values[i] for i in positions], **{name: values[i] for name, i in keywords}, **out)

    return call


def check_names(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that is not among `known`.

    Raises:
        DeclarationError: With a suggestion.
    """
    for name in names:
        if name not in known:
            raise unknown_name(what, name, known)


def params_of(function: Callable[..., Any], signature: Signature, names: Iterable[str]) -> dict[str, Param]:
    """The operator parameters that the parameters `names` of `function` declare.

    A declaration is a default made by `param(...)`, or an annotation with an optional plain default:
    `axis: int = -1`, `mode: Literal["clip", "wrap"] = "clip"`, `shape: tuple[int, ...]`.

    Raises:
        DeclarationError: A parameter has no type, or one that no operator parameter can have.
    """
    declared = {}
    hints: dict[str, Any] | None = None
    for name in names:
        default = signature.parameters[name].default
        if isinstance(default, Param):
            declared[name] = default
            continue
        if hints is None:
            hints = _evaluated_hints(function, signature)
        declared[name] = _param_from(hints[name], default, f"{signature.what}: parameter {name!r}")
    return declared


def unknown_name(what: str, name: str, known: Collection[str]) -> DeclarationError:
    """The error for a name in a signature that means nothing there."""
    close = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"expected names among {', '.join(known)}"
    return DeclarationError(f"{what} takes {name!r}, which this operator does not have; {advice}")


def _evaluated_hints(function: Callable[..., Any], signature: Signature) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
    except NameError as error:
        raise DeclarationError(f"{signature.what}: an annotation cannot be evaluated: {error}") from error
    return {name: parameter.annotation for name, parameter in parameters.items()}


def _param_from(hint: Any, default: Any, what: str) -> Param:
    if hint is _EMPTY and default is not _EMPTY and default is not None:
        hint = type(default)
    if get_origin(hint) in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        hint = options[0] if len(options) == 1 and default is None else hint
    fallback = REQUIRED if default is _EMPTY else default
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        made: Param = param(type(choices[0]), fallback, choices=choices)
    elif get_origin(hint) is tuple and get_args(hint)[1:] == (...,) and get_args(hint)[0] in _TUPLE_TYPES:
        made = param(_TUPLE_TYPES[get_args(hint)[0]], fallback)
    elif hint in (int, float, bool, str):
        made = param(hint, fallback)
    else:
        found = "no annotation" if hint is _EMPTY else f"the annotation {hint!r}"
        raise DeclarationError(
            f"{what} has {found}; expected int, float, bool, str, tuple[int, ...], a Literal, "
            "or a default made by param(...)"
        )
    return made
