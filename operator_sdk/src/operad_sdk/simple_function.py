"""What a function that was declared as an operator can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, TypeVar, final, overload

import numpy as np

from operad.context import cpu
from operad.operator import (
    OGRAD,
    OUT,
    Array,
    Gradient,
    Kernel,
    OpContext,
    OperatorProperty,
    SimpleOp,
    SimpleOpProperty,
    simple_property,
)
from operad.operator.kernel import KernelFactory, KernelPredicate
from operad.resource import ResourceRequest
from operad_sdk.contract import NO_DECLARATIONS, Contract
from operad_sdk.errors import DeclarationError
from operad_sdk.signature import OP_CTX, Signature, arranged, check_names, read_signature

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
Names = str | Sequence[str]
Resources = ResourceRequest | Sequence[ResourceRequest]


@final
class SimpleFunction:
    """What `@unary`, `@binary` and `from_ufunc` return: a function that is an operator.

    Called with plain arrays it computes the forward value, as the reference. `operad_property` is
    what an entry point resolves to. It is made at first use, and closes the declaration.

    Attributes:
        name: MXNet 1.x's name of the operator.
        contract: What the author declared for the contract checks.
    """

    def __init__(
        self, simple: SimpleOp, public_names: Mapping[str, str], contract: Contract | None = None
    ) -> None:
        self.name = simple.name
        self.contract = contract or NO_DECLARATIONS
        self.__doc__ = simple.doc
        self._simple = simple
        self._public_names = dict(public_names)
        self._kernels: list[Kernel] = []
        self._property: type[SimpleOpProperty] | None = None

    @property
    def operad_property(self) -> type[SimpleOpProperty]:
        """The operator's property class."""
        if self._property is None:
            made = simple_property(self._simple)
            made.kernels.extend(self._kernels)
            made.contract = self.contract  # type: ignore[attr-defined]  # the core does not read it
            self._property = made
        return self._property

    def __repr__(self) -> str:
        return f"<operator {self.name!r}>"

    def __call__(self, *values: Any, **keywords: Any) -> Any:
        """The forward value for plain arrays and parameters, each by position or name.

        Raises:
            ParamError: A parameter is missing, unknown or out of bounds.
            DeclarationError: An array is missing, or there are too many values.
        """
        simple = self._simple
        order = [*simple.arguments, *simple.params]
        if len(values) > len(order):
            raise DeclarationError(f"{self.name} takes {', '.join(order)}, got {len(values)} values")
        given = dict(zip(order, values, strict=False))
        given.update((self._public(name), value) for name, value in keywords.items())
        missing = [name for name in simple.arguments if name not in given]
        if missing:
            raise DeclarationError(f"{self.name}: {missing[0]!r} is missing, expected {', '.join(order)}")
        op_ctx = given.pop(OP_CTX, None) or OpContext(cpu(), is_train=False)
        out = given.pop("out", None)
        arrays = [_as_array(given.pop(name)) for name in simple.arguments]
        prop = self.operad_property(**given)
        context = (op_ctx,) if simple.takes_context else ()
        parameters = prop.call_params(arrays[0].dtype)
        if not simple.takes_out:
            return simple.function(*context, *arrays, *parameters)
        out = _empty_output(prop, op_ctx, arrays) if out is None else out
        simple.function(*context, *arrays, *parameters, out=out)
        return out

    @overload
    def gradient(self, function: F, /) -> F: ...

    @overload
    def gradient(
        self, *arguments: str, inplace: Names = (), resource: Resources = ()
    ) -> Callable[[F], F]: ...

    def gradient(self, *arguments: Any, inplace: Names = (), resource: Resources = ()) -> Any:
        """Declare the gradient: `@f.gradient`, or one for each operand, `@f.gradient("lhs")`.

        A function for one operand returns its gradient, or writes it into `out`. One function for
        both operands returns a pair; it runs once for each gradient that is requested and keeps
        what both read, so it is for gradients that are cheap.

        Args:
            arguments: The operands, by the function's or MXNet's name; none: all of them.
            inplace: Which of the arrays read may be overwritten by the gradient.
            resource: Resources the gradient needs, as `op_ctx.requested`.
        Raises:
            DeclarationError: A name is unknown, or the gradient was declared before.
        """
        if len(arguments) == 1 and callable(arguments[0]):
            return self.gradient()(arguments[0])

        def declare(function: F) -> F:
            self._check_open("gradient")
            self._add_gradient([self._public(name) for name in arguments], function, as_tuple(inplace))
            self._simple.backward_resource += as_tuple(resource)
            return function

        return declare

    def shape(self, function: F) -> F:
        """Declare the output's shape: called with the operands' shapes, and parameters by name."""
        self._check_open("shape function")
        simple = self._simple
        signature = read_signature(function, f"shape function of {self.name!r}")
        public = by_position(signature, simple.arguments, self._public)
        order = [*simple.arguments, *simple.params]
        check_names(signature.what, map(public, signature.names), order)
        simple.shape_function = arranged(function, signature, order, public)
        return function

    def kernel(
        self,
        device: str = "any",
        *,
        priority: int = 0,
        when: KernelPredicate | None = None,
        name: str | None = None,
    ) -> Callable[[F], F]:
        """Add another way to compute the forward value; the gradients stay.

        The function's first parameters are the arrays, whatever it calls them.

        Args:
            device: `"cpu"`, `"gpu"` or `"any"`.
            priority: Larger is preferred; the declared function has 0.
            when: Condition on the property, shapes and types.
            name: What `operad why` calls it; the function's name if left out.
        """

        def add(function: F) -> F:
            factory = simple_kernel_factory(function, f"kernel of {self.name!r}")
            made = Kernel(f"{self.name}.{name or function.__name__}", factory, device, priority, when)
            (self._kernels if self._property is None else self._property.kernels).append(made)
            function.operad_kernel = made  # type: ignore[attr-defined]
            return function

        return add

    def _public(self, name: str) -> str:
        return self._public_names.get(name, name)

    def _check_open(self, what: str) -> None:
        if self._property is not None:
            raise DeclarationError(
                f"operator {self.name!r} is already in use; declare its {what} beside the function"
            )

    def _add_gradient(self, arguments: Sequence[str], function: Function, inplace: Sequence[str]) -> None:
        simple = self._simple
        signature = read_signature(function, f"gradient of {self.name!r}")
        targets = arguments or simple.arguments
        check_names(signature.what, targets, simple.arguments)
        names = [self._public(name) for name in signature.names]
        readable = [OGRAD, OUT, *simple.arguments]
        check_names(signature.what, names, [*readable, *simple.params, OP_CTX])
        reads = [name for name in names if name in readable]
        overwritten = [self._public(name) for name in inplace]
        check_names(f"inplace of the {signature.what}", overwritten, reads)
        if signature.takes_context:
            take_context(simple)
        context = [OP_CTX] if simple.takes_context else []
        call = arranged(function, signature, [*context, *reads, *simple.params], self._public)
        gradients = list(simple.gradients)
        for target in targets:
            index = simple.arguments.index(target)
            if gradients[index] is not None:
                raise DeclarationError(f"{signature.what} by {target!r} is declared twice")
            one = call if len(targets) == 1 else _item_of(call, index)
            gradients[index] = Gradient(one, reads, takes_out=signature.takes_out, inplace=overwritten)
        if signature.takes_out and len(targets) > 1:
            raise DeclarationError(
                f"{signature.what} of all operands takes 'out'; return a pair, or declare one for each"
            )
        simple.gradients = tuple(gradients)


def simple_kernel_factory(function: Function, what: str) -> KernelFactory:
    """Makes operators that compute the forward value of a `SimpleOp` with `function` instead."""
    signature = read_signature(function, what)

    def make(prop: Any, ctx: Any, in_shapes: Any, in_types: Any) -> Any:
        simple = copy(prop.simple)
        if signature.takes_context:
            take_context(simple)
        order = [*([OP_CTX] if simple.takes_context else []), *simple.arguments, *simple.params]
        public = by_position(signature, simple.arguments, _only_scalar(simple))
        check_names(what, map(public, signature.names), order)
        simple.function = arranged(function, signature, order, public)
        simple.takes_out = signature.takes_out
        values = {name: getattr(prop, name) for name in simple.params}
        return simple_property(simple)(**values).create_operator(ctx, in_shapes, in_types)

    return make


def by_position(
    signature: Signature, arguments: Sequence[str], public: Callable[[str], str] = str
) -> Callable[[str], str]:
    """Public names of a signature whose first parameters are `arguments`, whatever it calls them."""
    own = [name for name in signature.names if name != OP_CTX]
    names = dict(zip(own, arguments, strict=False))
    return lambda name: names.get(name) or public(name)


def take_context(simple: SimpleOp) -> None:
    """Have every function of `simple` called with the context first, as one of them wants it."""
    if simple.takes_context:
        return
    simple.takes_context = True
    simple.function = _without_context(simple.function)
    simple.gradients = tuple(gradient and _taking_context(gradient) for gradient in simple.gradients)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A sequence, or one item, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _taking_context(gradient: Gradient) -> Gradient:
    function = _without_context(gradient.function)
    return Gradient(function, gradient.reads, takes_out=gradient.takes_out, inplace=gradient.inplace)


def _without_context(function: Function) -> Function:
    return lambda op_ctx, *values, **out: function(*values, **out)


def _item_of(function: Function, index: int) -> Function:
    return lambda *values: function(*values)[index]


def _only_scalar(simple: SimpleOp) -> Callable[[str], str]:
    """A kernel may call the one scalar what it likes."""
    if tuple(simple.params) != ("scalar",):
        return str
    return lambda name: name if name == OP_CTX else "scalar"


def _as_array(value: Any) -> Array:
    return value if hasattr(value, "dtype") else np.asarray(value)


def _empty_output(prop: OperatorProperty, op_ctx: OpContext, arrays: Sequence[Array]) -> Array:
    (shape,) = prop.infer_shape([array.shape for array in arrays])[1]
    (dtype,) = prop.infer_type([array.dtype for array in arrays])[1]
    return op_ctx.xp.empty(shape, dtype)
