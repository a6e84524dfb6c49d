"""MXNet 1.x's `test_utils`: comparing arrays, checking gradients and random numbers.

`DummyIter` is looked up when first used, since it needs the package of iterators.
"""

import sys
from importlib import import_module

import operad
from operad_test_utils.absent import ABSENT as _ABSENT
from operad_test_utils.absent import absent as _absent
from operad_test_utils.borrowed import MODULES as _MODULES
from operad_test_utils.comparing import almost_equal as almost_equal
from operad_test_utils.comparing import assert_allclose as assert_allclose
from operad_test_utils.comparing import assert_almost_equal as assert_almost_equal
from operad_test_utils.comparing import assert_almost_equal_ignore_nan as assert_almost_equal_ignore_nan
from operad_test_utils.comparing import assert_almost_equal_with_err as assert_almost_equal_with_err
from operad_test_utils.comparing import assert_exception as assert_exception
from operad_test_utils.comparing import checkShapes as checkShapes
from operad_test_utils.comparing import collapse_sum_like as collapse_sum_like
from operad_test_utils.comparing import compare_ndarray_tuple as compare_ndarray_tuple
from operad_test_utils.comparing import find_max_violation as find_max_violation
from operad_test_utils.comparing import locationError as locationError
from operad_test_utils.comparing import same as same
from operad_test_utils.consistency import check_consistency as check_consistency
from operad_test_utils.consistency import compare_optimizer as compare_optimizer
from operad_test_utils.data_files import download as download
from operad_test_utils.data_files import get_cifar10 as get_cifar10
from operad_test_utils.data_files import get_mnist as get_mnist
from operad_test_utils.data_files import get_mnist_iterator as get_mnist_iterator
from operad_test_utils.data_files import get_mnist_pkl as get_mnist_pkl
from operad_test_utils.data_files import get_mnist_ubyte as get_mnist_ubyte
from operad_test_utils.executing import check_speed as check_speed
from operad_test_utils.executing import check_symbolic_backward as check_symbolic_backward
from operad_test_utils.executing import check_symbolic_forward as check_symbolic_forward
from operad_test_utils.executing import same_symbol_structure as same_symbol_structure
from operad_test_utils.executing import simple_forward as simple_forward
from operad_test_utils.generators import chi_square_check as chi_square_check
from operad_test_utils.generators import gen_buckets_probs_with_ppf as gen_buckets_probs_with_ppf
from operad_test_utils.generators import mean_check as mean_check
from operad_test_utils.generators import var_check as var_check
from operad_test_utils.generators import verify_generator as verify_generator
from operad_test_utils.gradients import check_numeric_gradient as check_numeric_gradient
from operad_test_utils.gradients import numeric_grad as numeric_grad
from operad_test_utils.process import default_context as default_context
from operad_test_utils.process import discard_stderr as discard_stderr
from operad_test_utils.process import environment as environment
from operad_test_utils.process import has_tvm_ops as has_tvm_ops
from operad_test_utils.process import is_aarch64_run as is_aarch64_run
from operad_test_utils.process import is_op_runnable as is_op_runnable
from operad_test_utils.process import list_gpus as list_gpus
from operad_test_utils.process import retry as retry
from operad_test_utils.process import same_array as same_array
from operad_test_utils.process import set_default_context as set_default_context
from operad_test_utils.random_data import assign_each as assign_each
from operad_test_utils.random_data import assign_each2 as assign_each2
from operad_test_utils.random_data import create_2d_tensor as create_2d_tensor
from operad_test_utils.random_data import create_vector as create_vector
from operad_test_utils.random_data import get_identity_mat as get_identity_mat
from operad_test_utils.random_data import get_identity_mat_batch as get_identity_mat_batch
from operad_test_utils.random_data import new_matrix_with_real_eigvals_2d as new_matrix_with_real_eigvals_2d
from operad_test_utils.random_data import new_matrix_with_real_eigvals_nd as new_matrix_with_real_eigvals_nd
from operad_test_utils.random_data import new_orthonormal_matrix_2d as new_orthonormal_matrix_2d
from operad_test_utils.random_data import (
    new_sym_matrix_with_real_eigvals_2d as new_sym_matrix_with_real_eigvals_2d,
)
from operad_test_utils.random_data import (
    new_sym_matrix_with_real_eigvals_nd as new_sym_matrix_with_real_eigvals_nd,
)
from operad_test_utils.random_data import np_reduce as np_reduce
from operad_test_utils.random_data import rand_coord_2d as rand_coord_2d
from operad_test_utils.random_data import rand_ndarray as rand_ndarray
from operad_test_utils.random_data import rand_shape_2d as rand_shape_2d
from operad_test_utils.random_data import rand_shape_3d as rand_shape_3d
from operad_test_utils.random_data import rand_shape_nd as rand_shape_nd
from operad_test_utils.random_data import random_arrays as random_arrays
from operad_test_utils.random_data import random_sample as random_sample
from operad_test_utils.random_data import random_uniform_arrays as random_uniform_arrays
from operad_test_utils.tolerances import default_atols as default_atols
from operad_test_utils.tolerances import default_dtype as default_dtype
from operad_test_utils.tolerances import default_numeric_eps as default_numeric_eps
from operad_test_utils.tolerances import default_rtols as default_rtols
from operad_test_utils.tolerances import effective_dtype as effective_dtype
from operad_test_utils.tolerances import get_atol as get_atol
from operad_test_utils.tolerances import get_etol as get_etol
from operad_test_utils.tolerances import get_rtol as get_rtol
from operad_test_utils.tolerances import get_tolerance as get_tolerance
from operad_test_utils.tolerances import get_tols as get_tols


def __getattr__(name: str) -> object:
    if name == "__all__":
        return operad.registry.star_names(sys.modules[__name__])
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name == "DummyIter":
        return import_module(f"{__name__}.dummy_iter").DummyIter
    if name in _ABSENT:
        return _absent(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ABSENT, *_MODULES, "DummyIter"})
