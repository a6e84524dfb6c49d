"""Names, shapes and types of an operator, read off its shape line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from operad.dtypes import DType
from operad.first_use import cached_property, import_module
from operad.operator import InferredShapes, InferredTypes, PartialShape
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk.declare.names import Tensors
from operad_sdk.element_types import Accepts, check_accepted
from operad_sdk.errors import DeclarationError
from operad_sdk.shapes import BoundSpec, Spec, bind, parse


class ShapedProperty(CoreProperty):
    """A property whose names, shapes and types follow from a shape line; a class may write them out instead.

    Attributes:
        spec: A line of the shape language, or a method that returns one.
        functions: Functions of whole shapes that `spec` calls, by name.
        accepts: Element types that arguments may have: any, number, integer, floating, or a tuple of
            names; by argument, or for every argument of the common type, or for those of any type where
            no argument has the common one.
    """

    spec: Any = None
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    accepts: ClassVar[Accepts | Mapping[str, Accepts]] = "any"

    def __new__(cls, *args: Any, **params: Any) -> Any:
        """Make a property of parameters; given arrays or symbols as well, call the operator on them.

        An author tries an operator where it is declared, `my_op(x, alpha=2)`, before it has a package.
        """
        if not args:
            return super().__new__(cls)
        direct: Any = import_module("operad_sdk.declare.direct_call")  # which needs `od.nd` and `od.sym`
        return direct.call(cls, args, params)  # no instance of `cls`, so `__init__` is not called

    def list_arguments(self) -> list[str]:
        """The arguments of `spec`."""
        return super().list_arguments() if self.spec is None else [*self._names[0]]

    def list_outputs(self) -> list[str]:
        """The outputs of `spec`."""
        return super().list_outputs() if self.spec is None else [*self._names[1]]

    def list_auxiliary_states(self) -> list[str]:
        """The auxiliary states of `spec`."""
        return [] if self.spec is None else [*self._names[2]]

    @cached_property
    def _names(self) -> list[list[str]]:
        """Names of arguments, outputs and states, which are asked for again and again."""
        bound = self._bound
        return [
            [tensor.name for tensor in group] for group in (bound.arguments, bound.outputs, bound.auxiliary)
        ]

    def list_inputs(self) -> list[str]:
        """Arguments and states as `spec` has them."""
        return [tensor.name for tensor in self._bound.inputs] if self._has_spec else super().list_inputs()

    @property
    def num_visible_outputs(self) -> int:
        """The outputs of `spec` that are not hidden."""
        return self._bound.num_visible_outputs if self._has_spec else super().num_visible_outputs

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from `spec`."""
        return self._bound.infer_shape(in_shapes)

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Infer shapes from `spec` when the outputs are known as well."""
        if not self._has_spec:
            return super().infer_shape_backward(in_shapes, out_shapes)
        return self._bound.infer_shape_backward(in_shapes, out_shapes)

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Infer types from `spec`, where `accepts` admits the arguments' types."""
        inferred = self._bound.infer_type(in_types) if self._has_spec else super().infer_type(in_types)
        for (name, accepted), dtype in zip(self._accepted, inferred[0], strict=True):
            if dtype is not None and accepted is not None:
                check_accepted(self.name, name, dtype, accepted)
        if not self._has_spec:
            return inferred
        arguments, outputs, states = inferred
        for position, (tensor, dtype) in enumerate(zip(self._bound.outputs, outputs, strict=True)):
            if dtype is not None and tensor.type == "":
                outputs[position] = self.promote(dtype)
        return arguments, outputs, states

    def promote(self, dtype: DType) -> DType:
        """Type in which arguments of the common type `dtype` are computed, and type of the outputs."""
        return dtype

    @cached_property
    def _accepted(self) -> list[tuple[str, Accepts | None]]:
        """Names of the arguments, each with the types that it may have."""
        names, accepts = self.list_arguments(), self.accepts
        if isinstance(accepts, Mapping):
            return [(n, accepts.get(n) or accepts.get(n.rstrip("0123456789"))) for n in names]
        return [(n, accepts if position in self._accepting else None) for position, n in enumerate(names)]

    @cached_property
    def _accepting(self) -> frozenset[int]:
        """Positions of the arguments that `accepts` is about where it names none."""
        common = frozenset(range(len(self.list_arguments()))) - self.typed_arguments
        if common:
            return common
        return frozenset(i for i, t in enumerate(self._bound.arguments) if isinstance(t.type, str))

    @cached_property
    def typed_arguments(self) -> frozenset[int]:
        """Positions of the arguments that have a type of their own, such as indices."""
        if not self._has_spec:
            return frozenset()
        return frozenset(i for i, tensor in enumerate(self._bound.arguments) if tensor.type != "")

    @property
    def train_only_outputs(self) -> frozenset[int]:
        """Positions of the hidden outputs that may stay unwritten in prediction."""
        if not self._has_spec:
            return frozenset()
        names = {item.name for item in self._parsed.outputs if item.is_train_only}
        return frozenset(i for i, tensor in enumerate(self._bound.outputs) if tensor.name in names)

    @property
    def broadcast_arguments(self) -> frozenset[int]:
        """Positions of the arguments that may be repeated along axes, so that gradients are summed back."""
        return frozenset(range(len(self.list_arguments()))) if self._broadcasts else frozenset()

    @cached_property
    def _broadcasts(self) -> bool:
        return self._has_spec and any("broadcast(" in tensor.shape_text for tensor in self._bound.outputs)

    @cached_property
    def is_elementwise(self) -> bool:
        """True if all tensors have the same shape, of any number of axes."""
        tensors = (*self._bound.inputs, *self._bound.outputs) if self._has_spec else ()
        return bool(tensors) and {tensor.shape_text for tensor in tensors} == {"(...)"}

    @cached_property
    def tensors(self) -> Tensors:
        """The names of all tensors, as functions can use them."""
        arguments, states = tuple(self.list_arguments()), tuple(self.list_auxiliary_states())
        outputs, params = tuple(self.list_outputs()), tuple(type(self).params)
        if not self._has_spec:
            groups = {**_numbered(arguments), **_numbered(outputs)}
            shown = [_with_stems(names, groups) for names in (arguments, states, outputs)]
        else:
            spec, groups = self._parsed, self._bound.groups
            items = (spec.arguments, spec.auxiliary, spec.outputs)
            shown = [tuple(dict.fromkeys(item.name for item in group)) for group in items]
        visible = self.num_visible_outputs
        return Tensors(arguments, states, outputs, visible, groups, shown[0], shown[1], shown[2], params)

    @property
    def _has_spec(self) -> bool:
        return self.spec is not None

    @cached_property
    def _parsed(self) -> Spec:
        if self.spec is None:
            raise DeclarationError(f"{self.name}: there is no spec and no method in its place; give a spec")
        return parse(self.spec() if callable(self.spec) else self.spec)

    @cached_property
    def _bound(self) -> BoundSpec:
        spec = self._parsed
        values = {name: getattr(self, name) for name in spec.names if self._is_own_value(name)}
        return bind(spec, self.name, values | dict(self.functions))

    def _is_own_value(self, name: str) -> bool:
        if name in type(self).params:
            return True
        added = hasattr(type(self), name) and not hasattr(ShapedProperty, name)
        return added and not callable(getattr(type(self), name))


def _numbered(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The groups among names: arg0, arg1, ... are the group `arg`."""
    stems: dict[str, list[str]] = {}
    for name in names:
        stem = name.rstrip("0123456789")
        if stem != name and name == f"{stem}{len(stems.get(stem, []))}":
            stems.setdefault(stem, []).append(name)
    return {stem: tuple(members) for stem, members in stems.items()}


def _with_stems(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    stem_of = {member: stem for stem, members in groups.items() for member in members}
    return tuple(dict.fromkeys(stem_of.get(name, name) for name in names))
