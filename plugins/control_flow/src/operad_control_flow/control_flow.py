"""Common part of the operators that run subgraphs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, final

from operad.dtypes import DType
from operad.errors import ParamError
from operad.graph import Graph
from operad.operator import (
    InferredShapes,
    InferredTypes,
    OperatorProperty,
    PartialShape,
    ResourceRequest,
    Shape,
    param,
)
from operad_control_flow.rules import SHAPES, TYPES, Rules
from operad_control_flow.subgraph import Subgraph
from operad_sdk import Contract


@final
class Source(NamedTuple):
    """Origin of an input of a subgraph.

    Attributes:
        argument: Number of the operator's argument.
        is_sliced: Whether it is a slice of that, along the first axis.
    """

    argument: int
    is_sliced: bool = False


class ControlFlow(OperatorProperty):
    """An operator over subgraphs.

    Its arguments are arrays alone; `num_args` counts the subgraphs too, as MXNet does.

    Attributes:
        parts: The subgraphs.
        sources: For each subgraph, what its inputs are.
    """

    is_stateful: ClassVar[bool] = True
    contract: ClassVar[Contract] = Contract(
        completed_by_programs="a program gives it the graphs that it runs; the tests check nodes with graphs"
    )

    num_args = param(int, ge=1, doc="Number of subgraphs and arrays together.")
    num_outputs = param(int, ge=1, doc="Number of outputs.")

    sources: list[list[Source]]

    def __init__(self, subgraphs: Sequence[Graph] = (), **params: Any) -> None:
        super().__init__(**params)
        if len(subgraphs) != self.num_subgraphs:
            raise ParamError(
                f"{self.name}: got {len(subgraphs)} subgraphs, expected {self.num_subgraphs}; "
                f"sym.contrib.{self.name.lstrip('_')} makes such operators"
            )
        self.subgraphs = tuple(subgraphs)
        self.parts = [Subgraph(graph) for graph in subgraphs]

    def list_arguments(self) -> list[str]:
        """`data0`, `data1`, ..."""
        return [f"data{number}" for number in range(self.num_args - self.num_subgraphs)]

    def list_outputs(self) -> list[str]:
        """`output0`, `output1`, ...; `output` where it is the only one."""
        return (
            [f"output{number}" for number in range(self.num_outputs)] if self.num_outputs > 1 else ["output"]
        )

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """Head gradients, and the arguments, from which `backward` may compute all steps again."""
        return [*out_grad, *in_data]

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """A random generator, if an operator of a subgraph wants one: it gives the seed of theirs."""
        pairs = zip(self.parts, self.seen(in_shapes, SHAPES), strict=True)
        draws = any(part.draws_random_numbers(shapes) for part, shapes in pairs)
        return [ResourceRequest.RANDOM] if draws else []

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Complete shapes by those inside the subgraphs."""
        ins, outs = self._inferred(list(in_shapes), SHAPES)
        return ins, outs, []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Complete types by those inside the subgraphs."""
        ins, outs = self._inferred(list(in_types), TYPES)
        return ins, outs, []

    def _inferred(self, ins: list[Any], rules: Rules) -> tuple[list[Any], list[Any]]:
        """Facts of arguments and outputs, from what is known of the arguments; rounds go on as they learn."""
        while True:
            found, outs = list(ins), []
            length = self.length(ins, rules)
            for part, sources, seen in zip(self.parts, self.sources, self.seen(ins, rules), strict=True):
                known, out = rules.of(part, seen)
                outs.append(out)
                for (argument, is_sliced), fact in zip(sources, known, strict=True):
                    known_whole = found[argument]
                    whole = rules.of_sliced(fact, known_whole, length) if is_sliced else fact
                    found[argument] = rules.same(whole, known_whole, f"data{argument}")
            results = self.outputs_of(found, outs, length, rules)
            if found == ins:
                return ins, results
            ins = found

    def seen(self, facts: Sequence[Any], rules: Rules) -> list[list[Any]]:
        """For each subgraph, the facts of its inputs."""
        return [
            [
                rules.of_slice(facts[argument]) if is_sliced else facts[argument]
                for argument, is_sliced in sources
            ]
            for sources in self.sources
        ]

    def length(self, ins: Sequence[Any], rules: Rules) -> int | None:
        """Number of slices, or of rows of stacked outputs, where it is known."""
        return None

    @abstractmethod
    def outputs_of(
        self, ins: list[Any], outs: Sequence[Sequence[Any]], length: int | None, rules: Rules
    ) -> list[Any]:
        """Facts of the outputs.

        Args:
            ins: Facts of the arguments; to be completed by what follows from `outs`.
            outs: Facts of the outputs of each subgraph.
            length: See `length`.
        """

    def check_numbers(self, name: str, numbers: Iterable[int], what: str, count: int) -> None:
        """Refuse numbers that a file got wrong: each names another one of `count` things.

        Args:
            name: The parameter that has them.
            what: What they count, in the plural.
        Raises:
            ParamError: One is out of range, or comes twice.
        """
        given = list(numbers)
        if len(set(given)) < len(given) or any(not 0 <= number < count for number in given):
            raise ParamError(f"{self.name}: {name} is {given}, expected different numbers of {count} {what}")

    def sources_from(self, name: str, part: Subgraph) -> list[Source]:
        """The sources of a subgraph, of which a parameter says the argument that each input is.

        Raises:
            ParamError: It has a number that is none of an argument, or as many as there are no inputs.
        """
        arguments = getattr(self, name)
        self.check_numbers(name, arguments, "arguments", len(self.list_arguments()))
        if len(arguments) != len(part.names):
            raise ParamError(
                f"{self.name}: {name} has {len(arguments)} items, expected {len(part.names)}, one per input"
            )
        return [Source(argument) for argument in arguments]
