from __future__ import annotations

import pytest

from operad.errors import ShapeError
from operad_sdk import OperatorProperty, operator, param
from operad_sdk.errors import SpecError
from operad_sdk.shapes import bind, parse


@operator("largest_of_row")
class LargestOfRow(OperatorProperty):
    """Largest element of each row."""

    spec = "x:(N, D) -> y:(N); D >= 1, N < 5"

    def forward(x):
        return x.max(-1)


def test_sizes_within_the_bounds_are_inferred():
    assert LargestOfRow().infer_shape([(0, 2)])[1] == [(0,)]


@pytest.mark.parametrize(("shape", "text"), [((2, 0), "D >= 1, and D is 0"), ((5, 1), "N < 5, and N is 5")])
def test_a_size_beyond_a_bound_is_refused_by_name(shape, text):
    with pytest.raises(ShapeError, match=rf"axes of x: expected {text}"):
        LargestOfRow().infer_shape([shape])


def test_a_bound_on_a_size_that_is_not_known_waits():
    assert LargestOfRow().infer_shape([(3, None)])[1] == [(3,)]


def test_a_known_output_is_held_to_the_bounds():
    with pytest.raises(ShapeError, match="N < 5"):
        LargestOfRow().infer_shape_backward([None], [(7,)])


def test_bounds_compare_sizes_with_each_other():
    @operator("taller")
    class Taller(OperatorProperty):
        spec = "x:(N, D) -> y:(N); N > D"

        def forward(x):
            return x.sum(-1)

    assert Taller().infer_shape([(3, 2)])[1] == [(3,)]
    with pytest.raises(ShapeError, match="N > D, and D is 3 and N is 3"):
        Taller().infer_shape([(3, 3)])


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("x:(N) -> y:(N); N", "expected a test of sizes behind ';'"),
        ("x:(N) -> y:(N); N >=", "cannot read"),
    ],
)
def test_what_is_no_test_of_sizes_is_refused(line, text):
    with pytest.raises(SpecError, match=text):
        parse(line)


def test_bounds_compare_sizes_with_parameters():
    @operator("largest_of_each")
    class LargestOfEach(OperatorProperty):
        k = param(int, 2, ge=1)
        spec = "x:(N, D) -> y:(N, k); D >= k"

        def forward(x, k):
            return x[:, :k]

    assert LargestOfEach(k=3).infer_shape([(4, 3)])[1] == [(4, 3)]
    with pytest.raises(ShapeError, match="axes of x: expected D >= k, and D is 2 and k is 3"):
        LargestOfEach(k=3).infer_shape([(4, 2)])


def test_a_parameter_that_only_a_bound_names_is_known():
    @operator("at_least")
    class AtLeast(OperatorProperty):
        least = param(int, 2, ge=1)
        spec = "x:(N) -> y:(N); N >= least"

        def forward(x):
            return x

    with pytest.raises(ShapeError, match="expected N >= least, and N is 2 and least is 3"):
        AtLeast(least=3).infer_shape([(2,)])


def test_a_bound_on_neither_a_size_nor_a_parameter_is_refused():
    line = parse("x:(N) -> y:(N); N >= M")

    with pytest.raises(
        SpecError, match="'N >= M' behind the outputs: 'M' is neither a size of the line nor a"
    ):
        bind(line, "example", {"k": 2})


def test_an_example_leaves_parameters_as_they_are():
    made = bind(parse("x:(N, D) -> y:(N); D >= k, N > D"), "example", {"k": 5})

    assert made.example(lambda name, is_sequence: 1) == [(6, 5)]


@pytest.mark.parametrize(
    ("tests", "sizes"),
    [
        ("N >= 3", {"D": 1, "N": 3}),
        ("N >= 700", {"D": 1, "N": 700}),
        ("N == 2", {"D": 1, "N": 2}),
        ("N < 1", {"D": 1, "N": 0}),
        ("N > D, D > 4", {"D": 5, "N": 6}),
        ("N == 2*D, D >= 3", {"D": 3, "N": 6}),
        ("N % D == 0, D % 3 == 0, D > 0, N > 0", {"D": 3, "N": 3}),
    ],
)
def test_an_example_has_sizes_near_the_chosen_ones_that_pass_the_tests(tests, sizes):
    made = bind(parse(f"x:(N, D) -> y:(N); {tests}"), "example", {})

    assert made.example(lambda name, is_sequence: 1) == [(sizes["N"], sizes["D"])]


def test_an_example_has_the_chosen_sizes_where_none_pass_or_all_do():
    for tests, expected in (("N >= 3, N < 3", (1, 1)), ("N >= 1", (1, 1))):
        assert bind(parse(f"x:(N, D) -> y:(N); {tests}"), "example", {}).example(lambda *_: 1) == [expected]
