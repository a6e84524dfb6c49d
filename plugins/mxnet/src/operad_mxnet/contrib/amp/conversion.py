"""Symbols with casts between half and single precision.

Source: python/mxnet/contrib/amp/amp.py and src/nnvm/low_precision_pass.cc. Differs: what an operator of
no list does with half precision is asked of its own inference; where that refuses, it is computed in
single precision.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, final

import operad
from operad import NDArray, Symbol
from operad.dtypes import DType, as_dtype
from operad.errors import ArgumentError, DTypeError, ParamError, ShapeError
from operad.graph import Entry, Graph, Node, OpNode, Variable, rewrite
from operad_mxnet.contrib.amp import precision

_HALF: Final = as_dtype("float16")
_SINGLE: Final = as_dtype("float32")
Conditions = Sequence[tuple[str, str, Sequence[str]]]


def convert_symbol(
    sym: Symbol,
    target_dtype: str = "float16",
    target_dtype_ops: Sequence[str] | None = None,
    fp32_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditions | None = None,
    excluded_sym_names: Sequence[str] | None = None,
    data_names: Sequence[str] | None = None,
    cast_optional_params: bool = False,
    scale_loss: bool = False,
) -> Symbol:
    """The symbol with casts, so that products are computed in half precision and what loses digits is not.

    Parameters stay in single precision, and so do their gradients and the optimizer's states.

    Args:
        target_dtype: `float16`.
        target_dtype_ops: Operators to compute in half precision; None: `list_lp16_ops()`.
        fp32_ops: Operators to compute in single precision; None: `list_fp32_ops()`.
        conditional_fp32_ops: Triples of an operator, a parameter and values with which it is computed in
            single precision; None: `list_conditional_fp32_ops()`.
        excluded_sym_names: Nodes to compute in single precision, whatever they are.
        data_names: Arguments that are data: they are cast with `cast_optional_params`, too.
        cast_optional_params: Whether parameters that products alone read are left without casts, for arrays
            of half precision.
        scale_loss: Whether gradients of losses are multiplied by a state, for `init_trainer`.

    Raises:
        ParamError: The type is another one, or a name is unknown.

    Source: convert_symbol, python/mxnet/contrib/amp/amp.py; `scale_loss` is operad's own.
    """
    rules = _rules_of(target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names)
    graph = Graph(sym.entries)
    rules.check_names(graph)
    whole = _only_multiplied(graph, rules) - set(data_names or ()) if cast_optional_params else set()
    return Symbol(_Conversion(rules, whole, scale_loss).of(graph).outputs)


def convert_model(
    sym: Symbol,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
    target_dtype: str = "float16",
    target_dtype_ops: Sequence[str] | None = None,
    fp32_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditions | None = None,
    excluded_sym_names: Sequence[str] | None = None,
    cast_optional_params: bool = False,
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """A model with casts: `convert_symbol`, and parameters for it.

    With `cast_optional_params` parameters that products alone read are of half precision, and their file has
    half the size; else all stay as they are.

    Source: convert_model, python/mxnet/contrib/amp/amp.py.
    """
    rules = _rules_of(target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names)
    graph = Graph(sym.entries)
    rules.check_names(graph)
    whole = _only_multiplied(graph, rules) & arg_params.keys() if cast_optional_params else set()
    converted = Symbol(_Conversion(rules, whole, False).of(graph).outputs)
    return converted, _in_half(arg_params, whole), dict(aux_params)


def convert_bucketing_module(
    bucketing_mod: Any,
    target_dtype: str = "float16",
    target_dtype_ops: Sequence[str] | None = None,
    fp32_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditions | None = None,
    excluded_sym_names: Sequence[str] | None = None,
    cast_optional_params: bool = False,
) -> Any:
    """A `BucketingModule` with casts in the symbol of every bucket, and parameters for them, to be bound.

    Args:
        bucketing_mod: Bound, with parameters; it stays as it is.
        cast_optional_params: Whether parameters become halves that products alone read, in each of the
            buckets bound so far. The other arguments are those of `convert_symbol`.

    Raises:
        ArgumentError: `bucketing_mod` is another module.
        ModuleStateError: It is not bound, or has no parameters.
        ParamError: As of `convert_symbol`.

    Source: convert_bucketing_module, python/mxnet/contrib/amp/amp.py. Differs: buckets that come later have
    casts, too; MXNet gives those of before the conversion alone, whatever comes later the symbol without.
    """
    if not isinstance(bucketing_mod, operad.mod.BucketingModule):
        raise ArgumentError(
            f"amp.convert_bucketing_module: got a {type(bucketing_mod).__name__}, expected a "
            "BucketingModule; of a Module, give its symbol and parameters to convert_model"
        )
    bucketing_mod._need("amp.convert_bucketing_module", params=True)
    rules = _rules_of(target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names)
    graphs = [Graph(bucket.symbol.entries) for bucket in bucketing_mod._buckets.values()]
    rules.check_names(*graphs)
    arg_params, aux_params = bucketing_mod.get_params()
    whole = set(arg_params) if cast_optional_params else set()
    for graph in graphs:
        others = {node.name for node in graph.nodes if isinstance(node, Variable)} - _only_multiplied(
            graph, rules
        )
        whole -= others

    def generate(key: Any) -> tuple[Symbol, Any, Any]:
        symbol, data_names, label_names = bucketing_mod._sym_gen(key)
        converted = _Conversion(rules, whole, False).of(Graph(symbol.entries))
        return Symbol(converted.outputs), data_names, label_names

    return operad.mod.BucketingModule.load_dict(
        sym_gen=generate,
        default_bucket_key=bucketing_mod._default_bucket_key,
        arg_params=_in_half(arg_params, whole),
        aux_params=aux_params,
        **bucketing_mod._arguments,
    )


def _in_half(params: Mapping[str, NDArray], names: Collection[str]) -> dict[str, NDArray]:
    return {name: array.astype("float16") if name in names else array for name, array in params.items()}


def _rules_of(
    target_dtype: str,
    half: Sequence[str] | None,
    single: Sequence[str] | None,
    conditions: Conditions | None,
    excluded: Sequence[str] | None,
) -> _Rules:
    precision.check_type(target_dtype)
    return _Rules(
        _canonical(precision.list_lp16_ops() if half is None else half),
        _canonical(precision.list_fp32_ops() if single is None else single),
        _canonical(precision.list_widest_type_cast()),
        precision.list_conditional_fp32_ops() if conditions is None else conditions,
        frozenset(excluded or ()),
    )


@final
class _Rules:
    """Precision of operators, by canonical names."""

    def __init__(
        self,
        half: Collection[str],
        single: Collection[str],
        widest: Collection[str],
        conditions: Conditions,
        excluded: Collection[str],
    ) -> None:
        self.widest = widest
        self._half, self._single, self._excluded, self._conditions = half, single, excluded, conditions

    def check_names(self, *graphs: Graph) -> None:
        """Raise ParamError where a node that is named is not there."""
        names = {node.name for graph in graphs for node in graph.nodes}
        if unknown := sorted(set(self._excluded) - names):
            raise ParamError(
                f"amp: excluded_sym_names has {unknown[0]!r}, and no node of the symbol is called so"
            )

    def is_half(self, node: OpNode) -> bool:
        """Return whether a node is computed in half precision."""
        return node.op.name in self._half and node.name not in self._excluded

    def is_single(self, node: OpNode) -> bool:
        """Return whether a node is computed in single precision."""
        if node.name in self._excluded or node.op.name in self._single:
            return True
        return any(
            node.op.name == name and str(getattr(node.op, parameter, None)) in values
            for name, parameter, values in self._conditions
        )


@final
class _Conversion:
    """The casts of one graph."""

    def __init__(self, rules: _Rules, uncast: Collection[str], scales: bool) -> None:
        self._rules = rules
        self._uncast = uncast
        self._scales = scales
        self._losses = frozenset(precision.list_loss_output_functions())
        self._half: set[Entry] = set()
        self._casts: dict[tuple[Entry, str], Entry] = {}

    def of(self, graph: Graph) -> Graph:
        """The graph with casts."""
        self._half |= {Entry(node) for node in graph.nodes if node.name in self._uncast}
        return rewrite(graph, self._visit)

    def _visit(self, _: Node, node: Node) -> list[Entry] | None:
        if not isinstance(node, OpNode):
            return None
        args = node.args
        made = self._converted(node, args)
        if self._scales and node.op.name in self._losses:
            made = [self._scaled(made[0], node.name), *made[1:]]
        if made != args:
            node = OpNode(node.op, node.name, [*made, *node.aux], dict(node.attrs))
        if any(entry in self._half for entry in made):
            outputs = node.op.infer_type(self._types(made))[1]
            self._half |= {Entry(node, i) for i, dtype in enumerate(outputs) if dtype == _HALF}
        return None if made == args else node.entries

    def _converted(self, node: OpNode, args: list[Entry]) -> list[Entry]:
        if self._rules.is_half(node):
            return [self._to_half(entry) for entry in args]
        if not any(entry in self._half for entry in args):
            return args
        if self._rules.is_single(node):
            return [self._to_single(entry) for entry in args]
        if all(entry in self._half for entry in args):
            return args
        if node.op.name in self._rules.widest or not self._takes(node, args):
            return [self._to_single(entry) for entry in args]
        return args

    def _takes(self, node: OpNode, args: Sequence[Entry]) -> bool:
        """Return whether an operator takes some arguments of half precision and others of single."""
        try:
            node.op.infer_type(self._types(args))
        except (DTypeError, ShapeError):
            return False
        return True

    def _types(self, args: Sequence[Entry]) -> list[DType | None]:
        return [_HALF if entry in self._half else _SINGLE for entry in args]

    def _to_half(self, entry: Entry) -> Entry:
        if entry in self._half:
            return entry
        made = self._cast(entry, "float16")
        self._half.add(made)
        return made

    def _to_single(self, entry: Entry) -> Entry:
        return self._cast(entry, "float32") if entry in self._half else entry

    def _cast(self, entry: Entry, dtype: str) -> Entry:
        found = self._casts.get((entry, dtype))
        if found is None:
            op = operad.registry.get("amp_cast")(dtype=dtype)
            found = Entry(OpNode(op, f"{entry.name}_amp_cast_{dtype}", [entry], {"dtype": dtype}))
            self._casts[entry, dtype] = found
        return found

    def _scaled(self, entry: Entry, loss: str) -> Entry:
        name = f"{loss}_amp_scale"
        op = operad.registry.get("_amp_scale_gradient")()
        state = Variable(f"{name}_scale", (), {"__init__": op.initializers["scale"]})
        return Entry(OpNode(op, name, [entry, Entry(state)]))


def _canonical(names: Sequence[str]) -> frozenset[str]:
    known = set(operad.registry.list_operators())
    if unknown := [name for name in names if name not in known]:
        operad.registry.get(unknown[0])  # its error suggests a name
    return frozenset(operad.registry.get(name).name for name in names)


def _only_multiplied(graph: Graph, rules: _Rules) -> set[str]:
    """Variables that are read by operators in half precision, and by no other."""
    read: dict[str, list[bool]] = {}
    for node in graph.nodes:
        if isinstance(node, OpNode):
            for entry in node.inputs:
                if isinstance(entry.node, Variable):
                    read.setdefault(entry.node.name, []).append(rules.is_half(node))
    return {name for name, by_products in read.items() if all(by_products)}
