"""The comparison of two processors' results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.platforms import vector_results
from tests.platforms.vector_results import VECTOR_CODE, Difference, compare, difference


def test_bits_are_compared_and_distances_are_of_the_largest_number() -> None:
    one = np.array([1.0, -0.0, np.nan, np.inf, 8.0])
    assert difference([(one, one.copy())]) == Difference(5, 0, 0.0)
    assert difference([(one, np.array([1.0, 0.0, np.nan, np.inf, 10.0]))]) == Difference(5, 2, 0.25)


@pytest.mark.parametrize("other", [np.nan, -np.inf, 1.0])
def test_a_number_that_is_finite_on_one_processor_alone_is_infinitely_far(other: float) -> None:
    assert difference([(np.array([np.inf]), np.array([other]))]).distance == np.inf


@pytest.mark.parametrize(
    ("changed", "by", "how", "wrong"),
    [
        ("none", 0.0, VECTOR_CODE, []),
        ("forms", 1e-7, VECTOR_CODE, ["forms"]),
        ("products", 1e-7, VECTOR_CODE, ["products"]),
        ("convolutions", 1e-7, VECTOR_CODE, []),
        ("convolutions", 1e-3, VECTOR_CODE, ["convolutions"]),
        ("forms", 1e-7, "no FMA", []),
        ("forms", 1e-3, "no FMA", ["forms"]),
    ],
)
def test_forms_and_products_have_one_result_in_vector_code(tmp_path, changed, by, how, wrong) -> None:
    kinds = ("forms", "convolutions", "products")
    first, second = tmp_path / "first", tmp_path / "second"
    for path, each, distance in ((first, VECTOR_CODE, 0.0), (second, how, by)):
        arrays = {f"{kind}: any": np.array([1.0, 0.5 + distance * (kind == changed)]) for kind in kinds}
        with path.open("wb") as file:
            np.savez(file, how=np.array(each), **arrays)
    found = [line.partition(":")[0] for line, is_right in compare(first, second) if not is_right]
    assert found == wrong


@pytest.mark.more
def test_the_results_of_one_processor_are_the_same_twice(tmp_path) -> None:
    paths = [tmp_path / "first", tmp_path / "second"]
    for path in paths:
        vector_results.write(path)
    lines = list(compare(*paths))
    assert all(is_right for _, is_right in lines)
    assert [line.partition(" of ")[0] for line, _ in lines] == ["forms: 0", "convolutions: 0", "products: 0"]
