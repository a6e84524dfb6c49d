"""Files of MXNet's Gluon, both ways; `mxnet/record.py` wrote those under MXNet 1.9.1."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from operad.gluon import nn

import operad as od
from operad import gluon, nd

Recorded = tuple[Path, dict[str, Any]]


@pytest.mark.parametrize("reader", ["loaded", "loaded_by_prefix", "loaded_into_a_dictionary", "imported"])
def test_files_of_mxnet_are_read_and_compute_the_same(
    reader: str, recorded: Recorded, recorder: ModuleType
) -> None:
    folder, record = recorded
    net = getattr(recorder, reader)(od, str(folder))
    np.testing.assert_allclose(net(recorder.data(od)).asnumpy(), record["outputs"], atol=2e-6)


def test_training_ends_where_mxnets_does(recorded: Recorded, recorder: ModuleType) -> None:
    np.testing.assert_allclose(
        recorder.trained(od)(recorder.data(od)).asnumpy(), recorded[1]["outputs"], atol=1e-5
    )


def test_files_have_the_bytes_of_mxnets(recorded: Recorded, recorder: ModuleType, tmp_path: Path) -> None:
    folder, record = recorded
    net = recorder.loaded(od, str(folder))
    net.hybridize()
    net(recorder.data(od))
    own = tmp_path / "own"
    own.mkdir()
    recorder.write(net, str(own))
    for name in record["files"]:
        if name.endswith(".params"):
            assert (own / name).read_bytes() == (folder / name).read_bytes(), name
    ours, theirs = (json.loads((place / "net-symbol.json").read_text()) for place in (own, folder))
    for mine, mxnets in zip(ours["nodes"], theirs["nodes"], strict=True):
        assert (mine["op"], mine["name"]) == (mxnets["op"], mxnets["name"])
        for attributes in (mine.get("attrs", {}), mxnets.get("attrs", {})):
            attributes.pop("__shape__", None)  # it is known where parameters were loaded
        assert mine.get("attrs") == mxnets.get("attrs")


def test_a_module_trains_what_was_exported(recorded: Recorded, recorder: ModuleType) -> None:
    folder, record = recorded
    symbol, args, states = od.model.load_checkpoint(str(folder / "net"), 7)
    module = od.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 1, 6, 6))], for_training=False)
    module.set_params(args, states)
    module.forward(od.io.DataBatch([recorder.data(od)]))
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), record["outputs"], atol=2e-6)


def chain(*units: int) -> nn.HybridSequential:
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(*[nn.Dense(count, in_units=3) for count in units])
    net.initialize()
    return net


def test_files_of_other_networks_are_refused_with_both_lists(tmp_path: Path) -> None:
    path = str(tmp_path / "a.params")
    chain(3, 3).save_parameters(path)
    with pytest.raises(AssertionError, match=r"'2.weight' of .* is missing .*'0.weight'.*Set allow_missing"):
        chain(3, 3, 3).load_parameters(path)
    with pytest.raises(ValueError, match=r"'1.weight' loaded from .* is not present .*Set ignore_extra"):
        chain(3).load_parameters(path)
    with pytest.raises(AssertionError, match=r"_weight' has shape \(2, 3\).* have \(3, 3\)"):
        chain(2, 3).load_parameters(path)
    chain(3, 3, 3).load_parameters(path, allow_missing=True)
    chain(3).load_parameters(path, ignore_extra=True)


def test_types_are_converted_on_request_only(tmp_path: Path) -> None:
    path = str(tmp_path / "a.params")
    net = chain(3)
    net.cast("float64")
    net.save_parameters(path)
    with pytest.raises(AssertionError, match="has type float32, and the file's values have float64"):
        chain(3).load_parameters(path)
    for source, expected in (("current", np.float32), ("saved", np.float64)):
        other = chain(3)
        other.load_parameters(path, cast_dtype=True, dtype_source=source)
        assert other[0].weight.data().dtype == expected


def test_a_shared_parameter_is_written_once_on_request(tmp_path: Path) -> None:
    def shared() -> nn.Sequential:
        net = nn.Sequential()
        first = nn.Dense(3, in_units=3)
        net.add(first, nn.Dense(3, in_units=3, params=first.params))
        net.initialize()
        return net

    path, net = str(tmp_path / "a.params"), shared()
    net.save_parameters(path, deduplicate=True)
    assert len(nd.load(path)) == 2
    other = shared()
    other.load_parameters(path)
    assert (other[1].weight.data() == net[0].weight.data()).asnumpy().all()


def test_a_file_serves_several_contexts(tmp_path: Path) -> None:
    path, places = str(tmp_path / "a.params"), [od.cpu(0), od.cpu(1)]
    net = chain(3)
    net.save_parameters(path)
    other = nn.HybridSequential()
    other.add(nn.Dense(3))
    other.load_parameters(path, ctx=places)
    assert other[0].weight.list_ctx() == places
    assert (other[0].weight.data(od.cpu(1)) == net[0].weight.data().copyto(od.cpu(1))).asnumpy().all()


def test_save_and_load_keep_which_blocks_are_compiled(tmp_path: Path) -> None:
    path, x = str(tmp_path / "net"), nd.ones((1, 3))
    net = chain(3, 3)
    net[0].hybridize()
    expected = net(x).asnumpy()
    net.save(path)
    other = chain(3, 3)
    other.load(path)
    assert [one._active for one in other] == [True, False]
    np.testing.assert_array_equal(other(x).asnumpy(), expected)
    with pytest.raises(ValueError, match=r"describes a block of 2 children, and .* has 1"):
        chain(3).load(path)


def test_older_names_warn_and_read_the_same(tmp_path: Path) -> None:
    path, net = str(tmp_path / "a.params"), chain(3)
    with pytest.warns(UserWarning, match="use save_parameters"):
        net.save_params(path)
    other = chain(3)
    with pytest.warns(UserWarning, match="use load_parameters"):
        other.load_params(path)
    assert (other[0].weight.data() == net[0].weight.data()).asnumpy().all()


def test_imports_without_parameters_are_initialized_by_the_first_batch(tmp_path: Path) -> None:
    net = chain(2)
    net.hybridize()
    net(nd.ones((1, 3)))
    net.export(str(tmp_path / "net"))
    block = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), "data")
    block.initialize()
    assert block(nd.ones((4, 3))).shape == (4, 2)
