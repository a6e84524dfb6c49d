"""`OperatorProperty` that a declaration becomes, read off a shape line and functions.

::

    @operator("FullyConnected")
    class FullyConnected(OperatorProperty):
        num_hidden = param(int, ge=1)
        no_bias = param(bool, False)
        spec = (
            "data:(N, D), weight:(num_hidden, D), bias:(num_hidden) if not no_bias"
            " -> output:(N, num_hidden)"
        )

        def forward(data, weight, bias):
            return data @ weight.T + (0 if bias is None else bias)

        def data_grad(output_grad, weight):
            return output_grad @ weight

        def weight_grad(output_grad, data):
            return output_grad.T @ data

        def bias_grad(output_grad):
            return output_grad.sum(0)

`@unary` and `@binary` make an operator of one function. `operad_sdk.declare.names` lists the names that
functions can take; `operad_sdk.declare.function_runner` stores the values that functions fill or return.
Each method of the contract that is not written follows from these; each can be written out instead, and
then counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar, Unpack, overload

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.first_use import cached_property, import_module
from operad.operator import BackwardEntry, Cost, Kernel, Operator, Param, ScalarForm, Shape, moved_bytes
from operad.operator import OperatorProperty as CoreProperty
from operad.resource import ResourceRequest
from operad_sdk.contract import NO_DECLARATIONS, Contract
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.binding import BoundFunctions, bind
from operad_sdk.declare.element_cost import REPEATED, call_us, check_cost, element_cost
from operad_sdk.declare.function import Declared, split_pairs
from operad_sdk.declare.kernels import kernel
from operad_sdk.declare.marks import GradientOptions, is_gradient, mark_of, mark_with
from operad_sdk.declare.meanings import check_function, check_names, names_without_signature
from operad_sdk.declare.names import IN_DATA, OUT_DATA, OUT_GRAD
from operad_sdk.declare.scalar import typed_scalar
from operad_sdk.declare.shaped import ShapedProperty
from operad_sdk.errors import DeclarationError
from operad_sdk.form_kernels import kernels_of
from operad_sdk.shapes import parse

if TYPE_CHECKING:
    from operad_sdk.declare.number_forms import NumberForms

F = TypeVar("F", bound=Callable[..., Any])

_KINDS: Final = (OUT_GRAD, IN_DATA, OUT_DATA)

# Imported when they are asked for: the tracer is twenty modules, which most programs never need.
_TRACED_GRADIENT: Final = "operad_sdk.declare.traced_gradient"
_SCALAR_FORM: Final = "operad_sdk.declare.scalar_form"


class OperatorProperty(ShapedProperty):
    """The core's `OperatorProperty`, with the contract read off the class: shapes too, see `ShapedProperty`.

    Attributes:
        device: Where `forward` and the gradients run: `"any"` for code that uses only functions
            which dispatch on their arrays, else `"cpu"` or `"gpu"`.
        compute_dtype: The type in which half precision is computed: arrays of float16 reach the
            functions as this, and what is computed is cast back. None: in half precision.
        integers_as: The type in which integers and bool are computed, as `compute_dtype`; results are rounded
            towards zero. None: in their own. (Gradients of integers are always computed in float64; where
            the operator works element by element, the slope is rounded, and then multiplied.)
        is_flat_for_integers: Whether gradients are zero where the arguments are integers.
        scalar_beyond: What becomes of a `scalar` that the integer type of the arrays cannot hold: it is
            wrapped around as C does, or kept as it is for a function that can use it.
        inplace: What `forward` may overwrite with what: `"data -> output"`, several after commas.
        element_cost: What an element of the largest array costs beside being moved, in operations of loops
            (half a nanosecond each). None: what a table says of the ufunc, or of the mapper; else little.
        constant_outputs: Outputs whose slope by every argument is 0, such as what is drawn at random, or a
            sign: gradients of gradients take them for constants.
        unknown_slopes: Reason why the slopes of hidden outputs that a gradient reads are not computed: the
            error of gradients of gradients.
        gradient_is_derivative: False where gradients are no derivatives of the outputs, and have none.
        linear_in: Arguments in each of which the one output is linear, but for what other arguments add. Then
            gradients of their gradients are the operator and these once more: of a convolution
            `("data", "weight")`.
        items: Arguments whose first axis, as the outputs', counts items that are computed apart.
        by_numpy: True: the functions run as they are written, whatever the size of a call; False: where their
            scalar forms are faster, these compute it in vector code (`operad_sdk.form_kernels`).
        contract: Declarations for the contract checks; nothing that an operator computes depends on them.
    """

    device: ClassVar[str] = "any"
    compute_dtype: ClassVar[str | None] = None
    integers_as: ClassVar[str | None] = None
    is_flat_for_integers: ClassVar[bool] = False
    scalar_beyond: ClassVar[Literal["wrap", "keep"]] = "wrap"
    inplace: ClassVar[str | Sequence[str]] = ()
    element_cost: ClassVar[float | None] = None
    constant_outputs: ClassVar[Sequence[str]] = ()
    unknown_slopes: ClassVar[str] = ""
    gradient_is_derivative: ClassVar[bool] = True
    linear_in: ClassVar[Sequence[str]] = ()
    items: ClassVar[Sequence[str]] = ()
    by_numpy: ClassVar[bool] = False
    resource: ClassVar[ResourceRequest | Sequence[ResourceRequest]] = ()
    contract: ClassVar[Contract] = NO_DECLARATIONS
    aliases: ClassVar[dict[str, str]] = {}

    traced_modes: tuple[bool, ...] = (True, False)  # in which a trace has to be the same
    _forward_function: ClassVar[Declared | None] = None
    _gradient_functions: ClassVar[dict[str, Declared]] = {}
    _bindings: ClassVar[dict[Any, BoundFunctions]] = {}
    _forms: ClassVar[dict[Any, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        lists_kernels = "kernels" in vars(cls)
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__:
            if isinstance(vars(base).get("kernel"), Param):
                # MXNet's convolutions have a parameter `kernel`; on the class the name is the decorator's.
                delattr(base, "kernel")
        cls._bindings = {}
        cls._forms = {}
        cls._read_functions()
        check_cost(cls.name, cls.element_cost)
        if isinstance(cls.spec, str):
            spec = parse(cls.spec)
            check_names(cls, spec)
            if any(item.condition is not None for item in spec.inputs):
                cls.optional_inputs = tuple(dict.fromkeys(item.name for item in spec.inputs))
        if cls._forward_function is not None and not lists_kernels:
            cls.kernels.append(Kernel(f"{cls.name}.forward", _own_operator, cls.device))

    @classmethod
    def rename(cls, name: str) -> None:
        """Call the operator `name`, which is not the class's own."""
        cls._bindings = {}  # whose kernels bear the name
        old, cls.name = cls.name, name
        cls.kernels = [own._replace(name=f"{name}.{own.name.partition('.')[2]}") for own in cls.kernels]
        renamed = {key: declared.renamed(old, name) for key, declared in cls._gradient_functions.items()}
        cls._gradient_functions = renamed
        if cls._forward_function is not None:
            cls._forward_function = cls._forward_function.renamed(old, name)

    @classmethod
    def _read_functions(cls) -> None:
        """Find `forward` and the gradients among the class's attributes, inherited ones first."""
        aliases = tuple(cls.aliases.items())
        for base in reversed(cls.__mro__):
            for name, value in list(vars(base).items()):
                function = value.__func__ if isinstance(value, staticmethod) else value
                if issubclass(base, CoreProperty) and not issubclass(base, OperatorProperty):
                    continue
                if name == "forward" and callable(function):
                    pairs = split_pairs(cls.inplace)
                    what = f"{cls.name}.forward"
                    names = names_without_signature(cls, function)
                    cls._forward_function = Declared(function, what, (), pairs, aliases=aliases, names=names)
                elif is_gradient(name, function):
                    mark = mark_of(name, function)
                    declared = Declared(function, f"{cls.name}.{name}", *mark, aliases)
                    cls._gradient_functions = {**cls._gradient_functions, name: declared}
        if cls._forward_function is not None and "has_gradient" not in vars(cls):
            cls.has_gradient = bool(cls._gradient_functions)

    @overload
    @classmethod
    def gradient(cls, function: F, /) -> F: ...

    @overload
    @classmethod
    def gradient(cls, *of: str, **options: Unpack[GradientOptions]) -> Callable[[F], F]: ...

    @classmethod
    def gradient(cls, *of: Any, **options: Unpack[GradientOptions]) -> Any:
        """Declare a gradient beside the operator; arguments as for `operad_sdk.gradient`.

        Raises:
            DeclarationError: It names what is not there, or computes what another one does.
        """
        if len(of) == 1 and callable(of[0]):
            return cls.gradient()(of[0])
        public = dict(cls.aliases)
        mark = mark_with([public.get(name, name) for name in of], **options)

        def declare(function: F) -> F:
            own = getattr(function, "__name__", "_")
            what = f"{cls.name}.{own if own.isidentifier() and own != '_' else 'gradient'}"
            names = names_without_signature(cls, function)
            declared = Declared(function, what, *mark.named(own), tuple(cls.aliases.items()), names)
            known = cls._gradient_functions
            cls._gradient_functions = {**known, f"{own}{len(known)}": declared}
            cls._bindings = {}
            cls._forms = {}
            cls.has_gradient = True
            if isinstance(cls.spec, str):
                check_function(cls, declared, parse(cls.spec))
            return function

        return declare

    @classmethod
    def kernel(cls, *of: str, **options: Any) -> Callable[[F], F]:
        """Add another way to compute this operator, or parts of it. See `operad_sdk.kernel`."""
        return kernel(cls, *of, **options)

    @property
    def inplace_names(self) -> list[tuple[str, ...]]:
        """Names in every `inplace` declaration, for checks."""
        functions = [self._forward_function, *self._gradient_functions.values()]
        pairs = [pair for declared in functions if declared is not None for pair in declared.inplace]
        return [tuple(name.strip() for name in pair.split("->")) for pair in pairs]

    def param_values(self) -> tuple[Any, ...]:
        """The parameters in declared order."""
        return tuple(getattr(self, name) for name in type(self).params)

    def function_params(self, in_types: Sequence[DType]) -> tuple[Any, ...]:
        """The parameters as functions get them: one called `scalar` has the first argument's type.

        Raises:
            ParamError: The type cannot hold the scalar.
        """
        return self._typed(type(self).params, self.param_values(), in_types)

    def typed_run_time(self, values: Sequence[Any], in_types: Sequence[DType]) -> tuple[Any, ...]:
        """Values of all run-time parameters as functions get them; raises as `function_params`."""
        return self._typed(type(self).params.run_time, values, in_types)

    def _typed(
        self, names: Iterable[str], values: Sequence[Any], in_types: Sequence[DType]
    ) -> tuple[Any, ...]:
        if "scalar" not in type(self).params or not in_types:
            return tuple(values)
        return tuple(
            typed_scalar(self, value, in_types) if name == "scalar" and value is not None else value
            for name, value in zip(names, values, strict=True)
        )

    def differentiable_inputs(self) -> list[bool]:
        """The arguments whose gradients are computed."""
        if self.has_gradient and not self._gradient_functions:
            return super().differentiable_inputs()
        computed = {position for bound in self.binding.gradients for position in bound.targets}
        return [position in computed for position in range(len(self.list_arguments()))]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """Entries that the gradients together read."""
        if self.has_gradient and not self._gradient_functions:
            return super().declare_backward_dependency(out_grad, in_data, out_data)
        reads = frozenset[BackwardEntry]().union(*(bound.reads for bound in self.binding.gradients))
        groups = {OUT_GRAD: out_grad, IN_DATA: in_data, OUT_DATA: out_data}
        return [groups[kind][index] for kind, index in _in_order(reads)]

    def backward_dependency(self, wanted: Sequence[bool]) -> list[BackwardEntry]:
        """Entries read by the functions that compute a wanted gradient."""
        if self.has_gradient and not self._gradient_functions:
            return super().backward_dependency(wanted)
        used = [bound for bound in self.binding.gradients if any(wanted[i] for i in bound.targets)]
        return _in_order(frozenset[BackwardEntry]().union(*(bound.reads for bound in used)))

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> CoreProperty:
        """The declared gradients as an operator, whose own gradient is found by tracing them."""
        if not self._gradient_functions:
            return super().gradient_operator(ctx, in_shapes, in_types, wanted)
        traced: Any = import_module(_TRACED_GRADIENT)
        return traced.gradient_operator(self, ctx, in_shapes, in_types, wanted)  # type: ignore[no-any-return]

    def derived_kernels(self) -> Sequence[Kernel]:
        """A kernel in vector code beside each of the operator's own functions."""
        listed = type(self).kernels
        if self.by_numpy or not listed or listed[0].factory is not _own_operator:
            return ()
        if not self.binding.derived:
            self.binding.derived[:] = kernels_of(self)
        return self.binding.derived

    def scalar_form(
        self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> ScalarForm | str:
        """Scalar form of a part, found by tracing its function once for each signature."""
        if self._forward_function is None or (part != "forward" and not self._gradient_functions):
            return super().scalar_form(part, in_shapes, in_types)
        traced: Any = import_module(_SCALAR_FORM)
        return traced.scalar_form(self, part, in_shapes, in_types, self._forms)  # type: ignore[no-any-return]

    def number_forms(
        self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> NumberForms | None:
        """Forms of a part for all values of its run-time parameters; None where it has none of these."""
        if not type(self).params.run_time or type(self).scalar_form is not OperatorProperty.scalar_form:
            return None
        traced: Any = import_module("operad_sdk.declare.number_forms")
        return traced.number_forms(self, part, in_shapes, in_types, self._forms)  # type: ignore[no-any-return]

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """Pairs of `inplace` whose arrays exist."""
        if self._forward_function is None:
            return []
        return [(in_data[entry.index], out_data[target]) for entry, target in self.binding.forward.inplace]

    def backward_inplace_option(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any], in_grad: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The pairs that the gradients declare, where no later gradient reads the array."""
        groups = {OUT_GRAD: out_grad, IN_DATA: in_data, OUT_DATA: out_data}
        pairs = []
        read_later: set[BackwardEntry] = set()
        # invariant: gradients run in this order, so only a later one can find its input overwritten
        for bound in reversed(self.binding.gradients):
            pairs += [
                (groups[entry.kind][entry.index], in_grad[target])
                for entry, target in bound.inplace
                if entry not in read_later
            ]
            read_later |= bound.reads
        return pairs

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """The class's `resource`."""
        return list(self.resource) if isinstance(self.resource, Sequence) else [self.resource]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float | Cost:
        """The elements of the outputs, or of the largest argument, and the bytes of all arrays."""
        function = self._forward_function.function if self._forward_function is not None else None
        loops = element_cost(function) if self.element_cost is None else self.element_cost
        if isinstance(function, np.ufunc) and len(set(in_shapes)) > 1:
            loops += REPEATED
        size = max([sum(map(prod, out_shapes)), *map(prod, in_shapes)])
        moved = moved_bytes([*in_shapes, *out_shapes])
        return Cost(loops * size, size_bytes=moved, beside_us=call_us(function))

    @cached_property
    def binding(self) -> BoundFunctions:
        """Functions for these parameters, with their names looked up."""
        counted = tuple(name for name, each in self._gradient_functions.items() if each.counts_for(self))
        tensors = self.tensors
        key = (tensors._replace(groups=tuple(tensors.groups.items())), counted)  # type: ignore[arg-type]
        found = self._bindings.get(key)
        if found is None:
            if self._forward_function is None:
                raise DeclarationError(f"{self.name} computes nothing; give it a function forward(...)")
            gradients = [self._gradient_functions[name] for name in counted]
            found = self._bindings[key] = bind(tensors, self._forward_function, gradients)
        return found


def _own_operator(
    prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> Operator:
    binding = prop.binding
    return BoundOperator(prop, ctx, in_shapes, in_types, forward=binding.forward, gradients=binding.gradients)


def _in_order(entries: frozenset[BackwardEntry]) -> list[BackwardEntry]:
    """Gradients of outputs, then arguments, then output values, as `declare_backward_dependency` has them."""
    return sorted(entries, key=lambda entry: (_KINDS.index(entry.kind), entry.index))
