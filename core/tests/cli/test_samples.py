from __future__ import annotations

import pytest

from operad.cli.samples import sample_property, sample_shapes, variants
from operad.errors import ParamError, ShapeError
from operad.op import OperatorProperty, is_known, param


class Window(OperatorProperty):
    """Refuses its own defaults, and wants as many axes as its parameter has."""

    kernel = param("shape", (), ge=1)
    count = param(int, ge=7)
    rate = param(float, gt=3.5)
    flag = param(bool, False)

    def __init__(self, **params):
        super().__init__(**params)
        if not self.kernel:
            raise ParamError("Window: kernel is ()")

    def infer_shape(self, in_shapes):
        (data,) = in_shapes
        if data is None:
            return [None], [None], []
        if len(data) != len(self.kernel) + 2:
            raise ShapeError(f"Window: data has {len(data)} axes")
        return [data], [data], []


class Source(OperatorProperty):
    """Takes nothing."""

    def list_arguments(self):
        return []

    def infer_shape(self, in_shapes):
        return [], [(2,)], []


class Hopeless(OperatorProperty):
    pattern = param(int, gt=5, lt=6)

    def infer_shape(self, in_shapes):
        return list(in_shapes), [None], []


def test_values_are_made_up_within_bounds():
    prop = sample_property(Window, {})
    assert prop.count >= 7
    assert prop.rate > 3.5


def test_defaults_that_are_refused_are_changed():
    assert sample_property(Window, {}).kernel != ()


def test_parameters_go_with_the_shapes_given():
    assert len(sample_property(Window, {}, [(1, 1, 8)]).kernel) == 1
    assert len(sample_property(Window, {}, [(1, 1, 8, 8)]).kernel) == 2


def test_what_is_given_is_kept_or_refused():
    assert sample_property(Window, {"kernel": "(3, 3)"}).kernel == (3, 3)
    with pytest.raises(ParamError, match="count"):
        sample_property(Window, {"count": 3})


def test_a_parameter_nothing_fits_is_asked_for():
    with pytest.raises(ParamError, match=r"give --param pattern=\.\.\."):
        sample_property(Hopeless, {})


def test_shapes_are_known_and_accepted():
    prop = sample_property(Window, {})
    shapes = sample_shapes(prop)
    assert shapes is not None
    assert all(map(is_known, prop.infer_shape(shapes)[1]))


def test_an_operator_without_arguments_needs_no_shapes():
    assert sample_shapes(Source()) == []


def test_more_shapes_than_arguments_are_refused():
    with pytest.raises(ShapeError, match="got 1 shapes, expected 0"):
        sample_shapes(Source(), [(2,)])


def test_variants_differ_in_one_parameter():
    prop = sample_property(Window, {})
    first, *others = variants(prop)
    assert first is prop
    assert others
    for other in others:
        assert sum(getattr(other, name) != getattr(prop, name) for name in Window.params) == 1
