"""A written package as a stranger uses it: built, installed from the wheel, imported; needs the framework."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

import pytest

from operad_export.package import exported, write_package

pytestmark = pytest.mark.slow

BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
PROGRAMS = {
    "torch": """
import torch, operad_normalization_torch as package
assert "LRN" in package.OPERATORS
x = torch.rand(1, 4, 2, 2, requires_grad=True)
y = torch.ops.operad.LRN(x, nsize=3)
y.sum().backward()
mean, var = torch.zeros(4), torch.ones(4)
torch.ops.operad.BatchNorm(x, torch.ones(4), torch.zeros(4), mean, var, is_train=True)
assert mean.any()
print(tuple(y.shape), tuple(x.grad.shape))
""",
    "jax": """
import jax, jax.numpy as jnp
from operad_normalization_jax import LRN
x = jnp.ones((1, 4, 2, 2))
print(LRN(x, nsize=3).shape, jax.grad(lambda x: LRN(x, nsize=3).sum())(x).shape)
""",
}


@pytest.mark.parametrize("framework", PROGRAMS)
def test_a_wheel_brings_the_operators_of_a_plugin(framework, tmp_path):
    for needed in (framework, "operad_normalization"):
        pytest.importorskip(needed)
    write_package(framework, exported("operad-normalization"), tmp_path / "made")
    built = _output([sys.executable, "-c", BUILD, str(tmp_path)], cwd=tmp_path / "made")
    zipfile.ZipFile(tmp_path / built.strip()).extractall(tmp_path / "site")
    found = _output(
        [sys.executable, "-W", "ignore", "-c", PROGRAMS[framework]],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
    )
    assert found.strip() == "(1, 4, 2, 2) (1, 4, 2, 2)"


def _output(command, **options):
    done = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout
