"""The scalar forms of the installed operators."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from operad import registry
from operad.cli import main
from operad_check import check_operator
from operad_check.reporting.outcome import Status
from operad_sdk.vector import reason_against
from tools import scalar_forms

SHAPE = (4, 5)

HAVE_FORMS = {
    "activations": ("relu", "sigmoid", "tanh", "softsign"),
    "arithmetic": ("elemwise_add", "broadcast_mul", "_plus_scalar", "_power", "square", "clip", "abs"),
    "comparisons": ("broadcast_greater", "_equal_scalar", "where", "broadcast_logical_xor"),
    "updates": ("sgd_update", "sgd_mom_update", "adam_update", "rmsprop_update", "ftrl_update"),
    "rows": ("softmax", "log_softmax", "softmin"),
}


@pytest.mark.parametrize("name", [name for names in HAVE_FORMS.values() for name in names])
def test_every_part_of_these_operators_has_a_form(name):
    op = registry.get(name)
    prop = op(**{key: 0.1 for key, declared in op.params.items() if declared.is_required})
    count = len(prop.list_arguments())
    for dtype in map(np.dtype, ("float32", "float64")):
        for part in prop.list_parts():
            assert not isinstance(prop.scalar_form(part, [SHAPE] * count, [dtype] * count), str)


FAMILIES = {name: (params, shapes) for name, params, shapes in scalar_forms.FAMILIES}


SEVERAL = [
    "LayerNorm", "InstanceNorm", "softmax", "log_softmax", "mean", "max", "expand_dims", "broadcast_add",
]  # fmt: skip


@pytest.mark.more
@pytest.mark.parametrize("name", SEVERAL)
def test_forms_of_operators_of_several_shapes_compute_what_they_do(name):
    report = check_operator(name, checks=["A704"], profile="dev")
    assert [outcome.status for outcome in report.outcomes] == [Status.PASSED]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", SEVERAL)
def test_every_part_of_operators_of_several_shapes_has_a_form(name, dtype):
    params, shapes = FAMILIES[name]
    prop = registry.get(name)(**params)
    for part in prop.list_parts():
        form = prop.scalar_form(part, shapes, [np.dtype(dtype)] * len(shapes))
        assert not isinstance(form, str), (part, form)


def test_lengths_that_parameters_say_are_kept_and_others_are_any():
    dense = registry.get("FullyConnected")
    kinds = [np.dtype(np.float32)] * 3
    first = dense(num_hidden=3).scalar_form("bias_grad", [(4, 6), (3, 6), (3,)], kinds)
    other = dense(num_hidden=3).scalar_form("bias_grad", [(9, 30), (3, 30), (3,)], kinds)
    assert first is other
    assert [step.op for step in first.instructions] == ["input", "sum"]


def test_batch_norm_has_a_form_where_it_does_not_depend_on_the_mode():
    kinds, shapes = [np.dtype(np.float32)] * 3, [(4, 6, 5), (6,), (6,)]
    moving = registry.get("BatchNorm")(use_global_stats=True, fix_gamma=False)
    assert not any(isinstance(moving.scalar_form(part, shapes, kinds), str) for part in moving.list_parts())
    usual = registry.get("BatchNorm")()
    assert usual.scalar_form("forward", shapes, kinds) == "what it computes depends on the mode"
    again, _ = usual.recomputation()
    more = [*shapes, (6,), (6,)], [*kinds, *kinds[:2]]
    assert again.scalar_form("forward", *more) == "what it computes depends on the mode"


def test_why_shows_the_forms_of_tanh():
    done = CliRunner().invoke(main, ["why", "tanh"])
    assert "Scalar form of forward\nv1: real = tanh data\noutput = v1\n" in done.stdout
    assert "Scalar form of data_grad\n" in done.stdout


def test_why_says_why_an_operator_has_none():
    done = CliRunner().invoke(main, ["why", "argsort"])
    assert "Scalar form of forward\nnone: numpy.argsort is not element-wise" in done.stdout
    assert "\nat selection.py:" in done.stdout
    assert 'np.argsort(rows, axis=-1, kind="stable")\ncure: use element-wise functions' in done.stdout


def test_the_table_stands_between_its_markers():
    page = scalar_forms.with_table(f"# Forms\n{scalar_forms.BEGIN}\nold\n{scalar_forms.END}\nend\n", "new")
    assert page == f"# Forms\n{scalar_forms.BEGIN}\n\nnew\n\n{scalar_forms.END}\nend\n"
    assert scalar_forms.with_table(page, "new") == page


@pytest.mark.slow
def test_most_operators_of_one_shape_have_forms_and_the_page_says_which(monkeypatch):
    found = scalar_forms.found_forms()
    forward, gradients = map(scalar_forms.counts, found)
    assert forward.always >= 155
    assert gradients.always >= 98
    assert all(reason for each in found for one in each.values() for reason in one.reasons)
    monkeypatch.setattr(scalar_forms, "found_forms", lambda: found)
    monkeypatch.setattr("sys.argv", ["scalar_forms", "--check"])
    assert scalar_forms.main() == 0


@pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")
def test_a_part_that_a_program_computes_says_so_beside_why_it_has_no_form():
    name = "_contrib_AdaptiveAvgPooling2D"
    done = CliRunner().invoke(main, ["why", name, "--shape", "(14,22,58,58)"])
    assert "none: it takes parts of an array" in done.stdout
    assert f"\n{name}.vector_forward is a program: " in done.stdout
