"""`operad convert`: old files brought up to date, what models use, and files that are wrong.

`mxnet/record.py` recorded what MXNet 1.9.1 computes with the files of `legacy`, and with what the command
makes of them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import operad as od
from operad import OperadError
from operad.cli import main
from operad.errors import BlockedPluginError, OperatorNotFoundError
from plugins.mxnet.tests.mxnet.record import LEGACY, SHAPES, digest, outputs

RECORD = json.loads((Path(__file__).parent / "mxnet" / "convert.json").read_text())


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["convert", *map(str, words)])


def found(*words: object, code: int = 0) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.exit_code == code, done.output
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def refused(*words: object) -> str:
    done = run(*words)
    assert done.exit_code == 1
    return done.output.strip()


def written(tmp_path: Path, *nodes: dict[str, Any], **more: Any) -> Path:
    """A symbol file of today's format, with the last node as its output."""
    document = {"nodes": list(nodes), "heads": [[len(nodes) - 1, 0, 0]], **more}
    path = tmp_path / "net-symbol.json"
    path.write_text(json.dumps(document))
    return path


DATA = {"op": "null", "name": "data", "inputs": []}


def applied(op: str, name: str = "out", **attrs: str) -> dict[str, Any]:
    return {"op": op, "name": name, "inputs": [[0, 0, 0]], "attrs": attrs}


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """A prefix with parameters of one epoch."""
    net = od.sym.BatchNorm(od.sym.FullyConnected(od.sym.var("data"), num_hidden=3, name="fc"), name="bn")
    arguments, _, states = net.infer_shape(data=(2, 4))
    assert arguments is not None
    assert states is not None
    arrays = {f"arg:{n}": od.nd.ones(s) for n, s in zip(net.list_arguments(), arguments, strict=True)}
    arrays |= {f"aux:{n}": od.nd.ones(s) for n, s in zip(net.list_auxiliary_states(), states, strict=True)}
    del arrays["arg:data"]
    net.save(str(tmp_path / "net-symbol.json"))
    od.nd.save(str(tmp_path / "net-0003.params"), arrays)
    return str(tmp_path / "net")


every_old_file = pytest.mark.parametrize("name", SHAPES)


@every_old_file
def test_an_old_file_becomes_the_one_that_mxnet_has_loaded(name: str, tmp_path: Path) -> None:
    out = tmp_path / "new.json"

    assert found(LEGACY / f"{name}.json", "-o", out)["written"] == [str(out)]
    assert digest(out.read_text()) == RECORD[name]["digest"], "ask MXNet again: tests/mxnet/record.py"


@every_old_file
def test_a_converted_file_computes_what_mxnet_computes_with_the_old_one(name: str, tmp_path: Path) -> None:
    out = tmp_path / "new.json"
    found(LEGACY / f"{name}.json", "-o", out)
    made = outputs(od, out.read_text(), name)

    for expected in filter(None, (RECORD[name]["legacy"], RECORD[name]["converted"])):
        assert [shape for shape, _ in made] == [shape for shape, _ in expected]
        for (_, one), (_, other) in zip(made, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_what_became_of_old_words_is_told() -> None:
    told = {change["what"]: change["nodes"] for change in found(LEGACY / "network-0.8.json")["changes"]}

    assert told["operator Softmax is SoftmaxOutput"] == 1
    assert told["a variable that the file left out stands in it"] == 2
    assert told["attribute lr_mult is __lr_mult__"] == 1
    assert told["attribute bias_lr_mult stands at the variable"] == 1


def test_a_file_of_today_is_left_as_it_is(checkpoint: str) -> None:
    assert found(checkpoint)["changes"] == []


def test_what_is_no_parameter_is_kept_under_a_hidden_name(tmp_path: Path) -> None:
    path = written(tmp_path, DATA, applied("tanh", mood="calm", weight_lr_mult="2", __note__="x"))
    found(path, "-o", tmp_path / "new.json")

    assert json.loads((tmp_path / "new.json").read_text())["nodes"][1]["attrs"] == {
        "__mood__": "calm",
        "__weight_lr_mult__": "2",
        "__note__": "x",
    }


def test_a_draw_without_inputs_keeps_its_meaning(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"op": "_sample_uniform", "name": "out", "inputs": [], "attr": {"shape": "(2,)"}}
    )

    assert [op["name"] for op in found(path)["operators"]] == ["_random_uniform"]


def test_a_model_is_described(checkpoint: str) -> None:
    told = found(checkpoint)

    assert [(op["name"], op["nodes"], op["distribution"]) for op in told["operators"]] == [
        ("BatchNorm", 1, "operad-normalization"),
        ("FullyConnected", 1, "operad-fully-connected"),
    ]
    assert [one["name"] for one in told["inputs"]] == ["data"]
    assert told["outputs"] == ["bn_output"]
    assert told["parameters"][0] == {
        "name": "fc_weight",
        "shape": [3, 4],
        "dtype": "float32",
        "size_bytes": 48,
    }


def test_a_model_fits_on_eighty_columns(checkpoint: str) -> None:
    done = run(checkpoint)

    assert max(map(len, done.stdout.replace(checkpoint, "net").splitlines())) <= 80
    assert "float32 parameters:  6, 108 bytes" in done.stdout


def test_a_checkpoint_is_written_as_a_checkpoint(checkpoint: str, tmp_path: Path) -> None:
    found(checkpoint, "-o", tmp_path / "new")
    symbol, arguments, states = od.model.load_checkpoint(str(tmp_path / "new"), 3)

    assert symbol.list_arguments() == ["data", "fc_weight", "fc_bias", "bn_gamma", "bn_beta"]
    assert (sorted(states), arguments["fc_weight"].shape) == (["bn_moving_mean", "bn_moving_var"], (3, 4))


def test_parameters_of_today_are_written_as_they_were(checkpoint: str, tmp_path: Path) -> None:
    old = tmp_path / "net-0003.params"
    od.nd.save(str(old), dict(reversed(od.nd.load(str(old)).items())))
    found(checkpoint, "-o", tmp_path / "new")

    assert (tmp_path / "new-0003.params").read_bytes() == old.read_bytes()


def test_parameters_of_the_first_format_are_written_in_todays(tmp_path: Path) -> None:
    old, new = tmp_path / "old.params", tmp_path / "new.params"
    array = struct.pack("<IIiii2f", 1, 2, 1, 0, 0, 1.5, 2.5)  # axes, length, cpu(0), float32
    old.write_bytes(struct.pack("<QQQ", 0x112, 0, 1) + array + struct.pack("<QQ1s", 1, 1, b"w"))
    found(old, "-o", new)

    assert new.read_bytes() == od.nd.dumps({"w": od.nd.array([1.5, 2.5])})


def test_names_without_prefixes_get_them(checkpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "net-0003.params"
    od.nd.save(str(path), {name.partition(":")[2]: one for name, one in od.nd.load(str(path)).items()})
    found(checkpoint, "-o", tmp_path / "new")

    assert "aux:bn_moving_var" in od.nd.load(str(tmp_path / "new-0003.params"))


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, OperadError], None]:
    """Takes an operator away, for a reason."""

    def take(op: str, error: OperadError) -> None:
        real = od.registry.get

        def get(name: str) -> Any:
            if name == op:
                raise error
            return real(name)

        monkeypatch.setattr(od.registry, "get", get)

    return take


def test_what_is_missing_is_named_with_its_package(without: Any, checkpoint: str, tmp_path: Path) -> None:
    without("FullyConnected", OperatorNotFoundError("no installed plugin provides it"))
    told = found(checkpoint, "-o", tmp_path / "new", code=1)

    assert [op["problem"] for op in told["operators"]] == [None, "no installed plugin provides it"]
    assert told["install"] == od.registry.install_line(["FullyConnected"])
    assert (told["written"], (tmp_path / "new-symbol.json").exists()) == ([], False)


def test_what_is_installed_and_cannot_be_used_need_not_be_installed(without: Any, checkpoint: str) -> None:
    without("FullyConnected", BlockedPluginError("it is switched off"))
    told = found(checkpoint, code=1)

    assert (told["install"], told["operators"][1]["problem"]) == (None, "it is switched off")


def test_an_operator_that_nobody_has_is_missing(tmp_path: Path) -> None:
    (told,) = found(written(tmp_path, DATA, applied("TorchModule")), code=1)["operators"]

    assert told["problem"].startswith("no installed plugin provides operator 'TorchModule'")


def test_a_custom_operator_is_its_programs(tmp_path: Path) -> None:
    (told,) = found(written(tmp_path, DATA, applied("Custom", op_type="mine")), code=1)["operators"]

    assert (told["name"], told["distribution"]) == ("Custom:mine", "operad-custom")
    assert "operator.register('mine')" in told["problem"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"arg:fc_weight": None}, "parameter 'fc_weight' has no value"),
        ({"aux:bn_moving_var": None}, "parameter 'bn_moving_var' has no value"),
        ({"arg:other": (3,)}, "array 'other' belongs to no variable of the symbol"),
        ({"aux:bn_moving_mean": (4,)}, "auxiliary state 'bn_moving_mean' has shape (4,), expected (3,)"),
        ({"arg:fc_bias": (9,)}, "FullyConnected 'fc': bias has shape (9,), expected (3,)"),
    ],
)
def test_parameters_that_do_not_fit_are_a_problem(
    change: dict[str, Any], problem: str, checkpoint: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "net-0003.params")
    arrays = od.nd.load(path)
    ((name, shape),) = change.items()
    kept = {key: one for key, one in arrays.items() if key != name}
    od.nd.save(path, kept if shape is None else {**kept, name: od.nd.ones(shape)})
    told = found(checkpoint, "-o", tmp_path / "new", code=1)

    assert [problem in one for one in told["problems"]] == [True]
    assert told["written"] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "this is not JSON"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"[1]", "there is no list of 'nodes'"),
        (b'{"nodes": [3]}', "node 0 of symbol file"),
        (b'{"nodes": [{"op": "tanh"}]}', "'name' is None, expected text"),
        (b'{"nodes": [{"op": "null", "name": "x", "attrs": []}]}', "'attrs' is list, expected an object"),
        (b'{"nodes": [{"op": "null", "name": "x", "inputs": []}]}', "has no 'heads'"),
        (struct.pack("<QQQ", 0x112, 0, 9), "claims 9 arrays"),
    ],
)
def test_a_damaged_file_is_refused_by_name(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(content)
    words = refused(path, "-o", tmp_path / "new")

    assert message in words
    assert "damaged" in words
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "expected a symbol file, a file of parameters, or the prefix" in refused(tmp_path / "nothing")


def test_of_several_epochs_one_is_chosen(checkpoint: str, tmp_path: Path) -> None:
    (tmp_path / "net-0012.params").write_bytes((tmp_path / "net-0003.params").read_bytes())

    assert "choose one with --epoch" in refused(checkpoint)
    assert found(checkpoint, "--epoch", 12)["files"][1].endswith("net-0012.params")
    assert "has no parameters of epoch 4; there are: 3, 12" in refused(checkpoint, "--epoch", 4)
    assert "is a file" in refused(f"{checkpoint}-symbol.json", "--epoch", 3)
