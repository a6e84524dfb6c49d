"""A symbol bound to executors: names, shapes, parameters.

Source: Module, python/mxnet/module/module.py. Differs: the parameters live in the executors only;
`get_params` gives copies.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from operad import Context, Symbol
from operad.errors import BindError, ParamError
from operad_module import parameters
from operad_module.delegating import DelegatingModule
from operad_module.errors import ModuleStateError
from operad_module.executor_group import DataParallelExecutorGroup
from operad_module.inputs import check_described, check_names, described
from operad_module.interface import BindRequest, Params
from operad_module.placement import placement_of

_LABEL: Final = "softmax_label"


class BoundModule(DelegatingModule):
    """A symbol, its executors and its parameters; arguments are those of `Module`, which computes."""

    _owns_params = True

    def __init__(
        self,
        symbol: Symbol,
        data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = (_LABEL,),
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        """Check names.

        Raises:
            BindError: The symbol has no argument of a name given, other than a label.
        """
        super().__init__(logger=logger)
        self._placement = placement_of(context, work_load_list, group2ctxs)
        self._symbol: Symbol = symbol
        self._data_names, self._label_names = list(data_names or ()), list(label_names or ())
        self._state_names, self._fixed_param_names = list(state_names or ()), list(fixed_param_names or ())
        known = symbol.list_arguments()
        inputs = {"data_names": self._data_names, "state_names": self._state_names}
        for what, names in {**inputs, "fixed_param_names": self._fixed_param_names}.items():
            if message := check_names(what, names, known):
                raise BindError(message)
        has_labels = self._label_names != [_LABEL] or any(name.endswith("label") for name in known)
        if has_labels and (message := check_names("label_names", self._label_names, known)):
            # A logger of the root would be set up by this, before the program says how it shall log.
            warnings.warn(message, stacklevel=2)
        given = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in known if name not in given]
        self._compression_params = compression_params
        self._grad_req: Any = None  # as `bind` was given it
        self._group: DataParallelExecutorGroup | None = None
        self._loaded: tuple[Params, Params] | None = None  # values that wait for executors

    @property
    def _exec_group(self) -> DataParallelExecutorGroup:
        assert self._group is not None
        return self._group

    @property
    def symbol(self) -> Symbol:
        """The graph."""
        return self._symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data that a batch has."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels that a batch has."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._symbol.list_outputs()

    def _chosen(self, call: str) -> DataParallelExecutorGroup:
        self._need(call)
        return self._exec_group

    def summary(self) -> Any:
        """Layers, shapes of their outputs and numbers of parameters, for the shapes bound, as a table."""
        self._need("summary")
        inputs = [*self.data_shapes, *self.label_shapes]
        known = self._symbol.list_arguments()
        return self._symbol.summary(**{one.name: tuple(one.shape) for one in inputs if one.name in known})

    def _bind(self, request: BindRequest) -> None:
        if request.inputs_need_grad and not request.for_training:
            raise BindError("bind: inputs_need_grad=True needs for_training=True")
        shared: BoundModule | None = request.shared_module
        if shared is not None and not shared.binded:
            raise ModuleStateError("bind: the shared module is not bound; call its bind first")
        own, others = self._placement.contexts, (shared or self)._placement.contexts
        if len(own) != len(others):
            raise BindError(
                f"bind: this module has {len(own)} contexts, the shared one {len(others)}; modules that "
                "share arrays have the same contexts"
            )
        data, labels = described(request.data_shapes), described(request.label_shapes)
        check_described("data_shapes", data, self._data_names)
        check_described("label_shapes", labels, self._label_names if request.label_shapes is not None else [])
        if self.binded and self.params_initialized:
            self._loaded = self.get_params()
        self._grad_req = request.grad_req
        self._group = DataParallelExecutorGroup(
            self._symbol,
            self._placement.contexts,
            self._placement.workload,
            data,
            labels,
            self._param_names,
            request.for_training,
            request.inputs_need_grad,
            None if shared is None else shared._exec_group,
            fixed_param_names=self._fixed_param_names,
            grad_req=request.grad_req,
            state_names=self._state_names,
            group2ctxs=self._placement.groups,
        )
        self._set_bound(request)
        if shared is not None and shared.params_initialized:
            self.params_initialized = True
        elif self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            self.set_params(*loaded)

    def reshape(self, data_shapes: Iterable[Any], label_shapes: Iterable[Any] | None = None) -> None:
        """Go over to other shapes of data and labels; the parameters stay."""
        self._need("reshape")
        data, labels = described(data_shapes), described(label_shapes)
        check_described("data_shapes", data, self._data_names)
        self._exec_group.reshape(data, labels)

    def _init_params(self, *choice: Any) -> None:
        """Give parameters their first values.

        Values for what the symbol does not have are ignored, as in MXNet: one file of parameters serves
        the parts of a network.
        """
        initializer, arg_params, aux_params, allow_missing, *_ = choice
        self._need("init_params")
        group, attributes = self._exec_group, self._symbol.attr_dict()
        kinds = (
            ("parameter", dict(zip(group.param_names, group.param_arrays, strict=True)), arg_params),
            ("auxiliary state", dict(zip(group.aux_names, group.aux_arrays, strict=True)), aux_params),
        )
        for kind, arrays, given in kinds:
            parameters.check(kind, arrays, given, allow_missing)
        for _, arrays, given in kinds:
            try:
                parameters.fill(arrays, given, initializer, attributes)
            except ParamError as error:
                absent = [name for name in self._label_names if name not in self._symbol.list_arguments()]
                if not absent:
                    raise
                # A label under another name counts as a parameter, which no initializer knows.
                raise ParamError(
                    f"{error}. The symbol has no label {absent[0]!r}; if an argument is a label, name it: "
                    "Module(symbol, label_names=[...])"
                ) from error

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set parameters and auxiliary states by name.

        Raises:
            MissingParameterError: A parameter has no value, and `allow_missing` is False.
            UnknownParameterError: A value is for something else, which with `allow_missing` is taken for a
                misspelt name unless `allow_extra` is True.
        """
        if allow_missing and not allow_extra and self.binded:
            parameters.check_known("parameter", self._param_names, arg_params or {})
            parameters.check_known("auxiliary state", self._exec_group.aux_names, aux_params or {})
        super().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
