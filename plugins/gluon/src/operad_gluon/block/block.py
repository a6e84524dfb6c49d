"""Blocks, which are networks or parts of them, in plain Python.

Source: Block, python/mxnet/gluon/block.py.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import operad as od
from operad_gluon.block.files import BlockFiles
from operad_gluon.block.hooks import HookHandle
from operad_gluon.block.naming import BlockScope
from operad_gluon.block.summary import summarize
from operad_gluon.errors import BlockTypeError, ParameterError, UninitializedError
from operad_gluon.parameter import Parameter, ParameterDict


def indented(text: str, spaces: int = 2) -> str:
    """A text whose lines but the first are indented."""
    return text.replace("\n", "\n" + " " * spaces)


class Block(BlockFiles):
    """A network, or a part of one: parameters, children, and `forward`, which a subclass defines.

    Blocks that are assigned as attributes become children; parameters so become its own.

    >>> import operad as od
    >>> class Net(od.gluon.Block):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.hidden = od.gluon.nn.Dense(4, in_units=3)
    ...     def forward(self, x):
    ...         return od.nd.relu(self.hidden(x))
    >>> net = Net(prefix="net_")
    >>> net.initialize()
    >>> net(od.nd.ones((2, 3))).shape
    (2, 4)
    >>> list(net.collect_params())
    ['net_dense0_weight', 'net_dense0_bias']

    Args:
        prefix: Begins the names of its parameters; a number of the class's name by default.
        params: Parameters of another block, to be shared.
    """

    _is_container = False  # a chain of others, which a summary leaves out

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._empty_prefix = prefix == ""
        self._prefix, self._params = BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix.removesuffix("_")
        self._scope = BlockScope(self)
        self._children: dict[str, Block] = {}
        self._reg_params: dict[str, Parameter] = {}
        self._forward_hooks: dict[HookHandle, Callable[..., Any]] = {}
        self._forward_pre_hooks: dict[HookHandle, Callable[..., Any]] = {}

    def _alias(self) -> str:
        return type(self).__name__.lower()

    def __repr__(self) -> str:
        found = [(name, one) for name, one in self.__dict__.items() if isinstance(one, Block)]
        return self._shown(found)

    def _shown(self, children: Any) -> str:
        lines = "\n".join(f"  ({name}): {indented(repr(one))}" for name, one in children)
        return f"{type(self).__name__}(\n{lines}\n)"

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (Parameter, Block)) and "_children" not in self.__dict__:
            raise UninitializedError(
                f"{type(self).__name__}.{name} is set before the block is made; call "
                "super().__init__(**kwargs) first in its __init__"
            )
        existing = self.__dict__.get(name)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, type(existing)):
            raise BlockTypeError(
                f"Changing attribute type for {name} from {type(existing)} to {type(value)} is not allowed."
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            known = self._reg_params.get(name)
            if known is not None and known is not value:
                raise ParameterError(
                    f"Overriding Parameter attribute {name} is not allowed. If you want to share "
                    "parameters by setting "
                    "`self.weight = other.weight`, create this block with params= of the other one"
                )
            self._reg_params[name] = value
        super().__setattr__(name, value)

    @property
    def prefix(self) -> str:
        """Begins the names of its parameters."""
        return self._prefix

    @property
    def name(self) -> str:
        """Its prefix, less the last underscore."""
        return self._name

    @property
    def params(self) -> ParameterDict:
        """Its own parameters, without those of children."""
        return self._params

    def name_scope(self) -> BlockScope:
        """A with statement in which the names of new blocks and parameters begin with its prefix."""
        return self._scope

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Its parameters, and those of its children.

        Args:
            select: Regular expression that names have to match from their beginning.
        """
        self._warn_of_containers()
        found = ParameterDict(self._params.prefix)
        pattern = re.compile(select or "")
        own = ParameterDict()
        own._params = {name: param for name, param in self.params.items() if pattern.match(name)}
        found.update(own)
        for child in self._children.values():
            found.update(child.collect_params(select))
        return found

    def _warn_of_containers(self) -> None:
        """Warn of lists and dictionaries that hold blocks, which are no children."""
        children = {id(child) for child in self._children.values()}
        for name, value in self.__dict__.items():
            if isinstance(value, (list, tuple, dict)) and name != "_children":
                inside = value.values() if isinstance(value, dict) else value
                if any(isinstance(one, Block) and id(one) not in children for one in inside):
                    warnings.warn(
                        f'"{type(self).__name__}.{name}" is an unregistered container with Blocks. Note '
                        "that Blocks inside "
                        "the list, tuple or dict will not be registered automatically. Make sure to "
                        "register them using "
                        "register_child() or switching to nn.Sequential/nn.HybridSequential instead.",
                        stacklevel=3,
                    )

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block a child, so that its parameters are collected."""
        self._children[str(len(self._children)) if name is None else name] = block

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Have `hook(block, inputs)` called before each forward pass."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Have `hook(block, inputs, outputs)` called after each forward pass."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Call `fn` of each child, its children first, and of the block itself."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def initialize(
        self,
        init: Any = od.init.Uniform(),
        ctx: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Initialize all parameters.

        Args:
            init: Initializer of parameters that have none of their own.
            ctx: Context or contexts of the values.
            verbose: Whether to log what is initialized.
            force_reinit: Whether values that are there are replaced.
        """
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Have all children that can be compiled run as compiled functions; see `HybridBlock.hybridize`."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def cast(self, dtype: Any) -> None:
        """Convert parameters, its own and its children's, to another type."""
        for child in self._children.values():
            child.cast(dtype)
        for param in self.params.values():
            param.cast(dtype)

    def __call__(self, *args: Any) -> Any:
        """Run `forward`, between the hooks."""
        for hook in list(self._forward_pre_hooks.values()):
            hook(self, args)
        outputs = self.forward(*args)
        for hook in list(self._forward_hooks.values()):
            hook(self, args, outputs)
        return outputs

    def forward(self, *args: Any) -> Any:
        """Compute the outputs; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward()")

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Have `callback(name, operator, array)` called of each value that compiled children compute."""
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def summary(self, *inputs: Any) -> None:
        """Print the layers with shapes of outputs and numbers of parameters, for some inputs.

        Raises:
            ParameterError: The block is hybridized, so that its layers do not run one by one.
        """
        summarize(self, inputs)
