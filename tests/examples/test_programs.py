"""The programs of `examples/`: one step of each here, all of them in `make test-slow`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import operad
from examples import (
    bucketing,
    compiled,
    custom_softmax,
    distributed,
    fine_tuning,
    gluon_digits,
    gpt,
    gradient_penalty,
    language_model,
    lenet,
    matrix_factorization,
    onnx_serve,
    two_contexts,
    variational_autoencoder,
)
from operad import engine

PROGRAMS = (
    bucketing,
    compiled,
    custom_softmax,
    fine_tuning,
    gluon_digits,
    gpt,
    gradient_penalty,
    language_model,
    lenet,
    matrix_factorization,
    onnx_serve,
    two_contexts,
    variational_autoencoder,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__.rpartition(".")[2])
def test_one_step_of_the_program_gives_a_result(
    program: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [program.__name__, "--quick"])

    program.main()

    assert any(word[:1].isdigit() for word in capsys.readouterr().out.split())


def test_the_distributed_program_takes_a_step_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["distributed", "--kvstore", "local", "--quick"])

    assert distributed.main() == 0
    assert "rank 0 of 1: held-out accuracy" in capsys.readouterr().out


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_of_the_distributed_program_share_the_digits(workers: int, tmp_path: Path) -> None:
    images = distributed.pack_digits(tmp_path)

    counts = [
        len(list(operad.recordio.RecordPart(tmp_path / "train.rec", workers, rank)))
        for rank in range(workers)
    ]

    # No worker's part is too small for the steps that all of them take.
    steps = images // distributed.BATCH
    assert sum(counts) == images
    assert min(counts) >= steps * (distributed.BATCH // workers)


@pytest.mark.slow
def test_lenet_learns_the_digits() -> None:
    assert lenet.train() > 0.95


@pytest.mark.slow
def test_a_compiled_network_learns_as_an_eager_one() -> None:
    (eager, _), (ours, _) = (
        compiled.train(20, False, each) for each in (lambda function: function, operad.compile)
    )

    assert ours == pytest.approx(eager, abs=0.02)
    assert ours > 0.95


@pytest.mark.slow
def test_a_network_of_blocks_recognizes_digits_also_when_it_was_exported() -> None:
    ours, exported = gluon_digits.train(5, False)

    assert ours > 0.95
    assert exported == ours


@pytest.mark.slow
def test_language_model_knows_more_than_the_frequency_of_letters() -> None:
    model, frequencies = language_model.train()

    assert model < 5.5
    assert frequencies > 20


@pytest.mark.slow
def test_gpt_knows_more_than_the_frequency_of_letters() -> None:
    loss, frequencies, written, _ = gpt.train(epochs=2)

    assert loss < 2.0
    assert frequencies > 3
    assert written.startswith(gpt.PROMPT)


@pytest.mark.slow
def test_matrix_factorization_comes_close_to_the_noise() -> None:
    assert matrix_factorization.NOISE < matrix_factorization.train() < 0.3


@pytest.mark.slow
def test_variational_autoencoder_is_cheaper_than_mean_brightness() -> None:
    model, means = variational_autoencoder.train()

    assert model < means - 1.5


@pytest.mark.slow
def test_a_critic_with_a_gradient_penalty_teaches_digits() -> None:
    before, after, _, slope = gradient_penalty.train()

    assert before > 8
    assert after < 2.5
    assert 0.8 < slope < 1.3


@pytest.mark.slow
def test_custom_softmax_learns_as_the_built_in_one() -> None:
    ours, built_in = custom_softmax.train()

    assert ours == pytest.approx(built_in, abs=0.01)
    assert ours > 0.94


@pytest.mark.slow
def test_bucketing_learns_from_sentences_of_all_lengths() -> None:
    perplexity, graphs = bucketing.train()

    assert perplexity < 130
    assert graphs == len(bucketing.BUCKETS)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """BLAS rounds according to its number of threads, which is what others leave of the budget."""
    engine.set(engine.ThreadedEngine(1))
    yield
    engine.set("threaded")


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_two_contexts_come_to_the_weights_of_one() -> None:
    accuracy, of_batches, of_network = two_contexts.train()

    assert accuracy > 0.95
    assert of_batches < 1e-4
    assert of_network == 0


@pytest.mark.slow
def test_fine_tuning_learns_from_few_images() -> None:
    assert fine_tuning.train() > 0.8
