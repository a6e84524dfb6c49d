"""The resource manager: hands out each device's resources, and seeds them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, final

from operad import engine as engines
from operad import storage as storages
from operad.device import Context, cpu
from operad.engine import Engine, Var
from operad.errors import ContextError, FormatError, ParamError, UnsupportedError
from operad.locks import new_lock
from operad.resource.base import Resource, ResourceRequest
from operad.resource.random import ParallelRandom, RandomStream, StreamSeed
from operad.resource.temp_space import TempSpace
from operad.storage import Storage
from operad.system import at_fork

_ROTATING_SPACES: Final = 4
_NOTHING_DRAWN: Final[Mapping[str, Any]] = {}
_FORKED: Final = 0xFFFFFFFF  # what a key has before a fork's number; no device has this number


@final
class _DeviceResources:
    """The resources of one device."""

    __slots__ = ("_families", "random", "random_vars", "spaces", "turn")

    def __init__(self, ctx: Context, engine: Engine, storage: Storage, seed: StreamSeed) -> None:
        serial, parallel = RandomStream(ctx, engine, seed), ParallelRandom(ctx, engine, seed)
        self.random: dict[ResourceRequest, Resource] = {
            ResourceRequest.RANDOM: serial,
            ResourceRequest.PARALLEL_RANDOM: parallel,
        }
        self.random_vars = (serial.var, parallel.var)
        self._families = (("serial", serial), ("parallel", parallel))  # the order gives them their seeds
        self.restart(seed)
        self.spaces = [TempSpace(ctx, engine, storage) for _ in range(_ROTATING_SPACES)]
        self.turn = itertools.count()

    def restart(self, seed: StreamSeed, states: Mapping[str, Any] = _NOTHING_DRAWN) -> None:
        """Go on with the streams of `seed`, where `states` says; at their beginnings if it does not."""
        for number, (name, family) in enumerate(self._families):
            family.restart(seed.child(number), states.get(name, ()))

    def states(self) -> dict[str, Any]:
        """Positions of the streams."""
        return {name: family.states() for name, family in self._families}


@final
class ResourceManager:
    """Hands out resources. Thread-safe.

    A forked child goes on with streams of its own, which its parent's seed and the number of forks
    before it determine.

    Args:
        engine: Orders the users of each resource; default: the process's.
        storage: Memory of temp spaces; default: the process's.

    Source: ResourceManager, include/mxnet/resource.h and src/resource.cc. Differs: a program that
    sets no seed gets an unpredictable one, as with NumPy.
    """

    __slots__ = ("_device_seeds", "_devices", "_engine", "_forks", "_lock", "_seed", "_storage")

    def __init__(self, engine: Engine | None = None, storage: Storage | None = None) -> None:
        self._engine = engine
        self._storage = storage if storage is not None else storages.get()
        self._lock = new_lock()
        self._devices: dict[Context, _DeviceResources] = {}
        self._seed = StreamSeed.unpredictable()
        self._device_seeds: dict[Context, StreamSeed] = {}  # of devices that were seeded alone
        self._forks = 0

    @property
    def engine(self) -> Engine:
        """The engine that orders the users of each resource."""
        return self._engine if self._engine is not None else engines.get()

    def request(self, ctx: Context, kind: ResourceRequest) -> Resource:
        """The resource of that kind on `ctx`; temp spaces in rotation, so that users run in parallel.

        An operation that uses it names `Resource.var` among its mutable variables.
        """
        return self.request_all(ctx, (kind,))[0]

    def request_all(self, ctx: Context, kinds: Sequence[ResourceRequest]) -> tuple[Resource, ...]:
        """The resources of one operator, in the order asked for; no two of its temp spaces are one.

        The same random resource may come twice; `mutable_vars_of` names each variable once.
        """
        device = self._device(ctx)
        spaces = iter(self._spaces(ctx, device, kinds.count(ResourceRequest.TEMP_SPACE)))
        return tuple(device.random.get(kind) or next(spaces) for kind in kinds)

    def seed(self, seed_state: int, ctx: Context | Literal["all"] = "all") -> None:
        """Start the random streams of every device, or of one, again.

        Takes effect in push order: operations pushed before draw from the old streams, operations
        pushed later from the new ones. Under `seed(x)` each device number has its own stream;
        `seed(x, ctx)` gives `ctx` the stream that `seed(x)` gives to number 0 of its type.

        Args:
            seed_state: Any integer; taken modulo 2**64.
            ctx: The device, or "all".

        Raises:
            ParamError: `seed_state` is not an integer.
            ContextError: `ctx` is neither a context nor "all".
        """
        entropy = _entropy(seed_state)
        with self._lock:
            if isinstance(ctx, Context):
                self._device_seeds[ctx] = StreamSeed(entropy, (0,))
            elif ctx == "all":
                self._seed = StreamSeed(entropy)
                self._device_seeds.clear()
            else:
                raise ContextError(f"seed: ctx is {ctx!r}, expected a Context or 'all'")
            seeded = [(device, self._seed_of(c)) for c, device in self._devices.items() if ctx in ("all", c)]
        # Not under self._lock: the engine may run the operation here and now.
        for device, seed in seeded:
            self._push_restart(device, seed)

    def get_state(self) -> dict[str, Any]:
        """Positions of the random streams of every device, after all draws that were pushed before.

        A dict of dicts, lists, texts, numbers and NumPy's arrays, for `set_state`; waits for the draws.

        Raises:
            UnsupportedError: A GPU has drawn random numbers.
        """
        with self._lock:
            alone = [[*_named(ctx), list(seed)] for ctx, seed in self._device_seeds.items()]
            found = {"seed": list(self._seed), "device_seeds": alone, "forks": self._forks}
            used = list(self._devices.items())
        # Not under self._lock: the engine may run the operations here and now.
        return {**found, "devices": [[*_named(ctx), self._states_of(ctx, device)] for ctx, device in used]}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on where the streams were when `get_state` was called. Takes effect in push order, as `seed`.

        Raises:
            FormatError: `state` is something else.
        """
        seed, alone, forks, states = _parsed(state)
        for ctx in states:
            self._device(ctx)  # a device that this process has not used yet
        with self._lock:
            self._seed, self._device_seeds, self._forks = seed, alone, forks
            restarts = [
                (device, self._seed_of(ctx), states.get(ctx, _NOTHING_DRAWN))
                for ctx, device in self._devices.items()
            ]
        for device, own_seed, drawn in restarts:
            self._push_restart(device, own_seed, drawn)

    def _states_of(self, ctx: Context, device: _DeviceResources) -> dict[str, Any]:
        used = device.random_vars
        found: list[dict[str, Any]] = []
        self.engine.push_sync(lambda _: found.append(device.states()), cpu(), (), used, name="random state")
        for var in used:
            self.engine.wait_for_var(var)
        (states,) = found
        if None in (*states["serial"], *states["parallel"]):
            raise UnsupportedError(
                f"random.get_state: {ctx!r} has drawn random numbers, and CuPy does not say how many; "
                "only the streams of CPUs can be kept"
            )
        return states

    def release_spaces(self, ctx: Context) -> None:
        """Give the memory of the device's temp spaces back, each after its users so far."""
        device = self._devices.get(ctx)
        for space in tuple(device.spaces) if device is not None else ():
            self.engine.push_sync(space.release, ctx, (), (space.var,), name="release temp space")

    def restart(self, seed: StreamSeed) -> None:
        """Start the streams of every device again, here and now: nothing else may use them meanwhile."""
        self._seed = seed
        self._device_seeds.clear()
        for ctx, device in self._devices.items():
            device.restart(self._seed_of(ctx))

    def spaces(self) -> list[TempSpace]:
        """The temp spaces of all devices."""
        return [space for device in self._devices.values() for space in device.spaces]

    def before_fork(self) -> None:
        """Count the fork, in the parent, so that each child's streams differ."""
        self._forks += 1

    def reset_after_fork(self) -> None:
        """Give a forked child its own streams and new generators."""
        self._seed = self._seed.child(_FORKED, self._forks)
        self._device_seeds = {c: seed.child(_FORKED, self._forks) for c, seed in self._device_seeds.items()}
        for ctx, device in self._devices.items():
            device.restart(self._seed_of(ctx))

    def _device(self, ctx: Context) -> _DeviceResources:
        with self._lock:
            device = self._devices.get(ctx)
            if device is None:
                device = _DeviceResources(ctx, self.engine, self._storage, self._seed_of(ctx))
                self._devices[ctx] = device
            return device

    def _seed_of(self, ctx: Context) -> StreamSeed:
        alone = self._device_seeds.get(ctx)
        return alone if alone is not None else self._seed.child(ctx.device_id)

    def _spaces(self, ctx: Context, device: _DeviceResources, count: int) -> list[TempSpace]:
        spaces = device.spaces
        if len(spaces) < count:
            with self._lock:
                while len(spaces) < count:
                    spaces.append(TempSpace(ctx, self.engine, self._storage))
        # One turn for each space taken; other threads' turns may fall between, which does no harm.
        turns = [next(device.turn) for _ in range(count)]
        total = len(spaces)  # read once: another thread may append
        return [spaces[(turns[0] + index) % total] for index in range(count)]

    def _push_restart(
        self, device: _DeviceResources, seed: StreamSeed, states: Mapping[str, Any] = _NOTHING_DRAWN
    ) -> None:
        # On a CPU, since it only drops generators: a device that cannot be used any more fails nothing.
        used = device.random_vars
        self.engine.push_sync(lambda _: device.restart(seed, states), cpu(), (), used, name="seed")


def mutable_vars_of(resources: Iterable[Resource]) -> tuple[Var, ...]:
    """The variables to name among an operation's `mutable_vars`, each once."""
    return tuple(dict.fromkeys(resource.var for resource in resources))


def _entropy(seed_state: int) -> int:
    try:
        return operator.index(seed_state) % (1 << 64)
    except TypeError as error:
        raise ParamError(f"seed: seed_state is {seed_state!r}, expected an integer") from error


def _parsed(
    state: Mapping[str, Any],
) -> tuple[StreamSeed, dict[Context, StreamSeed], int, dict[Context, Mapping[str, Any]]]:
    """The seed, the seeds of devices, the number of forks and what each device has drawn."""
    try:
        alone = {Context(kind, number): _seed_from(pair) for kind, number, pair in state["device_seeds"]}
        states: dict[Context, Mapping[str, Any]] = {
            Context(kind, number): {**drawn} for kind, number, drawn in state["devices"]
        }
        return _seed_from(state["seed"]), alone, int(state["forks"]), states
    except (TypeError, ValueError, LookupError, ContextError) as error:
        raise FormatError(
            f"random.set_state: expected what random.get_state returned, got {type(state).__name__}: {error}"
        ) from error


def _named(ctx: Context) -> tuple[str, int]:
    return ctx.device_type, ctx.device_id


def _seed_from(pair: Sequence[Any]) -> StreamSeed:
    entropy, key = pair
    return StreamSeed(int(entropy), tuple(int(number) for number in key))


_process_manager: ResourceManager | None = None
_creation_lock: Final = new_lock()


def get() -> ResourceManager:
    """The process's resource manager, on the process's engine and storage."""
    global _process_manager
    if _process_manager is None:
        with _creation_lock:
            if _process_manager is None:
                made = _process_manager = ResourceManager()
                at_fork(before=made.before_fork, after_in_child=made.reset_after_fork)
    return _process_manager
