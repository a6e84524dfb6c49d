"""The example of distributed training, as a user starts it."""

from __future__ import annotations

import pytest

from tests.distributed.conftest import LIMIT_S, Run

pytestmark = pytest.mark.timeout(LIMIT_S + 60)
EXAMPLE = "../../../examples/distributed"


def test_two_workers_take_a_step(run_mpi: Run) -> None:
    ended = run_mpi(2, EXAMPLE, "--quick")
    assert (ended.code, len(ended.lines("of 2: held-out accuracy"))) == (0, 2), ended.output


@pytest.mark.slow
def test_two_workers_on_mpi_reach_the_accuracy_of_one(run_mpi: Run) -> None:
    assert run_mpi(2, EXAMPLE).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_two_workers_on_ray_reach_the_accuracy_of_one(run_ray: Run, kind: str) -> None:
    ended = run_ray(2, EXAMPLE, "--kvstore", kind)
    assert ended.code == 0, ended.output
