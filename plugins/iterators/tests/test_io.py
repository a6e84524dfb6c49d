from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.beside import printed_beside
from operad.errors import ArgumentError, ParamError


def test_the_namespace_has_the_iterators_that_plugins_register() -> None:
    from operad.io import CSVIter  # type: ignore[import-not-found]  # a plugin adds it

    assert {"CSVIter", "LibSVMIter", "MNISTIter", "NDArrayIter", "PrefetchingIter", "ResizeIter"} <= set(
        dir(od.io)
    )
    assert set(od.registry.entry_names("operad.iterators")) <= set(dir(od.io))
    assert od.io.CSVIter is CSVIter is od.registry.entry("operad.iterators", "CSVIter")


def test_an_iterator_of_another_distribution_is_found(tmp_path: Path) -> None:
    source, program = "class AcmeIter:\n    batch_size = 7\n", "print(od.io.AcmeIter.batch_size)"
    entry = "AcmeIter = acme_extras:AcmeIter"
    printed = printed_beside(tmp_path, "iterators", entry, source, f"import operad as od; {program}")
    assert printed == "7\n"


def test_a_name_that_no_plugin_provides_is_an_attribute_error_with_advice() -> None:
    with pytest.raises(AttributeError, match="did you mean 'NDArrayIter'"):
        _ = od.io.NDArrayItr
    assert not hasattr(od.io, "_private")


def test_importing_the_namespace_imports_no_iterator() -> None:
    # Of a fresh copy of the module: this process has used the iterators already.
    spec = importlib.util.find_spec("operad_iterators")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "NDArrayIter" not in vars(module)


def test_descriptions_unpack_to_name_and_shape_and_survive_pickling() -> None:
    described = od.io.DataDesc("data", (2, 3), "int32", "NT")
    name, shape = described
    assert (name, shape) == ("data", (2, 3)) == described
    copied = pickle.loads(pickle.dumps(described))
    assert (copied.dtype, copied.layout) == ("int32", "NT")
    assert repr(copied) == "DataDesc[data,(2, 3),int32,NT]"


@pytest.mark.parametrize(("layout", "axis"), [("NCHW", 0), ("TNC", 1), (None, 0), ("TC", -1)])
def test_the_batch_axis_is_where_the_layout_says_n(layout: str | None, axis: int) -> None:
    assert od.io.DataDesc.get_batch_axis(layout) == axis


def test_lists_of_descriptions_take_types_by_name() -> None:
    shapes = [("a", (2,)), ("b", (3,))]
    assert [one.dtype for one in od.io.DataDesc.get_list(shapes, [("b", "int8"), ("a", "int32")])] == [
        "int32",
        "int8",
    ]
    assert [one.dtype for one in od.io.DataDesc.get_list(shapes)] == [np.float32] * 2
    with pytest.raises(ArgumentError, match="'a' has a shape and no type"):
        od.io.DataDesc.get_list(shapes, [("b", "int8")])


def test_a_batch_says_its_shapes_and_refuses_a_bare_array() -> None:
    array = od.nd.ones((2, 3))
    assert str(od.io.DataBatch([array], [array])) == "DataBatch: data shapes: [(2, 3)] label shapes: [(2, 3)]"
    with pytest.raises(ArgumentError, match="data is NDArray, expected a list"):
        od.io.DataBatch(array)
    with pytest.raises(ArgumentError, match="label is NDArray, expected a list"):
        od.io.DataBatch([array], array)


def test_an_iterator_may_be_written_from_the_parts_of_its_batches() -> None:
    class Two(od.io.DataIter):  # type: ignore[misc]  # a class of a plugin
        left = 2

        def iter_next(self) -> bool:
            self.left -= 1
            return self.left >= 0

        def getdata(self) -> Any:
            return [od.nd.array([self.left])]

    assert [batch.data[0].asscalar() for batch in Two(1)] == [1, 0]
    assert list(od.io.DataIter(1)) == []


def resized(count: int, size: int, **named: Any) -> Any:
    return od.io.ResizeIter(od.io.NDArrayIter(np.arange(count)), size, **named)


def values(iterator: Any) -> list[float]:
    return [batch.data[0].asscalar() for batch in iterator]


def test_a_resized_pass_begins_again_as_often_as_it_needs() -> None:
    iterator = resized(2, 5)
    for _ in range(2):
        assert values(iterator) == [0, 1, 0, 1, 0]
        iterator.reset()


def test_a_resized_pass_goes_on_where_the_last_ended_without_reset_internal() -> None:
    iterator = resized(3, 2, reset_internal=False)
    assert values(iterator) == [0, 1]
    iterator.reset()
    assert values(iterator) == [2, 0]


def test_a_resized_iterator_tells_of_its_batches_as_the_other_does() -> None:
    iterator = resized(3, 2)
    assert iterator.iter_next()
    assert (iterator.getdata()[0].asscalar(), iterator.getlabel(), iterator.getpad()) == (0, [], 0)
    assert iterator.getindex() is None
    assert (iterator.batch_size, iterator.provide_data) == (1, [("data", (1,))])


def test_resizing_nothing_is_an_error() -> None:
    with pytest.raises(ParamError, match="size is -1"):
        resized(1, -1)
    empty = od.io.ResizeIter(od.io.NDArrayIter(np.arange(2), batch_size=3, last_batch_handle="discard"), 1)
    with pytest.raises(ArgumentError, match="NDArrayIter has no batches"):
        empty.next()
