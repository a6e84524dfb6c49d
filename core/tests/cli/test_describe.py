from __future__ import annotations

from pathlib import Path


def test_parameters_are_described_with_bounds_choices_and_defaults(acme, run_json):
    found = {p["name"]: p for p in run_json("describe", "Dense")["parameters"]}
    assert found["units"] == {
        "name": "units",
        "expects": "int >= 1",
        "required": True,
        "default": None,
        "doc": "Rows of the weight.",
    }
    assert (found["mode"]["expects"], found["mode"]["default"]) == ("one of 'fast', 'exact'", "fast")
    assert (found["axes"]["expects"], found["axes"]["default"]) == ("tuple of int or None", "None")


def test_an_alias_describes_the_operator_it_stands_for(acme, run_json):
    found = run_json("describe", "dense")
    assert (found["name"], found["aliases"]) == ("Dense", ["dense"])
    assert found == run_json("describe", "Dense")


def test_tensors_are_shown_for_the_parameters_given(acme, run_json):
    assert run_json("describe", "Dense")["arguments"] == ["data", "weight", "bias"]
    found = run_json("describe", "Dense", "--param", "no_bias=True", "--param", "units=7")
    assert found["arguments"] == ["data", "weight"]
    assert found["shown_for"]["units"] == "7"


def test_hidden_outputs_and_states_are_told_apart(acme, run_json):
    found = run_json("describe", "Dense")
    assert (found["outputs"], found["visible_outputs"]) == (["output", "mask"], 1)
    assert found["auxiliary_states"] == ["mean"]


def test_declarations_are_read_by_name(acme, run_json):
    found = run_json("describe", "Dense")
    assert found["gradients"][1] == {
        "argument": "weight",
        "reads": ["output_grad", "data", "mask"],
        "form": None,
    }
    assert found["forward_inplace"] == [["data", "output"]]
    assert found["backward_inplace"] == [["output_grad", "data_grad"]]
    assert (found["forward_resources"], found["backward_resources"]) == (["random"], [])
    assert found["shapes"] == "data:(N, D), weight:(units, D) -> output:(N, units)"


def test_a_simple_operator_has_the_form_of_its_gradient(acme, run_json):
    found = run_json("describe", "double")
    assert found["gradients"] == [{"argument": "data", "reads": ["output_grad"], "form": "T0"}]
    assert found["doc"] == "Twice its argument."


def test_kernels_are_listed_best_first(acme, run_json):
    kernels = run_json("describe", "Dense")["kernels"]
    assert [k["name"] for k in kernels] == ["Dense.device", "Dense.matrix", "Dense.plain"]
    assert [k["conditional"] for k in kernels] == [False, True, False]
    assert {k["distribution"] for k in kernels} == {"acme-ops"}


def test_the_signature_puts_tensors_first_and_marks_optional_ones(acme, run_json):
    signature = run_json("describe", "Dense")["signature"]
    assert signature == "Dense(data, weight, [bias], mean, units, mode='fast', no_bias=False, axes=None)"
    assert run_json("describe", "Many")["signature"] == "Many(*data, dim=1)"


def test_the_source_is_a_file_and_a_line(acme, run_json):
    file, _, line = run_json("describe", "Dense")["source"].rpartition(":")
    assert Path(file).read_text().splitlines()[int(line) - 1] == "class Dense(OperatorProperty):"


def test_text_shows_what_json_has(acme, run):
    text = run("describe", "Dense").stdout
    for part in ("A documented operator.", "int >= 1", "hidden outputs:", "Dense.matrix", "data -> output"):
        assert part in text


def test_a_parameter_that_is_not_there_is_an_error_of_one_line(acme, run):
    done = run("describe", "Dense", "--param", "unit=3")
    assert done.exit_code == 1
    assert done.stderr == "Error: Dense: unknown parameter 'unit'; did you mean 'units'?\n"


def test_what_is_no_assignment_is_a_usage_error(acme, run):
    done = run("describe", "Dense", "--param", "units")
    assert done.exit_code == 2
    assert "not of the form name=value" in done.stderr
