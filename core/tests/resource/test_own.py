"""Resources of an operator's own: apart from the process's, and alike under one seed."""

from __future__ import annotations

import threading

import numpy as np

from operad import resource
from operad.device import cpu
from operad.resource import OwnResources, RandomStream, ResourceRequest, TempSpace

CPU = cpu()


def drawn(own: OwnResources) -> list[float]:
    with own:
        stream = resource.current().request(CPU, ResourceRequest.RANDOM)
    assert isinstance(stream, RandomStream)
    return [float(number) for number in stream.generator.random(3)]


def test_a_scope_gives_other_resources_than_the_processs_to_its_thread_alone():
    own, seen = OwnResources(), []
    with own:
        inside = resource.current()
        thread = threading.Thread(target=lambda: seen.append(resource.current()))
        thread.start()
        thread.join()
    assert inside is not resource.get()
    assert [resource.current(), *seen] == [resource.get()] * 2
    for kind in ResourceRequest:
        assert inside.request(CPU, kind).var is not resource.get().request(CPU, kind).var


def test_scopes_nest():
    outer, inner = OwnResources(), OwnResources()
    with outer:
        first = resource.current()
        with inner:
            assert resource.current() is not first
        assert resource.current() is first


def test_one_seed_gives_the_same_draws_and_another_one_others():
    own, late = OwnResources(), OwnResources()
    late.seed(3)  # before its streams are made
    runs = []
    for seed in (3, 4, 3):
        own.seed(seed)
        runs.append(drawn(own))
    assert runs[0] == runs[2] == drawn(late) != runs[1]


def test_memory_of_temp_spaces_goes_back():
    own = OwnResources()
    with own:
        space = resource.current().request(CPU, ResourceRequest.TEMP_SPACE)
    assert isinstance(space, TempSpace)
    space.get_space((4,), np.float32)[:] = 1
    assert space._handle is not None
    own.release_spaces()
    assert space._handle is None
