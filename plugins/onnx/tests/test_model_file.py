"""Files that nobody vouches for: what they ask for is compared with what they hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx import TensorProto, external_data_helper, helper

import operad as od
from operad.errors import FormatError, LimitError, OperadError
from plugins.onnx.tests.test_load import RELU, model_of


def with_tensor(tensor: TensorProto) -> onnx.ModelProto:
    return model_of(helper.make_node("Add", ["x", "w"], ["y"]), tensors=[tensor])


def beside(location: str, dims: Any = (2, 3), **told: Any) -> onnx.ModelProto:
    """A model whose tensor stands in another file."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims)
    tensor.raw_data = b""
    external_data_helper.set_external_data(tensor, location, **told)
    tensor.ClearField("raw_data")
    return with_tensor(tensor)


def written(model: onnx.ModelProto, folder: Path) -> Path:
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize("content", [b"", b"text that is none", b"\x08", bytes(range(256)), b"\xff" * 100])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"m\.onnx"):
        od.onnx.load(path)


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "pipe", "missing.onnx"):
        with pytest.raises(OperadError, match="the ONNX file"):
            od.onnx.load(tmp_path / name)


def test_a_file_above_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(model_of(RELU), tmp_path)
    monkeypatch.setenv("OPERAD_MAX_FILE_BYTES", "10")
    od.config.reload()
    try:
        with pytest.raises(LimitError, match="OPERAD_MAX_FILE_BYTES"):
            od.onnx.load(path)
    finally:
        monkeypatch.undo()
        od.config.reload()


@pytest.mark.parametrize("dims", [(10**9, 10**9), (2, -3), (2, 2)])
def test_a_tensor_holds_what_its_shape_says(dims: Any) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"\0" * 24)
    with pytest.raises(FormatError, match="the tensor 'w' has the shape"):
        od.onnx.load(with_tensor(tensor))
    values = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, float_data=[0.0] * 6)
    with pytest.raises(FormatError, match="the tensor 'w' has the shape"):
        od.onnx.load(with_tensor(values))


@pytest.mark.parametrize(
    "location", ["../w", "/etc/hostname", "a/../../w", "", "C:\\w", "\\\\host\\w", "..\\w", "w\0", "./../w"]
)
def test_weights_outside_of_the_folder_are_refused(location: str, tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(b"\0" * 24)
    folder = tmp_path / "inner"
    folder.mkdir()
    with pytest.raises(FormatError, match="expected a file in the folder of the model"):
        od.onnx.load(written(beside(location), folder))


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(b"\0" * 24)
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "w").symlink_to(tmp_path / "w")
    (folder / "there").symlink_to(tmp_path)
    for location in ("w", "there/w"):
        with pytest.raises(FormatError, match="which is a link"):
            od.onnx.load(written(beside(location), folder))


@pytest.mark.parametrize(
    "told", [{"offset": -1}, {"length": 10**12}, {"offset": 20}, {"length": 12}, {"offset": 10**15}]
)
def test_offsets_and_lengths_fit_the_file(told: Any, tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(b"\0" * 24)
    with pytest.raises(FormatError, match="the tensor 'w'"):
        od.onnx.load(written(beside("w", **told), tmp_path))


def test_weights_beside_a_model_are_read(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(np.arange(8, dtype="<f4").tobytes())
    found = od.onnx.load(written(beside("w", offset=8, length=24), tmp_path)).params["w"]
    assert found.asnumpy().tolist() == [[2, 3, 4], [5, 6, 7]]


def test_bytes_have_nothing_beside_them() -> None:
    with pytest.raises(FormatError, match="which bytes do not have beside them"):
        od.onnx.load(beside("w").SerializeToString())
