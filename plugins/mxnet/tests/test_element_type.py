"""Element types: a class of numbers and a dtype at once."""

import copy
import importlib
import pickle

import numpy as np
import pytest

from operad import nd
from operad_mxnet.element_type import element_type

NAMES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")


@pytest.mark.parametrize("name", NAMES)
def test_is_equal_to_class_dtype_and_name_from_either_side(name: str) -> None:
    kind, dtype = element_type(np.dtype(name)), np.dtype(name)
    for other in (dtype, dtype.type, name, kind):
        assert kind == other
        assert other == kind
        assert not kind != other  # noqa: SIM202 - the operator is what is tested
    for other in (None, "foo", 3, np.dtype("complex64")):
        assert kind != other


@pytest.mark.parametrize("name", NAMES)
def test_is_found_in_a_dict_by_classes(name: str) -> None:
    assert {np.dtype(name).type: "found"}[element_type(np.dtype(name))] == "found"


@pytest.mark.parametrize("name", NAMES)
def test_numpy_takes_it_for_the_dtype(name: str) -> None:
    kind, dtype = element_type(np.dtype(name)), np.dtype(name)
    made = (np.zeros(2, kind), np.ones(2).astype(kind), np.asarray([1], kind), kind([1, 0]), kind(1))
    assert [one.dtype for one in made] == [dtype] * 5
    assert np.result_type(kind, np.float64) == np.result_type(dtype, np.float64)


@pytest.mark.parametrize("name", NAMES)
def test_has_every_attribute_of_the_dtype(name: str) -> None:
    kind, dtype = element_type(np.dtype(name)), np.dtype(name)
    for attribute in ("name", "kind", "itemsize", "char", "str", "type", "num", "byteorder", "alignment"):
        assert getattr(kind, attribute) == getattr(dtype, attribute), attribute
    assert (str(kind), repr(kind), kind.__name__) == (str(dtype), repr(dtype), dtype.type.__name__)


def test_is_a_class_of_numpys_numbers() -> None:
    assert issubclass(nd.ones(1).dtype, np.floating)
    assert np.issubdtype(nd.ones(1, dtype="int8").dtype, np.integer)
    assert np.finfo(nd.ones(1).dtype).bits == 32


def test_is_one_object_through_copies_and_pickles() -> None:
    kind = nd.ones(1).dtype
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert copy.deepcopy(kind) is kind


@pytest.mark.parametrize("name", NAMES)
def test_is_found_in_its_module_as_pickles_look_for_classes(name: str) -> None:
    kind = element_type(np.dtype(name))
    module = importlib.import_module(kind.__module__)
    assert getattr(module, kind.__name__) is kind
    assert pickle.loads(pickle.dumps(nd.ones(1, dtype=name))).dtype is kind
    with pytest.raises(AttributeError, match="float31"):
        _ = module.float31
