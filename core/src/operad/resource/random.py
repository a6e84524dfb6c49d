"""Random generators whose numbers depend on the seed and the order of pushes, on nothing else.

Generators are Philox, which is counter-based: cheap to start, so that every device and every
parallel part has a stream of its own, named by a key instead of by a place in one long sequence.
Drawing needs no lock, since the engine lets one operation at a time mutate a resource's variable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple, final

import numpy as np

from operad.device import Context
from operad.engine import Engine
from operad.first_use import import_module
from operad.resource.base import Resource


class StreamSeed(NamedTuple):
    """The name of one random stream: what the user seeded, and which stream under that seed.

    Streams whose seed or key differ are independent.
    """

    entropy: int
    key: tuple[int, ...] = ()

    @classmethod
    def unpredictable(cls) -> StreamSeed:
        """A seed from the operating system, for programs that set none."""
        return cls(int.from_bytes(os.urandom(16), "little"))

    def child(self, *key: int) -> StreamSeed:
        """The stream `key` under this one."""
        return StreamSeed(self.entropy, self.key + key)

    def generator(self, ctx: Context) -> Any:
        """A generator at the start of the stream: NumPy's, or CuPy's on a GPU."""
        random = import_module("numpy.random")  # lazy: it costs milliseconds
        sequence = random.SeedSequence(self.entropy, spawn_key=self.key)
        if not ctx.is_gpu:
            return random.Generator(random.Philox(sequence))
        cupy = ctx.xp
        with cupy.cuda.Device(ctx.device_id):
            number = int(sequence.generate_state(1, np.uint64)[0])
            return cupy.random.Generator(cupy.random.Philox4x3210(number))


class _Random(Resource):
    """Generators of a device, each with a stream of its own under one seed."""

    __slots__ = ("_generators", "_seed")

    def __init__(self, ctx: Context, engine: Engine, seed: StreamSeed) -> None:
        super().__init__(ctx, engine, type(self).__name__)
        self.restart(seed)

    def restart(self, seed: StreamSeed, states: Iterable[Any] = ()) -> None:
        """Go on with the stream of `seed`. Only an operation that mutates `var` may call this.

        Args:
            seed: Names the stream.
            states: What `states` gave under that seed: how far each generator has drawn.
        """
        self._seed = seed
        self._generators: list[Any] = []
        for state in states:
            self._add_generator()
            self._generators[-1].bit_generator.state = state

    def states(self) -> list[Any]:
        """Position of each generator, as NumPy describes it; None for CuPy's, which do not tell.

        Only an operation that names `var` may call this.
        """
        return [None if self.ctx.is_gpu else one.bit_generator.state for one in self._generators]

    def _add_generator(self) -> None:
        """Start the next generator."""
        self._generators.append(self._seed.generator(self.ctx))


@final
class RandomStream(_Random):
    """The random generator of a device."""

    __slots__ = ()

    @property
    def generator(self) -> Any:
        """A `numpy.random.Generator` (CuPy's on a GPU), for use while the operation runs."""
        if not self._generators:
            self._add_generator()
        return self._generators[0]


@final
class ParallelRandom(_Random):
    """Independent random generators of a device, for an operator that draws in several threads."""

    __slots__ = ()

    def generators(self, count: int) -> list[Any]:
        """The first `count` generators; each goes on where its last use ended.

        What generator `i` gives depends on the seed and on earlier uses of generator `i`. So an
        operator is reproducible if it splits its work by the size of the data, not by the number of
        threads it happens to have.
        """
        while len(self._generators) < count:
            self._add_generator()
        return self._generators[:count]

    def _add_generator(self) -> None:
        self._generators.append(self._seed.child(len(self._generators)).generator(self.ctx))
