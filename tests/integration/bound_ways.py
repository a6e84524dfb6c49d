"""All ways to bind a network, and what each computes: a prediction, a step's gradients, or moved weights.

They compute in double precision, so that what passes do to roundings stays far below what is compared.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import operad as od
from tests.integration.bound_networks import DTYPE, Network, arrays

SEED: Final = 7
RATE: Final = 0.001


class Found(NamedTuple):
    """What one way computed.

    Attributes:
        values: By name: outputs, gradients or weights, as NumPy's arrays.
        shown: What a monitor saw.
    """

    values: dict[str, Any]
    shown: dict[str, Any] | None = None


Way = Callable[[Network, Path], Found]
PREDICTED: Final[dict[str, Way]] = {}
TRAINED: Final[dict[str, Way]] = {}
MOVED: Final[dict[str, Way]] = {}


def way(kind: dict[str, Way]) -> Callable[[Way], Way]:
    """Add a way under its function's name."""

    def add(function: Way) -> Way:
        kind[function.__name__] = function
        return function

    return add


def types(network: Network) -> dict[str, str]:
    return dict.fromkeys(network.symbol.list_arguments(), DTYPE)


def requests(network: Network, request: str) -> dict[str, str]:
    return dict.fromkeys(network.trained, request)


def simple(network: Network, request: Any = "null", symbol: Any = None, **options: Any) -> Any:
    """An executor with arrays of its own, which hold the network's values."""
    asked = requests(network, request) if isinstance(request, str) else request
    shapes = {**network.shapes, **options.pop("shapes", {})}
    made = (network.symbol if symbol is None else symbol).simple_bind(
        od.cpu(), grad_req=asked, type_dict=types(network), **shapes, **options
    )
    return filled(made, network)


def filled(executor: Any, network: Network) -> Any:
    executor.copy_params_from(arrays(network.arguments), arrays(network.states))
    return executor


def gradients(network: Network) -> dict[str, Any]:
    return {name: od.nd.ones(network.arguments[name].shape, dtype=DTYPE) for name in network.trained}


def outputs(executor_or_list: Any) -> dict[str, Any]:
    found = getattr(executor_or_list, "outputs", executor_or_list)
    return {f"output {i}": array.asnumpy() for i, array in enumerate(found)}


def predicted(executor: Any) -> Found:
    executor.forward(is_train=False)
    return Found(outputs(executor))


def trained(executor: Any, network: Network) -> Found:
    """Outputs, states and gradients of one pass, which begin at 0."""
    for grad in executor.grad_dict.values():
        if grad is not None:
            grad[:] = 0
    od.random.seed(SEED)
    executor.forward(is_train=True)
    executor.backward([od.nd.ones(array.shape, dtype=DTYPE) for array in executor.outputs])
    found = outputs(executor)
    found |= {name: executor.grad_dict[name].asnumpy() for name in network.trained}
    return Found(found | {name: array.asnumpy() for name, array in executor.aux_dict.items()})


@way(PREDICTED)
def bind_with_a_list(network: Network, _: Path) -> Found:
    own, states = arrays(network.arguments), arrays(network.states)
    symbol = network.symbol
    ordered = [own[name] for name in symbol.list_arguments()]
    return predicted(
        symbol.bind(od.cpu(), ordered, aux_states=[states[n] for n in symbol.list_auxiliary_states()])
    )


@way(PREDICTED)
def bind_by_name(network: Network, _: Path) -> Found:
    own = arrays(network.arguments)
    return predicted(network.symbol.bind(od.cpu(), own, grad_req="null", aux_states=arrays(network.states)))


@way(PREDICTED)
def bind_with_shared_exec(network: Network, _: Path) -> Found:
    lender = simple(network, "write")
    own, states = lender.arg_dict, lender.aux_dict
    return predicted(network.symbol.bind(od.cpu(), own, aux_states=states, shared_exec=lender))


@way(PREDICTED)
def simple_bind_for_prediction(network: Network, _: Path) -> Found:
    return predicted(simple(network))


@way(PREDICTED)
def simple_bind_for_training(network: Network, _: Path) -> Found:
    return predicted(simple(network, "write"))


@way(PREDICTED)
def simple_bind_with_shared_exec(network: Network, _: Path) -> Found:
    return predicted(simple(network, shared_exec=simple(network, "write")))


@way(PREDICTED)
def simple_bind_with_shared_names(network: Network, _: Path) -> Found:
    lender = simple(network, "write")
    return predicted(simple(network, shared_exec=lender, shared_arg_names=network.trained))


@way(PREDICTED)
def simple_bind_with_a_buffer(network: Network, _: Path) -> Found:
    buffer: dict[str, Any] = {}
    simple(network, "write", shared_buffer=buffer)
    return predicted(simple(network, shared_buffer=buffer))


@way(PREDICTED)
def rebound(network: Network, _: Path) -> Found:
    first = network.symbol.simple_bind(od.cpu(), grad_req="null", type_dict=types(network), **network.shapes)
    return predicted(first.rebound(arrays(network.arguments), {}, arrays(network.states)))


@way(PREDICTED)
def reshape(network: Network, _: Path) -> Found:
    shapes = {name: (2 * shape[0], *shape[1:]) for name, shape in network.shapes.items()}
    first = network.symbol.simple_bind(od.cpu(), grad_req="null", type_dict=types(network), **shapes)
    return predicted(filled(first.reshape(**network.shapes), network))


@way(PREDICTED)
def json(network: Network, _: Path) -> Found:
    return predicted(simple(network, symbol=od.sym.load_json(network.symbol.tojson())))


@way(PREDICTED)
def pickled(network: Network, _: Path) -> Found:
    return predicted(simple(network, symbol=pickle.loads(pickle.dumps(network.symbol))))


@way(PREDICTED)
def evaluated(network: Network, _: Path) -> Found:
    if network.states:  # which `eval` has no name for
        own, states = arrays(network.arguments), arrays(network.states)
        return Found(outputs(network.symbol.bind(od.cpu(), own, None, "null", states).forward()))
    return Found(outputs(network.symbol.eval(od.cpu(), **arrays(network.arguments))))


@way(PREDICTED)
def monitored(network: Network, _: Path) -> Found:
    executor, shown = simple(network), dict[str, Any]()
    executor.set_monitor_callback(lambda name, array: shown.update({name: array.asnumpy()}), monitor_all=True)
    return predicted(executor)._replace(shown=shown)


GROUPS: Final = {"b": od.cpu(1)}


@way(PREDICTED)
def simple_bind_in_groups(network: Network, _: Path) -> Found:
    return predicted(simple(network, group2ctx=GROUPS))


@way(PREDICTED)
def bind_in_groups(network: Network, _: Path) -> Found:
    """Each array is where the graph's first reader of it is, whatever a pass makes of that."""
    own = [arrays(network.arguments), arrays(network.states)]
    moved = [
        {name: array.as_in_context(network.contexts[name]) for name, array in each.items()} for each in own
    ]
    return predicted(network.symbol.bind(od.cpu(), moved[0], None, "null", moved[1], GROUPS))


@way(TRAINED)
def bind_with_gradients(network: Network, _: Path) -> Found:
    grads, states = gradients(network), arrays(network.states)
    own = network.symbol.bind(od.cpu(), arrays(network.arguments), grads, "write", states)
    return trained(own, network)


@way(TRAINED)
def simple_bind_to_write(network: Network, _: Path) -> Found:
    return trained(simple(network, "write"), network)


@way(TRAINED)
def simple_bind_to_add(network: Network, _: Path) -> Found:
    return trained(simple(network, "add"), network)


@way(TRAINED)
def simple_bind_of_everything(network: Network, _: Path) -> Found:
    return trained(simple(network, dict.fromkeys(network.arguments, "write")), network)


@way(TRAINED)
def rebound_to_train(network: Network, _: Path) -> Found:
    first = simple(network, "write")
    made = first.rebound(arrays(network.arguments), gradients(network), arrays(network.states))
    return trained(made, network)


@way(TRAINED)
def reshape_to_train(network: Network, _: Path) -> Found:
    shapes = {name: (2 * shape[0], *shape[1:]) for name, shape in network.shapes.items()}
    asked = requests(network, "write")
    first = network.symbol.simple_bind(od.cpu(), grad_req=asked, type_dict=types(network), **shapes)
    return trained(filled(first.reshape(**network.shapes), network), network)


@way(TRAINED)
def simple_bind_in_groups_to_train(network: Network, _: Path) -> Found:
    return trained(simple(network, "write", group2ctx=GROUPS), network)


@way(TRAINED)
def json_to_train(network: Network, _: Path) -> Found:
    return trained(simple(network, "write", od.sym.load_json(network.symbol.tojson())), network)


@way(TRAINED)
def monitored_in_training(network: Network, _: Path) -> Found:
    executor = simple(network, "write")
    executor.set_monitor_callback(lambda name, array: array.wait_to_read(), monitor_all=True)
    return trained(executor, network)


@way(TRAINED)
def shared_exec_to_train(network: Network, _: Path) -> Found:
    return trained(simple(network, "write", shared_exec=simple(network)), network)


def updater() -> Any:
    return od.optimizer.get_updater(od.optimizer.create("sgd", learning_rate=RATE, momentum=0.9))


def moved(executor: Any, network: Network, found: dict[str, Any] | None = None) -> Found:
    values = found if found is not None else outputs(executor)
    return Found(values | {name: executor.arg_dict[name].asnumpy() for name in network.trained})


@way(MOVED)
def steps_of_three_parts(network: Network, _: Path) -> Found:
    executor, update = simple(network, "write"), updater()
    od.random.seed(SEED)
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward()
        for name in network.trained:
            update(name, executor.grad_dict[name], executor.arg_dict[name])
    return moved(executor, network)


@way(MOVED)
def whole_steps(network: Network, _: Path) -> Found:
    executor = simple(network, "write")
    program = od.TrainingProgram(executor, updater())
    od.random.seed(SEED)
    for _ in range(2):
        program.step()
    assert not program.why_apart
    return moved(executor, network)


@way(MOVED)
def whole_steps_without_gradients(network: Network, _: Path) -> Found:
    executor = simple(network, "null")
    program = od.TrainingProgram(executor, updater(), {name: name for name in network.trained})
    od.random.seed(SEED)
    for _ in range(2):
        program.step()
    assert not program.why_apart
    return moved(executor, network)
