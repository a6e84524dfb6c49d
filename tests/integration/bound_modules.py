"""The ways to bind a network that modules have, beside those of executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import operad as od
from tests.integration.bound_networks import DTYPE, Network, arrays
from tests.integration.bound_ways import MOVED, PREDICTED, RATE, SEED, Found, outputs, way


def module(network: Network, symbol: Any = None, context: Any = None) -> Any:
    names = [name for name in network.shapes if name != network.label]
    labels = [network.label] if network.label in network.shapes else []
    own = network.symbol if symbol is None else symbol
    return od.mod.Module(own, data_names=names, label_names=labels, context=context or od.cpu())


def described(network: Network, *, labels: bool, times: int = 1) -> tuple[list[Any], list[Any] | None]:
    found = [
        od.io.DataDesc(name, (times * shape[0], *shape[1:]), DTYPE) for name, shape in network.shapes.items()
    ]
    own = [one for one in found if one.name == network.label]
    return [one for one in found if one.name != network.label], own if labels else None


def batch(network: Network, *, labels: bool = True) -> Any:
    values = arrays(network.arguments)
    data = [values[name] for name in network.shapes if name != network.label]
    return od.io.DataBatch(data, [values[network.label]] if labels and network.label in values else None)


def parameters(network: Network) -> tuple[dict[str, Any], dict[str, Any]]:
    values = arrays(network.arguments)
    return {name: values[name] for name in network.trained}, arrays(network.states)


def bound(network: Network, *, for_training: bool, labels: bool = True, **options: Any) -> Any:
    made = module(network)
    made.bind(*described(network, labels=labels), for_training=for_training, **options)
    made.set_params(*parameters(network))
    return made


def predicted_by(made: Any, network: Network, *, labels: bool = True) -> Found:
    made.forward(batch(network, labels=labels), is_train=False)
    found = outputs(made.get_outputs())
    hidden = () if labels else network.shows_label
    return Found({name: value for i, (name, value) in enumerate(found.items()) if i not in hidden})


@way(PREDICTED)
def module_for_training(network: Network, _: Path) -> Found:
    return predicted_by(bound(network, for_training=True), network)


@way(PREDICTED)
def module_for_prediction(network: Network, _: Path) -> Found:
    return predicted_by(bound(network, for_training=False), network)


@way(PREDICTED)
def module_for_prediction_without_labels(network: Network, _: Path) -> Found:
    return predicted_by(bound(network, for_training=False, labels=False), network, labels=False)


@way(PREDICTED)
def module_with_shared_module(network: Network, _: Path) -> Found:
    shared = bound(network, for_training=True)
    made = module(network)
    made.bind(*described(network, labels=True), for_training=False, shared_module=shared)
    return predicted_by(made, network)


@way(PREDICTED)
def module_bound_again(network: Network, _: Path) -> Found:
    made = bound(network, for_training=True)
    made.bind(*described(network, labels=True), for_training=False, force_rebind=True)
    return predicted_by(made, network)


@way(PREDICTED)
def module_reshape(network: Network, _: Path) -> Found:
    made = module(network)
    made.bind(*described(network, labels=True, times=2), for_training=False)
    made.set_params(*parameters(network))
    made.reshape(*described(network, labels=True))
    return predicted_by(made, network)


@way(PREDICTED)
def checkpoint(network: Network, folder: Path) -> Found:
    prefix = str(folder / "network")
    bound(network, for_training=True).save_checkpoint(prefix, 1)
    symbol, arguments, states = od.model.load_checkpoint(prefix, 1)
    made = module(network, symbol)
    made.bind(*described(network, labels=True), for_training=False)
    made.set_params(arguments, states)
    return predicted_by(made, network)


@way(PREDICTED)
def buckets(network: Network, _: Path) -> Found:
    own = module(network)
    made = od.mod.BucketingModule(
        lambda key: (network.symbol, own.data_names, own.label_names), default_bucket_key=1
    )
    made.bind(*described(network, labels=True), for_training=False)
    made.set_params(*parameters(network))
    made.switch_bucket(2, *described(network, labels=True))
    given = batch(network)
    given.bucket_key, (given.provide_data, given.provide_label) = 2, described(network, labels=True)
    return predicted_by_batch(made, given)


def predicted_by_batch(made: Any, given: Any) -> Found:
    made.forward(given, is_train=False)
    return Found(outputs(made.get_outputs()))


@way(PREDICTED)
def chain(network: Network, _: Path) -> Found:
    made = od.mod.SequentialModule().add(module(network), take_labels=True)
    made.bind(*described(network, labels=True), for_training=False)
    made.init_params()
    made.set_params(*parameters(network))
    return predicted_by(made, network)


@way(PREDICTED)
def module_on_two_contexts(network: Network, _: Path) -> Found:
    made = module(network, context=[od.cpu(0), od.cpu(1)])
    made.bind(*described(network, labels=True), for_training=False)
    made.set_params(*parameters(network))
    return predicted_by(made, network)


def _take_two_steps(made: Any, network: Network) -> None:
    made.init_optimizer(
        optimizer_params={"learning_rate": RATE, "momentum": 0.9, "rescale_grad": 1.0}, kvstore=None
    )
    od.random.seed(SEED)
    for _ in range(2):
        made.forward_backward(batch(network))
        made.update()


@way(MOVED)
def module_that_trains(network: Network, _: Path) -> Found:
    made = bound(network, for_training=True)
    _take_two_steps(made, network)
    found = {name: array.asnumpy() for name, array in made.get_params()[0].items()}
    return Found(outputs(made.get_outputs()) | found)


@way(MOVED)
def module_that_shares_trains(network: Network, _: Path) -> Found:
    """Weights are moved by a module that has them from one bound for prediction."""
    first = bound(network, for_training=False)
    made = module(network)
    made.bind(*described(network, labels=True), for_training=True, shared_module=first)
    _take_two_steps(made, network)
    found = {name: array.asnumpy() for name, array in first.get_params()[0].items()}
    return Found(outputs(made.get_outputs()) | found)
