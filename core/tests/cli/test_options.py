"""Options that several commands share."""

from __future__ import annotations

import ast

import click
import pytest
from click.testing import CliRunner

from operad.cli import param_option
from operad.cli.options import context_option, dtype_option, shape_option


@click.command()
@param_option
@shape_option
@dtype_option
@context_option
def show(params, shapes, dtype, context):
    click.echo(repr((params, shapes, dtype.name, str(context))))


def read(*words):
    done = CliRunner().invoke(show, list(words))
    return done.output.strip() if done.exit_code else ast.literal_eval(done.output)


def test_without_options_it_is_float32_on_the_host():
    assert read() == ({}, [], "float32", "cpu(0)")


def test_parameters_are_pairs_of_text():
    assert read("--param", "a=1", "--param", "b=x=y") == ({"a": "1", "b": "x=y"}, [], "float32", "cpu(0)")


@pytest.mark.parametrize(
    ("text", "shape"),
    [("32x3x8x8", (32, 3, 8, 8)), ("2,3", (2, 3)), ("(4,)", (4,)), ("()", ()), ("", ()), (" 5 x 6 ", (5, 6))],
)
def test_shapes_are_read_in_every_spelling(text, shape):
    assert read("--shape", text)[1] == [shape]


@pytest.mark.parametrize(
    ("text", "context"), [("cpu", "cpu(0)"), ("gpu", "gpu(0)"), ("gpu(1)", "gpu(1)"), ("gpu:2", "gpu(2)")]
)
def test_contexts_are_read_though_there_is_no_such_device(text, context):
    assert read("--ctx", text)[3] == context


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--param", "a"), "'a' is not of the form name=value"),
        (("--param", "=1"), "'=1' is not of the form name=value"),
        (("--shape", "2xthree"), "'2xthree' is not a shape; write 32x3x8x8"),
        (("--shape", "-1"), "'-1' is not a shape"),
        (("--dtype", "float31"), "float31"),
        (("--ctx", "moon"), "moon"),
        (("--ctx", "gpu(x)"), "'gpu(x)' is not a context; write cpu, gpu or gpu(1)"),
    ],
)
def test_what_cannot_be_read_is_said_with_an_example(words, message):
    assert message in " ".join(read(*words).replace("│", " ").split())
