from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import operad as od

zoo = od.gluon.model_zoo


@pytest.mark.more
@pytest.mark.parametrize("name", ["mobilenet0.25.params", "mobilenet0.25-9f83e440.params"])
def test_weights_are_read_from_a_local_file(name: str, tmp_path: Path) -> None:
    data = od.nd.random.uniform(-1, 1, (1, 3, 32, 32))
    net = zoo.vision.mobilenet0_25()
    net.initialize()
    expected = net(data)
    net.save_parameters(str(tmp_path / name))
    found = zoo.vision.get_model("mobilenet0.25", pretrained=True, root=str(tmp_path))(data)
    np.testing.assert_array_equal(found.asnumpy(), expected.asnumpy())


def test_a_missing_file_says_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"pretrained squeezenet1\.1: no 'squeezenet1\.1\.params' in "
    ) as raised:
        zoo.vision.squeezenet1_1(pretrained=True, root=str(tmp_path))
    assert "put MXNet's file of weights there" in str(raised.value)


def test_weights_are_deleted_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.params", "b.txt"):
        (tmp_path / name).touch()
    zoo.model_store.purge(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]
