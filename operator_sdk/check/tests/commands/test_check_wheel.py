"""`operad check --into-wheel`: the wheel's own operators are checked, and it carries the report."""

from __future__ import annotations

import zipfile

import pytest

from operad.cli.wheels import REPORT, open_wheel

SOURCE = '''
import numpy as np
from operad_sdk import unary


@unary("acme_doubled", accepts="floating")
def acme_doubled(x):
    """Twice the data.

    >>> import operad as od
    >>> od.nd.acme_doubled(od.nd.array([1.5])).asnumpy()
    array([3.], dtype=float32)
    """
    return 2 * x


@acme_doubled.gradient
def _(output_grad):
    return {factor} * output_grad
'''


def wheel_of(path, factor, points="[operad.operators]\nacme_doubled = acme_doubled:acme_doubled\n"):
    info = "acme_doubled-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("acme_doubled.py", SOURCE.format(factor=factor))
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: acme-doubled\nVersion: 1.0\nSummary: a\n"
        )
        archive.writestr(f"{info}/entry_points.txt", points)
        archive.writestr(f"{info}/RECORD", f"acme_doubled.py,,\n{info}/RECORD,,\n")
    return path


@pytest.mark.more
def test_the_report_of_a_wheel_says_what_passes_and_what_is_red(tmp_path, run):
    path = wheel_of(tmp_path / "acme_doubled-1.0-py3-none-any.whl", 2)
    done = run("check", "--into-wheel", path, "--jobs", 1)
    assert done.exit_code == 0, done.output
    with open_wheel(path) as wheel:
        report = wheel.text(f"{wheel.info}/{REPORT}")
        assert '"passed":["acme_doubled"]' in report
        assert wheel.digest() in report
        assert f"{wheel.info}/{REPORT},sha256=" in wheel.text(f"{wheel.info}/RECORD")

    path = wheel_of(tmp_path / "acme_doubled-1.0-py3-none-any.whl", 3)
    assert run("check", "--into-wheel", path, "--jobs", 1).exit_code == 1
    assert (
        run("check", "--into-wheel", path, "--jobs", 1).exit_code == 1
    )  # a second report replaces the first
    with open_wheel(path) as wheel:
        assert '"red":{"acme_doubled":["B301"' in wheel.text(f"{wheel.info}/{REPORT}")
    assert zipfile.ZipFile(path).namelist().count(f"acme_doubled-1.0.dist-info/{REPORT}") == 1


def test_a_wheel_without_operators_is_refused(tmp_path, run):
    path = wheel_of(tmp_path / "a-1.0-py3-none-any.whl", 2, points="[console_scripts]\na = b:c\n")
    done = run("check", "--into-wheel", path)
    assert done.exit_code == 1
    assert "provides no operator and no kernel" in done.stderr


def test_it_goes_without_names(tmp_path, run):
    path = wheel_of(tmp_path / "a-1.0-py3-none-any.whl", 2)
    done = run("check", "acme_doubled", "--into-wheel", path)
    assert done.exit_code == 2
    assert "--into-wheel takes no NAME" in done.stderr
