"""Blocks that are computed by arrays or by symbols, and so can be compiled.

Source: HybridBlock, python/mxnet/gluon/block.py. Differs: the settings of memory (`static_alloc`, ...) mean
nothing, since memory is planned for each kind of call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import operad as od
from operad import NDArray, Symbol
from operad.errors import OperadError, UnsupportedError
from operad_gluon.block.block import Block
from operad_gluon.block.cached_graph import CachedGraph
from operad_gluon.block.nested import flatten, regroup
from operad_gluon.errors import BlockValueError, DeferredInitializationError, UninitializedError
from operad_gluon.parameter import ParameterDict


class HybridBlock(Block):
    """A block whose `hybrid_forward` computes with arrays or with symbols alike.

    After `hybridize()` the block runs as a compiled function (`operad.compile`): one program for each kind of
    inputs, and one node of the tape.

    >>> import operad as od
    >>> class Net(od.gluon.HybridBlock):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.hidden = od.gluon.nn.Dense(4)
    ...     def hybrid_forward(self, F, x):
    ...         return F.relu(self.hidden(x))
    >>> net = Net()
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(od.nd.ones((2, 3))).shape
    (2, 4)
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._active = False
        self._cached_graph: tuple[list[Symbol], Symbol] | tuple[()] = ()
        self._cached_op: CachedGraph | None = None
        self._op_hook: tuple[Any, bool] = (None, False)
        self._in_format: Any = None
        self._out_format: Any = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, HybridBlock):
            self._clear_cached_op()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_cached_op": None}  # a copy compiles again

    def _clear_cached_op(self) -> None:
        self._cached_graph, self._cached_op = (), None

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block a child.

        Raises:
            BlockValueError: It is no HybridBlock.
        """
        if not isinstance(block, HybridBlock):
            raise BlockValueError(
                f"Children of HybridBlock must also be HybridBlock, but {block!r} has type {type(block)}. "
                "If you are using Sequential, please try HybridSequential instead."
            )
        super().register_child(block, name)
        self._clear_cached_op()

    def hybridize(
        self,
        active: bool = True,
        backend: str | None = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Run as a compiled function from the next call on, or no longer.

        Args:
            active: Whether to.
            backend: MXNet's name of a partitioner; there is none here.
            clear: Whether programs that were compiled are dropped.
            static_alloc: Taken and not used, as are the following: memory is planned for each kind of call.
        Raises:
            UnsupportedError: A backend is named.
        """
        if backend is not None:
            raise _no_backend(self.name, backend)
        self._active = active
        if clear:
            self._clear_cached_op()
        super().hybridize(active)

    def optimize_for(
        self,
        x: Any,
        *args: Any,
        backend: str | None = None,
        clear: bool = False,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Refuse: MXNet's partitioners are not here; `hybridize()` fuses what it compiles.

        Raises:
            ValueError: No backend is named.
            UnsupportedError: One is named.
        """
        if backend is None:
            raise ValueError('Must specify "backend" to optimize_for')
        raise _no_backend(self.name, backend)

    def cast(self, dtype: Any) -> None:
        """Convert parameters to another type."""
        self._clear_cached_op()
        super().cast(dtype)

    def _graph_of(self, args: Any) -> tuple[list[Symbol], Symbol]:
        """Inputs and outputs as symbols, for arguments of this structure."""
        if not self._cached_graph:
            leaves, self._in_format = flatten(args, "input")
            names = ["data"] if len(leaves) == 1 else [f"data{i}" for i in range(len(leaves))]
            inputs = [None if x is None else od.sym.var(n) for x, n in zip(leaves, names, strict=True)]
            grouped = regroup(inputs, self._in_format)
            params = {name: param.var() for name, param in self._reg_params.items()}
            with self.name_scope():
                outputs = self.hybrid_forward(od.sym, *grouped, **params)
            found, self._out_format = flatten(outputs, "output")
            symbol = found[0] if len(found) == 1 else od.sym.Group(found)
            self._cached_graph = [x for x in inputs if x is not None], symbol
        return self._cached_graph

    def _infer(self, args: Any, what: str) -> None:
        """Tell the parameters' shapes, or types, from those of arguments."""
        inputs, symbol = self._graph_of(args)
        pairs = zip(inputs, (leaf for leaf in flatten(args, "input")[0] if leaf is not None), strict=True)
        given: dict[str, Any] = {str(x.name): getattr(leaf, what) for x, leaf in pairs}
        infer: Any = symbol.infer_shape if what == "shape" else symbol.infer_type
        found, _, states = infer(**given)
        names = [*symbol.list_arguments(), *symbol.list_auxiliary_states()]
        known = dict(zip(names, [*found, *states], strict=True))
        for name, param in self.collect_params().items():
            if name in known:
                value = known[name]
                setattr(param, what, value if what == "shape" else np.dtype(value).type)

    def infer_shape(self, *args: Any) -> None:
        """Tell shapes of parameters from those of inputs."""
        self._infer(args, "shape")

    def infer_type(self, *args: Any) -> None:
        """Tell types of parameters from those of inputs."""
        self._infer(args, "dtype")

    def _finish_deferred(self, args: Any, params: Any) -> None:
        """Initialize parameters whose shapes the inputs tell.

        Raises:
            BlockValueError: They do not tell.
        """
        try:
            self.infer_shape(*args)
        except OperadError as error:
            raise BlockValueError(
                f"Deferred initialization failed because shape cannot be inferred: {error} (block "
                f"{self.name!r}, inputs "
                f"of {', '.join(str(getattr(x, 'shape', x)) for x in flatten(args, 'input')[0])})"
            ) from error
        for param in params.values():
            param._finish_deferred_init()

    def _call_cached_op(self, *args: Any) -> Any:
        leaves, form = flatten(args, "input")
        if self._cached_op is None:
            inputs, symbol = self._graph_of(args)
            self._cached_op = CachedGraph(
                self.name, [str(x.name) for x in inputs], symbol, self.collect_params()
            )
            self._cached_op.register_op_hook(*self._op_hook)
        if form != self._in_format:
            raise BlockValueError(
                f"The argument structure of HybridBlock {self.name!r} does not match the cached version. "
                f"Stored format = {self._in_format}, input format = {form}; pass arguments as in the first "
                "call, or hybridize() again"
            )
        if -1 in form or not all(isinstance(x, NDArray) for x in leaves):
            leaves = self._arrays(leaves)
        try:
            outputs = self._cached_op(leaves)
        except DeferredInitializationError:
            self._finish_deferred(args, self.collect_params())
            outputs = self._cached_op(leaves)
        return outputs[0] if self._out_format == 0 else regroup(outputs, self._out_format)

    def _arrays(self, leaves: list[Any]) -> list[NDArray]:
        found = [leaf for leaf in leaves if leaf is not None]
        if any(isinstance(leaf, Symbol) for leaf in found):
            raise BlockValueError(
                f"block {self.name!r} gets arrays and symbols together; pass arrays, or symbols, alone"
            )
        return found

    def forward(self, x: Any, *args: Any) -> Any:
        """Compute by `hybrid_forward`, compiled where the block is hybridized.

        Raises:
            BlockValueError: The inputs are no arrays or symbols, or not of the structure of the first call.
        """
        if isinstance(x, Symbol):
            return self._symbolic(x, *args)
        if self._active:
            return self._call_cached_op(x, *args)
        ctx = _context(self.name, x, args)
        try:
            params = {name: param.data(ctx) for name, param in self._reg_params.items()}
        except DeferredInitializationError:
            self._finish_deferred((x, *args), self.params)
            params = {name: param.data(ctx) for name, param in self._reg_params.items()}
        return self.hybrid_forward(od.nd, x, *args, **params)

    def _symbolic(self, *args: Any) -> Any:
        params = {name: param.var() for name, param in self._reg_params.items()}
        with self.name_scope():
            return self.hybrid_forward(od.sym, *args, **params)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; a subclass defines it.

        Args:
            F: `operad.nd` or `operad.sym`, whose functions to use.
            x: The first input, an array or a symbol.
            args: Further inputs.
            kwargs: The parameters of the block, by the names of its attributes.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no hybrid_forward()")

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> None:
        """Write `path-symbol.json` and `path-0000.params`, for `SymbolBlock.imports`, `Module` and MXNet.

        Args:
            path: Path, and the beginning of both names.
            epoch: Number in the name of the parameters' file.
            remove_amp_cast: Whether casts of mixed precision are left out.
        Raises:
            UninitializedError: The block was not hybridized, or not run since.
        """
        if not self._cached_graph:
            raise UninitializedError(
                f"block {self.name!r} has no graph yet. Please first call block.hybridize() and then run "
                "forward with this block at least once before calling export."
            )
        symbol = self._cached_graph[1]
        symbol.save(f"{path}-symbol.json", remove_amp_cast=remove_amp_cast)
        params, states = self.collect_params(), symbol.list_auxiliary_states()
        kinds = dict.fromkeys(symbol.list_arguments(), "arg") | dict.fromkeys(states, "aux")
        values = {f"{kinds[name]}:{name}": param._mean() for name, param in params.items() if name in kinds}
        od.nd.save(f"{path}-{epoch:04d}.params", values)

    def register_op_hook(self, callback: Any, monitor_all: bool = False) -> None:
        """Call `callback(name, operator, array)` for each value that the program computes, but gradients.

        Its operators then run one by one; None stops it. With `monitor_all`, also for what operators read.
        """
        self._op_hook = (callback, monitor_all)
        if self._cached_op is not None:
            self._cached_op.register_op_hook(*self._op_hook)
        super().register_op_hook(callback, monitor_all)


def _no_backend(name: str, backend: str) -> UnsupportedError:
    return UnsupportedError(
        f"block {name!r}: there is no backend {backend!r}; hybridize() compiles and fuses without"
    )


def _context(name: str, x: Any, args: Any) -> Any:
    """The context of the first array among arguments."""
    if isinstance(x, NDArray):
        return x.context
    for leaf in flatten((x, *args), "input")[0]:
        if isinstance(leaf, NDArray):
            return leaf.context
    raise BlockValueError(f"block {name!r} gets no array: {x!r:.80}; pass an NDArray or a Symbol")
