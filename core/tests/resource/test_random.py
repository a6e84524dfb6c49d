"""Random streams: named by seed and key, and going on where their last use ended."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.device import Context, cpu
from operad.engine import NaiveEngine
from operad.resource import ParallelRandom, RandomStream
from operad.resource.random import StreamSeed

keys = st.lists(st.integers(0, 2**32 - 1), max_size=4).map(tuple)


def first_numbers(seed: StreamSeed) -> list[int]:
    numbers: list[int] = seed.generator(cpu()).integers(0, 2**63, size=4).tolist()
    return numbers


@given(st.integers(0, 2**64 - 1), keys)
def test_a_seed_and_key_name_one_stream(entropy: int, key: tuple[int, ...]) -> None:
    assert first_numbers(StreamSeed(entropy, key)) == first_numbers(StreamSeed(entropy, key))


@given(st.integers(0, 2**32 - 1), st.lists(keys, min_size=2, max_size=5, unique=True))
def test_different_keys_name_different_streams(entropy: int, several: list[tuple[int, ...]]) -> None:
    streams = [first_numbers(StreamSeed(entropy, key)) for key in several]
    assert all(first != second for first, second in combinations(streams, 2))


def test_unpredictable_seeds_differ() -> None:
    assert StreamSeed.unpredictable() != StreamSeed.unpredictable()


def test_a_child_extends_the_key() -> None:
    assert StreamSeed(5, (1,)).child(2, 3) == StreamSeed(5, (1, 2, 3))


def test_generators_are_philox() -> None:
    generator = StreamSeed(1).generator(cpu())
    assert isinstance(generator.bit_generator, np.random.Philox)


def test_a_stream_goes_on_between_uses_and_restarts_on_seeding() -> None:
    stream = RandomStream(cpu(), NaiveEngine(), StreamSeed(3))
    first, second = stream.generator.random(4).tolist(), stream.generator.random(4).tolist()
    assert first != second
    stream.restart(StreamSeed(3))
    assert stream.generator.random(8).tolist() == first + second


def test_parallel_generators_are_independent() -> None:
    streams = ParallelRandom(cpu(), NaiveEngine(), StreamSeed(3))
    drawn = [generator.random(1000) for generator in streams.generators(4)]
    off_diagonal = np.corrcoef(drawn)[~np.eye(4, dtype=bool)]
    assert np.abs(off_diagonal).max() < 0.15  # four standard deviations of a chance correlation


def test_parallel_generators_do_not_depend_on_how_many_are_asked_for() -> None:
    few = ParallelRandom(cpu(), NaiveEngine(), StreamSeed(3)).generators(2)
    many = ParallelRandom(cpu(), NaiveEngine(), StreamSeed(3)).generators(5)
    assert [g.random() for g in few] == [g.random() for g in many[:2]]


def test_parallel_generators_go_on_between_uses() -> None:
    streams = ParallelRandom(cpu(), NaiveEngine(), StreamSeed(3))
    first = [g.random() for g in streams.generators(2)]
    assert [g.random() for g in streams.generators(2)] != first
    streams.restart(StreamSeed(3))
    assert [g.random() for g in streams.generators(2)] == first


@pytest.mark.gpu
def test_gpu_generators_are_reproducible() -> None:
    gpu = Context("gpu", 0)
    one, two = StreamSeed(3).generator(gpu), StreamSeed(3).generator(gpu)
    assert one.random(8).tolist() == two.random(8).tolist()
