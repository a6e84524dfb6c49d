"""What is around a test, and the names of MXNet's module."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, UnsupportedError
from operad_test_utils.absent import ABSENT

tu = od.test_utils

NAMES = """
    DummyIter almost_equal assert_allclose assert_almost_equal assert_almost_equal_ignore_nan
    assert_almost_equal_with_err assert_exception assign_each assign_each2 checkShapes check_consistency
    check_gluon_hybridize_consistency check_numeric_gradient check_speed check_symbolic_backward
    check_symbolic_forward chi_square_check collapse_sum_like compare_ndarray_tuple compare_optimizer
    create_2d_tensor create_sparse_array create_sparse_array_zd create_vector default_atols default_context
    default_dtype default_numeric_eps default_rtols discard_stderr download download_model effective_dtype
    environment gen_buckets_probs_with_ppf get_atol get_bz2_data get_cifar10 get_etol get_identity_mat
    get_identity_mat_batch get_im2rec_path get_mnist get_mnist_iterator get_mnist_pkl get_mnist_ubyte get_rtol
    get_tolerance get_tols get_zip_data has_tvm_ops is_aarch64_run is_cd_run is_op_runnable list_gpus
    locationError mean_check new_matrix_with_real_eigvals_2d new_matrix_with_real_eigvals_nd
    new_orthonormal_matrix_2d new_sym_matrix_with_real_eigvals_2d new_sym_matrix_with_real_eigvals_nd
    np_reduce numeric_grad rand_coord_2d rand_ndarray rand_shape_2d rand_shape_3d rand_shape_nd
    rand_sparse_ndarray random_arrays random_sample random_uniform_arrays retry same same_array
    same_symbol_structure
    set_default_context shuffle_csr_column_indices simple_forward var_check verify_generator
"""
"""The functions and classes that MXNet 1.9.1's module defines."""


@pytest.mark.walk
@pytest.mark.parametrize("name", NAMES.split())
def test_every_name_is_there_or_absent_for_a_reason(name: str) -> None:
    found = getattr(tu, name)
    if name not in ABSENT:
        assert found.__doc__
        return
    with pytest.raises(UnsupportedError, match=f"test_utils.{name}: .*{ABSENT[name][-8:]}"):
        found("anything", at=1)


def test_other_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tu.nonsense


def test_the_default_context_can_be_set() -> None:
    try:
        tu.set_default_context(od.cpu(1))
        tu.set_default_context(od.cpu(2))
        assert tu.default_context() is od.cpu(2) is od.nd.ones(1).context
    finally:
        tu.set_default_context(od.cpu(0))
    assert tu.default_context() is od.cpu(0)
    assert list(tu.list_gpus()) == list(range(od.num_gpus()))


def test_arrays_of_one_memory_are_known_by_it() -> None:
    x = od.nd.array([1, 2, 3, 4])
    assert tu.same_array(x, x[:])
    assert not tu.same_array(x, x.copy())
    assert not tu.same_array(x, x[:2])
    assert x.asnumpy().tolist() == [1, 2, 3, 4]


def test_a_test_is_tried_again_after_failures() -> None:
    calls: list[int] = []

    @tu.retry(3)
    def lucky(at: int) -> int:
        """Its own words."""
        calls.append(at)
        assert len(calls) >= at
        return len(calls)

    assert lucky(3) == 3
    assert lucky.__doc__ == "Its own words."
    calls.clear()
    with pytest.raises(AssertionError):
        lucky(4)
    assert len(calls) == 3
    with pytest.raises(ArgumentError, match="n is 0"):
        tu.retry(0)


def test_only_failed_assertions_are_tried_again() -> None:
    calls = []

    @tu.retry(3)
    def broken() -> None:
        calls.append(1)
        raise KeyError

    with pytest.raises(KeyError):
        broken()
    assert calls == [1]


def test_the_environment_is_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERAD_TEST_A", "old")
    with tu.environment("OPERAD_TEST_B", "1"), tu.environment({"OPERAD_TEST_B": "2", "OPERAD_TEST_A": None}):
        assert (os.environ.get("OPERAD_TEST_A"), os.environ["OPERAD_TEST_B"]) == (None, "2")
    assert (os.environ["OPERAD_TEST_A"], os.environ.get("OPERAD_TEST_B")) == ("old", None)
    with pytest.raises(KeyError), tu.environment("OPERAD_TEST_A", "new"):
        raise KeyError
    assert os.environ["OPERAD_TEST_A"] == "old"
    with pytest.raises(ArgumentError, match="expected a name and a value"), tu.environment("A"):
        pass


def test_what_the_process_says_of_errors_is_thrown_away(capfd: Any) -> None:
    with tu.discard_stderr():
        os.write(2, b"by the system\n")
        sys.stderr.write("by Python\n")
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"


def test_a_dummy_iterator_gives_the_first_batch_only() -> None:
    real = od.io.NDArrayIter(np.arange(8).reshape(4, 2), batch_size=2)
    dummy = tu.DummyIter(real)
    assert (dummy.batch_size, dummy.provide_data) == (2, real.provide_data)
    assert [next(dummy).data[0].asnumpy().tolist() for _ in range(3)] == [[[0, 1], [2, 3]]] * 3
