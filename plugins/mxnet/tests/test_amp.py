"""`mx.contrib.amp`: casts in symbols, and losses that are scaled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operad.contrib import amp

import operad as od
from operad.errors import ArgumentError, OperatorNotFoundError, ParamError, UnsupportedError


def network() -> od.Symbol:
    hidden = od.sym.FullyConnected(od.sym.var("data"), num_hidden=4, name="fc1")
    hidden = od.sym.Activation(hidden, act_type="relu", name="act")
    scores = od.sym.FullyConnected(hidden, num_hidden=2, name="fc2")
    return od.sym.SoftmaxOutput(scores + od.sym.exp(scores, name="ex"), name="softmax")


def casts(symbol: od.Symbol) -> list[str]:
    names = symbol.get_internals().list_outputs()
    return [name.removesuffix("_output") for name in names if "_amp_cast_" in name]


@pytest.mark.more
def test_products_are_cast_to_half_and_what_loses_digits_back() -> None:
    assert casts(amp.convert_symbol(network())) == [
        *(
            f"{name}_amp_cast_float16"
            for name in ("data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias")
        ),
        "fc2_output_amp_cast_float32",
    ]  # the names that MXNet 1.9.1 gives


def test_parameters_and_their_gradients_stay_in_single_precision() -> None:
    executor = amp.convert_symbol(network()).simple_bind(od.cpu(), data=(2, 3))
    assert {name: array.dtype.name for name, array in executor.grad_dict.items()} == dict.fromkeys(
        network().list_arguments(), "float32"
    )
    assert executor.forward()[0].dtype.name == "float32"


def test_converted_networks_compute_nearly_the_same() -> None:
    plain, converted = (
        symbol.simple_bind(od.cpu(), data=(5, 3)) for symbol in (network(), amp.convert_symbol(network()))
    )
    rng = np.random.default_rng(0)
    for name, array in plain.arg_dict.items():
        array[:] = rng.normal(size=array.shape) if name != "softmax_label" else rng.integers(0, 2, 5)
        converted.arg_dict[name][:] = array
    (one,), (other,) = (executor.forward(is_train=True) for executor in (plain, converted))
    np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), atol=5e-3)
    plain.backward()
    converted.backward()
    for name in ("fc1_weight", "fc2_bias"):
        found, expected = (e.grad_dict[name].asnumpy() for e in (converted, plain))
        np.testing.assert_allclose(found, expected, atol=2e-2)
        assert (found != expected).any()  # half precision was used


def test_nodes_that_are_excluded_are_computed_in_single_precision() -> None:
    assert casts(amp.convert_symbol(network(), excluded_sym_names=["fc1", "fc2"])) == []
    with pytest.raises(ParamError, match="excluded_sym_names has 'fc9'"):
        amp.convert_symbol(network(), excluded_sym_names=["fc9"])


def test_lists_may_be_given() -> None:
    found = casts(amp.convert_symbol(network(), target_dtype_ops=["exp"], fp32_ops=["FullyConnected"]))
    assert found == ["fc2_output_amp_cast_float16", "ex_output_amp_cast_float32"]
    with pytest.raises(OperatorNotFoundError, match="FullyConected"):
        amp.convert_symbol(network(), target_dtype_ops=["FullyConected"])


def test_a_parameter_decides_where_the_list_says_so() -> None:
    def casts_of(kind: str) -> list[str]:
        product = od.sym.FullyConnected(od.sym.var("data"), num_hidden=2, name="fc")
        return casts(amp.convert_symbol(od.sym.Activation(product, act_type=kind, name="act")))

    assert "fc_output_amp_cast_float32" in casts_of("softrelu")
    assert "fc_output_amp_cast_float32" not in casts_of("relu")


def test_operators_of_two_types_are_computed_in_the_wider() -> None:
    product = od.sym.FullyConnected(od.sym.var("data"), num_hidden=2, name="fc")
    for both in (product + od.sym.var("other"), od.sym.maximum(product, od.sym.var("other"))):
        symbol = amp.convert_symbol(both)
        assert "fc_output_amp_cast_float32" in casts(symbol)
        symbol.simple_bind(od.cpu(), data=(1, 3), other=(1, 2)).forward()


def test_a_model_has_parameters_of_half_the_size_if_asked() -> None:
    shapes, _, _ = network().infer_shape(data=(1, 3))
    params = {
        name: od.nd.ones(shape)
        for name, shape in zip(network().list_arguments(), shapes, strict=True)
        if name not in ("data", "softmax_label")
    }
    symbol, same, _ = amp.convert_model(network(), params, {})
    assert {array.dtype.name for array in same.values()} == {"float32"}
    symbol, half, _ = amp.convert_model(network(), params, {}, cast_optional_params=True)
    assert {array.dtype.name for array in half.values()} == {"float16"}
    executor = symbol.bind(
        od.cpu(), {**half, "data": od.nd.ones((1, 3)), "softmax_label": od.nd.zeros(1)}, grad_req="null"
    )
    assert executor.forward()[0].dtype.name == "float32"
    assert casts(symbol) == ["data_amp_cast_float16", "fc2_output_amp_cast_float32"]


@pytest.mark.parametrize("call", [amp.convert_symbol, lambda _, dtype: amp.list_lp16_ops(dtype)])
def test_another_type_than_half_is_refused(call: Any) -> None:
    with pytest.raises(ParamError, match="target_dtype is 'bfloat16', expected 'float16'"):
        call(network(), "bfloat16")


def test_the_scale_is_halved_by_an_overflow_and_grows_after_a_window() -> None:
    scaler = amp.LossScaler(8.0, scale_window=2, max_scale=16.0)
    found = []
    for skipped in (False, False, True, False, False, False, False):
        scaler.update_scale(skipped)
        found.append(scaler.loss_scale)
    assert found == [8, 16, 8, 8, 16, 16, 16]
    assert scaler.has_overflow([od.nd.array([1.0]), od.nd.array([np.inf])])
    assert not scaler.has_overflow([od.nd.array([1.0])] * 5)
    with pytest.raises(ParamError, match="expected a scale from 1"):
        amp.LossScaler(0.5)


def module(symbol: od.Symbol, **options: Any) -> Any:
    made = od.mod.Module(symbol)
    made.bind([("data", (8, 3))], [("softmax_label", (8,))])
    od.random.seed(0)
    made.init_params(od.init.Xavier())
    made.init_optimizer(**{"kvstore": None, "optimizer_params": {"learning_rate": 0.5}, **options})
    return made


def batch(scale: float = 1.0) -> Any:
    rng = np.random.default_rng(0)
    data = scale * rng.normal(size=(8, 3))
    return od.io.DataBatch([od.nd.array(data)], [od.nd.array(rng.integers(0, 2, 8))])


def weights(made: Any) -> dict[str, np.ndarray]:
    return {name: array.asnumpy() for name, array in made.get_params()[0].items()}


def test_a_scaled_loss_moves_weights_as_far_as_an_unscaled_one() -> None:
    plain = module(amp.convert_symbol(network()))
    scaled = module(amp.convert_symbol(network(), scale_loss=True))
    amp.init_trainer(scaled, amp.LossScaler(64.0))
    for made in (plain, scaled):
        made.forward_backward(batch())
        made.update()
    gradients = (made._exec_group.execs[0].grad_dict["fc2_weight"].asnumpy() for made in (plain, scaled))
    one, other = gradients
    np.testing.assert_allclose(other, 64 * one, rtol=2e-2, atol=1e-2)
    for name, found in weights(scaled).items():
        np.testing.assert_allclose(found, weights(plain)[name], atol=2e-3)


def test_a_step_that_overflows_is_left_out() -> None:
    made = module(amp.convert_symbol(network(), scale_loss=True))
    scaler = amp.init_trainer(made, amp.LossScaler(2.0**24))
    before = weights(made)
    made.forward_backward(batch())
    made.update()
    assert scaler.loss_scale == 2.0**23
    for name, found in weights(made).items():
        np.testing.assert_array_equal(found, before[name])


def bucket(key: int) -> tuple[od.Symbol, tuple[str, ...], tuple[str, ...]]:
    """Rows of `key` numbers, of which sums and maxima are classified; short ones read a parameter more."""
    data, weight = od.sym.var("data"), od.sym.var("fc1_weight")
    both = od.sym.concat(data.sum(1, keepdims=True), data.max(1, keepdims=True), dim=1)
    hidden = od.sym.FullyConnected(both, weight=weight, num_hidden=4, name="fc1").tanh()
    if key < 4:
        hidden = od.sym.broadcast_add(hidden, weight.sum(1, keepdims=True).sum(0, keepdims=True))
    scores = od.sym.FullyConnected(hidden, num_hidden=2, name="fc2")
    return (
        od.sym.SoftmaxOutput(od.sym.BatchNorm(scores, name="bn"), name="softmax"),
        ("data",),
        ("softmax_label",),
    )


def buckets(keys: tuple[int, ...] = ()) -> Any:
    made = od.mod.BucketingModule(bucket, default_bucket_key=6)
    made.bind([("data", (2, 6))], [("softmax_label", (2,))])
    od.random.seed(0)
    made.init_params(od.init.Xavier())
    for key in keys:
        outputs_of(made, key)
    return made


def outputs_of(made: Any, key: int) -> np.ndarray:
    data = np.arange(2 * key).reshape(2, key) / 9
    shapes = {"provide_data": [("data", (2, key))], "provide_label": [("softmax_label", (2,))]}
    made.forward(od.io.DataBatch([od.nd.array(data)], None, bucket_key=key, **shapes), is_train=False)
    return made.get_outputs()[0].asnumpy()


def test_a_bucketing_module_has_casts_in_every_bucket_and_is_to_be_bound() -> None:
    plain = buckets((5,))
    converted = amp.convert_bucketing_module(plain)
    # The state that MXNet 1.9.1's has.
    assert (converted.binded, converted.params_initialized, converted.optimizer_initialized) == (
        False,
        True,
        False,
    )
    assert {name: array.dtype.name for name, array in converted.get_params()[0].items()} == dict.fromkeys(
        ("fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "bn_gamma", "bn_beta"), "float32"
    )
    converted.bind([("data", (2, 6))], [("softmax_label", (2,))], for_training=False)
    for key in (6, 5, 3):  # MXNet's later buckets, here 3, have none
        np.testing.assert_allclose(outputs_of(converted, key), outputs_of(plain, key), atol=5e-3)
        assert (outputs_of(converted, key) != outputs_of(plain, key)).any()  # half precision was used
        assert "fc2_weight_amp_cast_float16" in casts(converted.symbol)
    assert casts(plain.symbol) == []


def test_a_bucketing_module_is_trained_after_its_conversion() -> None:
    plain = buckets()
    converted = amp.convert_bucketing_module(plain)
    converted.bind([("data", (2, 6))], [("softmax_label", (2,))])
    converted.init_optimizer(optimizer_params={"learning_rate": 0.1})
    before = weights(converted)
    shapes = {"provide_data": [("data", (2, 5))], "provide_label": [("softmax_label", (2,))]}
    batch = od.io.DataBatch([od.nd.arange(10).reshape((2, 5))], [od.nd.array([0, 1])], bucket_key=5, **shapes)
    converted.forward_backward(batch)
    converted.update()
    assert (weights(converted)["fc2_weight"] != before["fc2_weight"]).any()
    assert (weights(plain)["fc2_weight"] == before["fc2_weight"]).all()


@pytest.mark.parametrize(("keys", "first"), [((), "float16"), ((3,), "float32")], ids=["not_yet", "bound"])
def test_parameters_are_halves_that_products_alone_read_in_the_buckets_bound(
    keys: tuple[int, ...], first: str
) -> None:
    plain = buckets(keys)
    converted = amp.convert_bucketing_module(plain, cast_optional_params=True)
    assert {name: array.dtype.name for name, array in converted.get_params()[0].items()} == {
        **dict.fromkeys(("fc1_bias", "fc2_weight", "fc2_bias"), "float16"),
        **dict.fromkeys(("bn_gamma", "bn_beta"), "float32"),
        "fc1_weight": first,
    }
    converted.bind([("data", (2, 6))], [("softmax_label", (2,))], for_training=False)
    for key in (
        6,
        3,
    ):  # MXNet refuses to bind a bucket that was not bound before, for its parameters are halves
        np.testing.assert_allclose(outputs_of(converted, key), outputs_of(plain, key), atol=5e-3)


def test_other_modules_than_bucketing_modules_with_parameters_are_refused() -> None:
    with pytest.raises(ArgumentError, match="got a Module, expected a BucketingModule"):
        amp.convert_bucketing_module(od.mod.Module(network()))
    unbound = od.mod.BucketingModule(bucket, default_bucket_key=6)
    with pytest.raises(od.OperadError, match="convert_bucketing_module: call bind first"):
        amp.convert_bucketing_module(unbound)
    with pytest.raises(ParamError, match="excluded_sym_names has 'fc9'"):
        amp.convert_bucketing_module(buckets(), excluded_sym_names=["fc9"])


def test_mxnets_import_paths_are_here_and_lists_may_be_changed_in_place() -> None:
    from operad.contrib.amp.amp import convert_bucketing_module
    from operad.contrib.amp.lists import symbol_fp16
    from operad.contrib.amp.loss_scaler import LossScaler

    assert convert_bucketing_module is amp.convert_bucketing_module
    assert LossScaler is amp.LossScaler
    assert amp.list_lp16_use_fp32_params("float16") is None
    symbol_fp16.FP16_FUNCS.remove("FullyConnected")
    try:
        assert casts(amp.convert_symbol(network())) == []
    finally:
        symbol_fp16.FP16_FUNCS.append("FullyConnected")


@pytest.mark.parametrize(
    "name", ["init", "scale_loss", "unscale", "convert_hybrid_block", "amp.init", "amp.bfloat16"]
)
def test_what_is_absent_says_so_however_the_module_was_reached(name: str) -> None:
    *inner, last = name.split(".")
    module = amp.amp if inner else amp
    with pytest.raises(AttributeError, match="MXNet has it, and no package of operad does"):
        getattr(module, last)


def test_what_cannot_be_scaled_is_refused() -> None:
    with pytest.raises(ArgumentError, match="call init_optimizer before"):
        amp.init_trainer(od.mod.Module(network()))
    with pytest.raises(ArgumentError, match="scale_loss=True"):
        amp.init_trainer(module(amp.convert_symbol(network())))
    stored = module(amp.convert_symbol(network(), scale_loss=True), kvstore=od.kv.create("local"))
    with pytest.raises(UnsupportedError, match=r"init_optimizer\(kvstore=None\)"):
        amp.init_trainer(stored)
