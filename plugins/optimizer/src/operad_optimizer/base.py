"""Base of optimizers: rates, multipliers, counts, precision.

An optimizer says how one weight moves; an `Updater` keeps the states of all weights. Weights are known
by an index, which is a number or a name.

Source: Optimizer, python/mxnet/optimizer/optimizer.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar

import numpy as np

from operad import NDArray, Symbol, nd
from operad.errors import UnsupportedError
from operad_optimizer.attributes import numbers_of, of_arguments
from operad_optimizer.lr_scheduler import LRScheduler
from operad_optimizer.moving import Moving
from operad_optimizer.notebook import page_of
from operad_optimizer.registered import Registered
from operad_sdk import ParamError
from operad_sdk.arguments import Suggesting, described

Index = int | str
State = Any
"""State that an optimizer keeps of one weight: None, an array, or a tuple of states."""

C = TypeVar("C", bound="type[Optimizer]")

UpdateCall = tuple[str, Sequence[NDArray], Mapping[str, Any]]
"""An update as one call of an operator: its name, states, and parameters."""

_registered: Final[Registered[Optimizer]] = Registered("optimizer")


class Optimizer(Moving, metaclass=Suggesting):
    """Moves weights along their gradients.

    Args:
        rescale_grad: Factor of every gradient, such as one over the batch's size.
        param_idx2name: Names of indices; weight decay leaves out all but `..._weight` and `..._gamma`.
        wd: Weight decay.
        clip_gradient: Bound of each element of a rescaled gradient; None: none.
        learning_rate: Default: the scheduler's `base_lr`, or 0.01.
        lr_scheduler: Gives the rate from the number of updates.
        sym: Its attributes `__lr_mult__` and `__wd_mult__` are taken as multipliers.
        begin_num_update: The number that counting begins with.
        multi_precision: Keep a single-precision copy of half-precision weights.
        param_dict: Objects with `lr_mult` and `wd_mult` by index, such as a training loop's parameters.

    Attributes:
        num_update: The largest number of updates any weight has had.
        opt_registry: Classes by their names in lower case.
    """

    opt_registry: ClassVar[Mapping[str, type[Optimizer]]] = _registered.classes
    __repr__, _repr_html_ = described, page_of

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Mapping[Index, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: LRScheduler | None = None,
        sym: Symbol | None = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[Index, Any] | None = None,
    ) -> None:
        self.rescale_grad, self.wd, self.clip_gradient = rescale_grad, wd, clip_gradient
        self.lr_scheduler = lr_scheduler
        self.lr = 0.01 if learning_rate is None else learning_rate
        if lr_scheduler is not None and learning_rate is not None:
            lr_scheduler.base_lr = learning_rate
        self.multi_precision = multi_precision
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts: dict[int, dict[Index, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.idx2name = dict(param_idx2name or {})
        self.param_dict = dict(param_dict or {})
        self.sym_attributes: dict[str, dict[str, str]] = {} if sym is None else of_arguments(sym)
        self.lr_mult: dict[Index, float] = {}
        self.wd_mult: dict[Index, float] = {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    @staticmethod
    def register(klass: C) -> C:
        """Make an optimizer known to `create` by its class's name."""
        _registered.add(klass)
        return klass

    @staticmethod
    def create_optimizer(name: str, **arguments: Any) -> Optimizer:
        """The optimizer called `name`, in any case.

        Raises:
            ParamError: There is none.
        """
        return _registered.find(name)(**arguments)

    @property
    def learning_rate(self) -> float:
        """The rate now, before multipliers."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def set_learning_rate(self, lr: float) -> None:
        """Change the rate.

        Raises:
            ParamError: There is a scheduler, which decides it.
        """
        if self.lr_scheduler is not None:
            raise ParamError("set_learning_rate: the rate is the scheduler's; change lr_scheduler.base_lr")
        self.lr = lr

    def set_lr_mult(self, args_lr_mult: Mapping[Index, float]) -> None:
        """Set factors of the learning rate by index or name, on top of the symbol's attributes."""
        self.lr_mult = {**dict(numbers_of(self.sym_attributes, "__lr_mult__")), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult: Mapping[Index, float]) -> None:
        """Set factors of weight decay; names that end neither in `_weight` nor in `_gamma` have 0."""
        exempt = (name for name in self.idx2name.values() if not name.endswith(("_weight", "_gamma")))
        self.wd_mult = {**dict.fromkeys(exempt, 0.0), **dict(numbers_of(self.sym_attributes, "__wd_mult__"))}
        self.wd_mult.update(args_wd_mult)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """State of a weight at the beginning; None: there is none."""
        return None

    def call_of(
        self, index: Index, name: str, states: Sequence[NDArray], *own: str, **params: Any
    ) -> UpdateCall:
        """A step as one call, with the rate, the common parameters, and the attributes called `own`."""
        given = {"lr": self._get_lr(index), **self.common(index)}
        return name, states, {**given, **{one: getattr(self, one) for one in own}, **params}

    def create_state_multi_precision(self, index: Index, weight: NDArray) -> State:
        """`create_state`; for half precision, of a single-precision copy, and the copy."""
        if not self.is_mixed(weight):
            return self.create_state(index, weight)
        master = weight.astype(np.float32)
        return self.create_state(index, master), master

    def update(
        self,
        index: Index | Sequence[Index],
        weight: NDArray | Sequence[NDArray],
        grad: NDArray | Sequence[NDArray],
        state: State,
    ) -> None:
        """Move a weight in place, or several given as lists: count, then `step`.

        A subclass that MXNet's programs bring has this method instead of `step`. It counts by
        `_update_count` and asks `_get_lr` and `_get_wd`, and is called with one weight at a time.
        """
        if self.is_aggregating(index):
            self._update_count(index)
            self.step_several(index, weight, grad, state)  # type: ignore[arg-type]  # all of them are lists
            return
        for one in _each(index, weight, grad, state):
            self._update_count(one[0])
            self.step(*one)

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """Move one weight, whose update has been counted; by default with the call of `step_call`."""
        call = self.step_call(index, state)
        if call is None:
            raise UnsupportedError(
                f"{type(self).__name__} does not say how a weight moves; define step, or step_call"
            )
        name, states, params = call
        getattr(nd, name)(weight, grad, *states, out=weight, **params)

    def step_call(self, index: Index, state: State) -> UpdateCall | None:
        """The step of a weight, whose update has been counted, as one call; None: it is more than that.

        The operator takes the weight, its gradient and the states, and its output takes the weight's place. A
        training program makes the call where the gradient was made; see `operad.TrainingProgram`.
        """
        return None

    def step_several(
        self, indices: Sequence[Index], weights: Sequence[NDArray], grads: Sequence[NDArray], states: State
    ) -> None:
        """Move several weights of one type and context, whose updates have been counted.

        Bit for bit what `step` of each would do; an optimizer that has an operator for it overrides this.
        """
        for one in _each(indices, weights, grads, states):
            self.step(*one)

    def update_multi_precision(
        self,
        index: Index | Sequence[Index],
        weight: NDArray | Sequence[NDArray],
        grad: NDArray | Sequence[NDArray],
        state: State,
    ) -> None:
        """`update` with states of `create_state_multi_precision`."""
        if self.is_aggregating(index):
            self._update_several(index, weight, grad, state)
            return
        for i, w, g, s in _each(index, weight, grad, state):
            if self.is_mixed(w):
                own, master = s
                self.update(i, master, g.astype(np.float32), own)
                master.astype(w.dtype).copyto(w)
            else:
                self.update(i, w, g, s)

    def _update_several(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        if not any(map(self.is_mixed, weights)):
            self.update(indices, weights, grads, states)
            return
        own, masters = zip(*states, strict=True)
        self.update(indices, masters, [grad.astype(np.float32) for grad in grads], own)
        for master, weight in zip(masters, weights, strict=True):
            master.astype(weight.dtype).copyto(weight)

    def _update_count(self, index: Index | Sequence[Index]) -> None:
        """Count an update of a weight, or of several."""
        indices: Any = index if isinstance(index, (list, tuple)) else [index]
        for one in indices:
            count = self._index_update_count.get(one, self.begin_num_update) + 1
            self._index_update_count[one] = count
            self.num_update = max(count, self.num_update)

    def _set_current_context(self, device_id: int) -> None:
        """Count the updates of one device's weights apart from those of others with the same indices."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _get_lrs(self, indices: Sequence[Index]) -> list[float]:
        """The learning rates of weights."""
        rate = self.learning_rate
        return [rate * self._multiplier(self.lr_mult, "lr_mult", index) for index in indices]

    def _get_lr(self, index: Index) -> float:
        """The learning rate of a weight."""
        return self._get_lrs([index])[0]

    def _get_wds(self, indices: Sequence[Index]) -> list[float]:
        """The weight decays of weights."""
        return [self.wd * self._multiplier(self.wd_mult, "wd_mult", index) for index in indices]

    def _get_wd(self, index: Index) -> float:
        """The weight decay of a weight."""
        return self._get_wds([index])[0]

    def rescaled(self, grad: NDArray) -> NDArray:
        """A gradient, rescaled and clipped, for steps that are written as arithmetic of arrays."""
        return self.clipped(grad * self.rescale_grad)

    def clipped(self, grad: NDArray) -> NDArray:
        """A gradient with each element within the bound, if there is one."""
        bound = self.clip_gradient
        return grad if bound is None else nd.clip(grad, a_min=-bound, a_max=bound)

    def common(self, index: Index) -> dict[str, float]:
        """The parameters that all update operators have, besides the learning rate."""
        return {"wd": self._get_wd(index), **self.common_of_several()}

    def common_of_several(self) -> dict[str, float]:
        """Parameters that operators on several weights have once for all of them."""
        given = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient is not None:
            given["clip_gradient"] = self.clip_gradient
        return given

    def _multiplier(self, multipliers: Mapping[Index, float], attribute: str, index: Index) -> float:
        if index in self.param_dict:
            return float(getattr(self.param_dict[index], attribute))
        if index in multipliers:
            return multipliers[index]
        return multipliers.get(self.idx2name.get(index, ""), 1.0)

    def is_mixed(self, weight: NDArray) -> bool:
        """Return whether the weight is moved through a copy in single precision."""
        return self.multi_precision and weight.dtype == np.float16


def register(klass: C) -> C:
    """Make an optimizer known to `create` by its class's name; for use as a decorator."""
    return Optimizer.register(klass)


def create(name: str | Optimizer, **arguments: Any) -> Optimizer:
    """The optimizer called `name`, in any case; an optimizer is returned as it is."""
    return name if isinstance(name, Optimizer) else Optimizer.create_optimizer(name, **arguments)


def _each(index: Any, weight: Any, grad: Any, state: Any) -> Any:
    if isinstance(index, (list, tuple)):
        return zip(index, weight, grad, state, strict=True)
    return [(index, weight, grad, state)]
