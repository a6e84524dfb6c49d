from __future__ import annotations

import pytest

from operad.errors import ShapeError
from operad_sdk.shapes import bind, parse


def infer(line, *shapes, **parameters):
    return bind(parse(line), "op", parameters).infer_shape(list(shapes))


def backward(line, outputs, **parameters):
    made = bind(parse(line), "op", parameters)
    return made.infer_shape_backward([None] * len(made.arguments), outputs)


def test_sizes_pass_between_arguments_in_any_order():
    line = "a:(N), b:(N, M), c:(M, K) -> output:(K, N)"
    assert infer(line, None, (None, 3), (None, 4)) == ([(None,), (None, 3), (3, 4)], [(4, None)], [])
    assert infer(line, (2,), None, (3, 4)) == ([(2,), (2, 3), (3, 4)], [(4, 2)], [])


def test_unknown_in_affine_position_is_solved():
    assert backward("data:(W) -> output:(W + 2*p - 2)", [(9,)], p=3) == [(5,)]
    assert backward("a:(N), b:(N) -> output:(N + N)", [(8,)]) == [(4,), (4,)]
    assert backward("data:(C*4, H) -> output:(C, H*2)", [(3, 6)]) == [(12, 3)]


def test_what_has_several_answers_is_not_guessed():
    assert backward("data:(W) -> output:((W - 3)//2 + 1)", [(5,)]) == [(None,)]
    assert backward("a:(A), b:(B) -> output:(A + B)", [(5,)]) == [(None,), (None,)]
    assert backward("data:(*A, *B) -> output:(*B, *A)", [(2, 3)]) == [None]


def test_answer_that_fits_no_size_is_an_error():
    with pytest.raises(ShapeError, match=r"output has shape \(5,\).*axis 0 is 5, which no size gives"):
        backward("data:(N) -> output:(2*N)", [(5,)])
    with pytest.raises(ShapeError, match="axis 0 is 1, which no size gives"):
        backward("data:(N) -> output:(N + 2)", [(1,)])


def test_length_of_a_rest_follows_from_another_shape():
    line = "lhs:(*A, K), rhs:(K, *B) -> output:(*A, *B)"
    assert infer(line, (2, 3, 4), None) == ([(2, 3, 4), None], [None], [])
    assert infer(line, (2, 3, 4), (4,)) == ([(2, 3, 4), (4,)], [(2, 3)], [])
    made = bind(parse(line), "op", {})
    assert made.infer_shape_backward([(2, None, 4), None], [(2, 3, 7)]) == [(2, 3, 4), (4, 7)]


def test_length_of_a_rest_follows_from_a_parameter():
    assert infer("w:(*k), data:(N, *(S + k)) -> output:(*S)", None, None, k=(2, 3)) == (
        [(2, 3), (None, None, None)], [(None, None)], [],
    )  # fmt: skip
    assert infer("w:(*k), data:(N, *(S + k)) -> output:(*S)", None, (1, 5, 5), k=(2, 3))[1] == [(3, 2)]


@pytest.mark.parametrize("values", [(4,), (3, 1)])
def test_what_a_function_of_later_arguments_gives_is_checked(values):
    line = bind(parse("values:(*points(I)), indices:(M, *I) -> output:(M)"), "op", {"points": lambda i: i})
    assert line.infer_shape([(3,), (2, 3)])[0] == [(3,), (2, 3)]
    with pytest.raises(ShapeError, match=r"op: values has shape .*, expected \(3,\) = \(\*points\(I\)\)"):
        line.infer_shape([values, (2, 3)])


def test_rank_is_checked():
    with pytest.raises(ShapeError, match=r"op: data has 3 axes \(1, 2, 3\), expected 2: \(N, D\)"):
        infer("data:(N, D) -> output:(N)", (1, 2, 3))
    with pytest.raises(ShapeError, match=r"op: data has 1 axes \(1,\), expected at least 2: \(N, D, \*S\)"):
        infer("data:(N, D, *S) -> output:(N)", (1,))
    with pytest.raises(ShapeError, match=r"op: data has 1 axes \(5,\), expected 2: \(\*S\)"):
        infer("data:(*S) -> output:(*(S - k))", (5,), k=(1, 1))
    with pytest.raises(ShapeError, match="k has 2, p has 1 axes, expected as many each"):
        infer("data:(*S) -> output:(*(S - k + p))", (5, 5), k=(1, 1), p=(1,))


def test_clash_names_tensor_axis_expectation_and_origin():
    with pytest.raises(ShapeError) as caught:
        infer("data:(N, D), weight:(h, D) -> output:(N, h)", (32, 128), (64, 100), h=64)
    assert str(caught.value) == (
        "op: weight has shape (64, 100), expected (64, 128) = (h, D): "
        "axis 1 is 100, expected 128 (D is 128 from data (32, 128))"
    )


def test_negative_size_is_an_error():
    with pytest.raises(ShapeError, match=r"output would have shape \(-2,\) = \(W - k\): axis 0 is negative"):
        infer("data:(W) -> output:(W - k)", (1,), k=3)


def test_scalars_and_empty_axes():
    assert infer("data:() -> output:(1)", ()) == ([()], [(1,)], [])
    assert infer("data:(N, *S) -> output:(prod(S), N)", (0,)) == ([(0,)], [(1, 0)], [])
