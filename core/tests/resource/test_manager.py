"""The resource manager: rotation, and streams that depend on push order alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.device import Context, cpu
from operad.engine import Engine, NaiveEngine, RunContext, ThreadedEngine
from operad.errors import ContextError, FormatError, ParamError
from operad.resource import (
    ParallelRandom,
    RandomStream,
    ResourceManager,
    ResourceRequest,
    TempSpace,
    mutable_vars_of,
)
from operad.storage import Storage

RANDOM, PARALLEL, TEMP = (
    ResourceRequest.RANDOM,
    ResourceRequest.PARALLEL_RANDOM,
    ResourceRequest.TEMP_SPACE,
)
CPU = cpu()


class Draws:
    """Pushes operations that draw, and collects what each drew, in push order."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.manager = ResourceManager(engine, Storage())
        self.drawn: list[list[float]] = []

    def push(self, count: int = 3, ctx: Context = CPU, kind: ResourceRequest = RANDOM) -> None:
        resource = self.manager.request(ctx, kind)
        result: list[float] = []
        self.drawn.append(result)

        def draw(_: RunContext) -> None:
            if isinstance(resource, RandomStream):
                result.extend(resource.generator.random(count))
            elif isinstance(resource, ParallelRandom):
                result.extend(generator.random() for generator in resource.generators(count))

        self.engine.push_sync(draw, ctx, (), (resource.var,), name="draw")

    def results(self) -> list[list[float]]:
        self.engine.wait_for_all()
        return self.drawn


def program(draws: Draws) -> list[list[float]]:
    """Two devices, both kinds of random resource, and seeding in the middle."""
    draws.manager.seed(42)
    for turn in range(30):
        draws.push(turn % 5, cpu(turn % 2), (RANDOM, PARALLEL)[turn % 3 == 0])
        if turn == 10:
            draws.manager.seed(7, cpu(1))
        if turn == 20:
            draws.manager.seed(8)
    return draws.results()


def test_a_seeded_program_is_reproducible_on_every_engine(engine: Engine) -> None:
    reference = program(Draws(NaiveEngine()))
    assert program(Draws(engine)) == reference


def test_seeding_waits_for_earlier_draws(engine: Engine) -> None:
    draws = Draws(engine)
    may_start = threading.Event()
    stream = draws.manager.request(cpu(), RANDOM)
    assert isinstance(stream, RandomStream)
    draws.manager.seed(1)
    if isinstance(engine, ThreadedEngine):  # hold the stream, so that the rest piles up behind it
        engine.push_sync(lambda _: may_start.wait(), cpu(), (), (stream.var,))
    draws.push()
    draws.manager.seed(2)
    draws.push()
    draws.manager.seed(1)
    draws.push()
    may_start.set()
    before, between, after = draws.results()
    assert before == after != between


def test_seeding_needs_no_device(engine: Engine) -> None:
    manager = ResourceManager(engine, Storage())
    manager.request(Context("gpu", 63), RANDOM)  # which no machine has
    manager.seed(1)
    engine.wait_for_all()


def test_the_same_seed_repeats_the_stream(engine: Engine) -> None:
    draws = Draws(engine)
    for seed in (5, 6, 5):
        draws.manager.seed(seed)
        draws.push()
    first, other, again = draws.results()
    assert first == again != other


def test_a_device_first_used_after_seeding_is_seeded_too() -> None:
    early, late = Draws(NaiveEngine()), Draws(NaiveEngine())
    early.push()
    early.manager.seed(5)
    early.push()
    late.manager.seed(5)
    late.push()
    assert early.results()[1] == late.results()[0]


def test_devices_have_streams_of_their_own_under_one_seed() -> None:
    draws = Draws(NaiveEngine())
    draws.manager.seed(5)
    draws.push(ctx=cpu(0))
    draws.push(ctx=cpu(1))
    zero, one = draws.results()
    assert zero != one


def test_one_device_can_be_seeded_alone() -> None:
    draws, undisturbed = Draws(NaiveEngine()), Draws(NaiveEngine())
    for each in (draws, undisturbed):
        each.manager.seed(5)
        each.push(ctx=cpu(0))
        each.push(ctx=cpu(1))
    draws.manager.seed(5, cpu(1))
    for each in (draws, undisturbed):
        each.push(ctx=cpu(0))
        each.push(ctx=cpu(1))
    zero, one, zero_again, one_again = draws.results()
    assert undisturbed.results()[2] == zero_again
    assert one_again == zero, "seed(x, ctx) starts the stream that seed(x) gives to device 0"
    assert one != one_again


def test_seeding_all_overrides_the_seed_of_one() -> None:
    draws, plain = Draws(NaiveEngine()), Draws(NaiveEngine())
    draws.manager.seed(1, cpu(1))
    for each in (draws, plain):
        each.manager.seed(5)
        each.push(ctx=cpu(1))
    assert draws.results() == plain.results()


def test_unseeded_programs_differ() -> None:
    one, two = Draws(NaiveEngine()), Draws(NaiveEngine())
    one.push()
    two.push()
    assert one.results() != two.results()


@given(st.integers())
def test_any_integer_is_a_seed(seed_state: int) -> None:
    draws = Draws(NaiveEngine())
    for equal in (seed_state, np.int64(seed_state % 2**63) if seed_state in range(2**63) else seed_state):
        draws.manager.seed(equal)
        draws.push()
    first, second = draws.results()
    assert first == second


@pytest.mark.parametrize("bad", [1.5, "1", None])
def test_a_seed_must_be_an_integer(bad: object) -> None:
    with pytest.raises(ParamError, match="expected an integer"):
        Draws(NaiveEngine()).manager.seed(bad)  # type: ignore[arg-type]


def test_the_device_of_a_seed_is_a_context_or_all() -> None:
    with pytest.raises(ContextError, match="expected a Context or 'all'"):
        Draws(NaiveEngine()).manager.seed(1, "cpu")  # type: ignore[arg-type]


def test_a_failed_draw_does_not_stop_later_ones(engine: Engine) -> None:
    draws = Draws(engine)
    draws.manager.seed(5)
    stream = draws.manager.request(cpu(), RANDOM)

    def fail(_: RunContext) -> None:
        raise ZeroDivisionError

    engine.push_sync(fail, cpu(), (), (stream.var,))
    draws.push()
    with pytest.raises(ZeroDivisionError):
        engine.wait_for_all()
    assert len(draws.results()[0]) == 3


def test_random_resources_are_one_to_a_device() -> None:
    manager = ResourceManager(NaiveEngine(), Storage())
    for kind, cls in ((RANDOM, RandomStream), (PARALLEL, ParallelRandom)):
        assert manager.request(cpu(), kind) is manager.request(cpu(), kind)
        assert manager.request(cpu(), kind) is not manager.request(cpu(1), kind)
        assert isinstance(manager.request(cpu(), kind), cls)


def test_temp_spaces_rotate() -> None:
    manager = ResourceManager(NaiveEngine(), Storage())
    spaces = [manager.request(cpu(), TEMP) for _ in range(8)]
    assert all(isinstance(space, TempSpace) for space in spaces)
    assert len({id(space) for space in spaces}) == 4
    assert spaces[:4] == spaces[4:]
    assert len({id(space.var) for space in spaces}) == 4


@given(st.lists(st.sampled_from(list(ResourceRequest)), max_size=9))
def test_an_operator_gets_what_it_asks_for_and_no_space_twice(kinds: list[ResourceRequest]) -> None:
    manager = ResourceManager(NaiveEngine(), Storage())
    manager.request(cpu(), TEMP)
    found = manager.request_all(cpu(), kinds)
    classes = {RANDOM: RandomStream, PARALLEL: ParallelRandom, TEMP: TempSpace}
    assert [type(resource) for resource in found] == [classes[kind] for kind in kinds]
    spaces = [resource for resource in found if isinstance(resource, TempSpace)]
    assert len(set(map(id, spaces))) == len(spaces)
    named = mutable_vars_of(found)
    assert len(set(map(id, named))) == len(named)
    assert {id(resource.var) for resource in found} == set(map(id, named))


def test_temp_space_is_never_shared_between_operations_that_overlap(engine: Engine) -> None:
    manager = ResourceManager(engine, Storage())
    clashes: list[int] = []

    def push(number: int) -> None:
        space = manager.request(cpu(), TEMP)
        assert isinstance(space, TempSpace)

        def use(_: RunContext) -> None:
            array = space.get_space((1000 + number,), np.float64)
            array[:] = number
            array += 1
            if not (array == number + 1).all():
                clashes.append(number)

        engine.push_sync(use, cpu(), (), (space.var,))

    for number in range(200):
        push(number)
    engine.wait_for_all()
    assert clashes == []


def test_released_spaces_give_their_memory_back_in_turn(engine: Engine) -> None:
    storage = Storage()
    manager = ResourceManager(engine, storage)
    space = manager.request(cpu(), TEMP)
    assert isinstance(space, TempSpace)
    seen: list[float] = []

    def use(_: RunContext) -> None:
        seen.append(space.get_space((100,), np.float32).size)

    engine.push_sync(use, cpu(), (), (space.var,))
    manager.release_spaces(cpu())
    manager.release_spaces(cpu(5))
    engine.wait_for_all()
    assert seen == [100]
    assert storage.stats(cpu()).in_use_bytes == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_children_draw_numbers_of_their_own() -> None:
    program = """
import os, sys
import operad.random
from operad import engine, resource
from operad.device import cpu
kind = resource.ResourceRequest.RANDOM
def draw():
    stream, numbers = resource.get().request(cpu(), kind), []
    engine.get().push_sync(lambda _: numbers.append(stream.generator.random()), cpu(), (), (stream.var,))
    engine.get().wait_for_all()
    return numbers[0]
def draw_in_child(*before):
    ours, theirs = os.pipe()
    if os.fork() == 0:
        for step in before:
            step()
        os.write(theirs, repr(draw()).encode())
        os._exit(0)
    os.wait()
    return float(os.read(ours, 100))
def run():
    operad.random.seed(3)
    return [draw(), draw_in_child(), draw_in_child(), draw()]
numbers = run()
assert len(set(numbers)) == 4, numbers
assert draw_in_child(lambda: operad.random.seed(3)) == numbers[0]
print(numbers)
"""
    command = [sys.executable, "-W", "ignore", "-c", program]
    first, second = (
        subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)
    )
    assert first == second


def drawn_everywhere(draws: Draws) -> list[list[float]]:
    """What each stream of two devices gives, one of which may not have been used before."""
    draws.drawn = []
    for ctx in (cpu(0), cpu(1), cpu(2)):
        draws.push(3, ctx, RANDOM)
        draws.push(1, ctx, PARALLEL)
    return draws.results()


def test_a_state_set_again_gives_the_same_numbers_on_every_device(engine: Engine) -> None:
    draws = Draws(engine)
    program(draws)
    state = draws.manager.get_state()
    expected = drawn_everywhere(draws)
    drawn_everywhere(draws)
    draws.manager.set_state(state)
    assert drawn_everywhere(draws) == expected


def test_another_process_goes_on_where_a_state_was_taken(engine: Engine) -> None:
    draws, other = Draws(engine), Draws(NaiveEngine())
    program(draws)
    state = draws.manager.get_state()
    other.manager.set_state(state)
    assert drawn_everywhere(other) == drawn_everywhere(draws)


def test_a_state_is_taken_after_the_draws_that_were_pushed_before(engine: Engine) -> None:
    draws = Draws(engine)
    draws.manager.seed(3)
    draws.push(5)
    state = draws.manager.get_state()
    draws.push(5)
    expected = draws.results()[1]
    draws.manager.set_state(state)
    draws.push(5)
    assert draws.results()[2] == expected


@pytest.mark.parametrize("state", [{}, {"seed": 1}, [], {"seed": [1, []], "device_seeds": [], "forks": 0}])
def test_what_is_no_state_changes_nothing(engine: Engine, state: object) -> None:
    draws = Draws(engine)
    draws.manager.seed(3)
    with pytest.raises(FormatError, match=r"expected what random\.get_state returned"):
        draws.manager.set_state(state)
    draws.push()
    first = draws.results()[0]
    draws.manager.seed(3)
    draws.push()
    assert draws.results()[1] == first
