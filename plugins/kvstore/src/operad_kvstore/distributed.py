"""Stores whose values several processes share, over any transport.

A push sums what this worker's devices gave, packs the sums of all keys of the call into buckets, one row of
buckets for each server, and returns; a thread sends them once they are computed. So an array may be written
again as soon as it has been pushed. A pull waits for that thread, and raises what went wrong on the way. In a
synchronous store a round of a key is one push of each worker: a worker that pushes twice waits for the
others, in its pull. In an asynchronous one every push changes the stored value, which needs an optimizer.

Source: KVStoreDist, src/kvstore/kvstore_dist.h. Differs: rounds count workers and not requests; keys of a
call share messages; every wait ends, and its error names ranks; errors of an updater are raised.
"""

from __future__ import annotations

import atexit
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from operad import NDArray, autograd, cpu, nd
from operad.errors import ArgumentError, DTypeError, FormatError
from operad.files import read_bytes, write_atomically
from operad_kvstore.buckets import Bucket, Sized, packed_now, packed_soon, plan_buckets
from operad_kvstore.compression import TwoBit, residuals_of
from operad_kvstore.courier import Courier
from operad_kvstore.keys import Key, Remote
from operad_kvstore.packets import Array, Packet, as_ndarray, compressed
from operad_kvstore.store import Groups, KVStore
from operad_kvstore.transport import Transport
from operad_kvstore.updates import Update

_REST_S: Final = 1.0

Fill = Callable[[Bucket, Mapping[Key, NDArray]], Any]
"""Gives the values of a bucket, now or once the engine has them."""


@final
class DistStore(KVStore):
    """Arrays by key, shared by processes. Every worker makes the same calls with the same keys.

    Args:
        name: The type it was created by; `async` in it makes it an asynchronous store.
        transport: What carries values.
    """

    def __init__(self, name: str, transport: Transport) -> None:
        super().__init__(name)
        self._transport = transport
        self._is_async = "async" in name
        self._courier = Courier(f"kvstore-{name}")
        self._clocks: defaultdict[Key, int] = defaultdict(int)
        self._codec: TwoBit | None = None
        self._residuals: dict[Key, Array] = {}
        self._has_entered = False
        self._is_open = True
        atexit.register(self.close)

    @property
    def rank(self) -> int:
        """The number of this worker, from 0 on."""
        return self._transport.rank

    @property
    def num_workers(self) -> int:
        """Number of workers at the start."""
        return self._transport.num_workers

    def barrier(self) -> None:
        """Wait until every worker has called this, and all messages of this worker have arrived.

        Raises:
            WorkerLostError: One has ended; likewise in every other call that waits.
            StoreTimeoutError: Some did not call it within `OPERAD_KV_TIMEOUT_S` seconds; likewise.
        """
        self._courier.ask(self._transport.barrier)

    _barrier = barrier

    def num_dead_node(self, node_id: int = 0, timeout: float = 60) -> int:
        """Number of workers that are known to have ended."""
        return len(self._transport.lost())

    get_num_dead_node = num_dead_node

    def set_updater(self, updater: Update | None) -> None:
        """Let rank 0's function of (key, gradient, weight) change the stored weight, in place.

        It runs where values are stored, so it must work in another process. Every worker calls this.
        """
        self._updates.set_function(updater)
        self._configure("updater", updater)

    _set_updater = set_updater

    def set_optimizer(self, optimizer: Any) -> None:
        """Let rank 0's optimizer move the values where they are stored. Every worker calls this.

        Large weights are spread over the servers where the optimizer `is_elementwise`.
        """
        self._updates.set_optimizer(optimizer)
        self._configure("optimizer", optimizer)

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Compress what is sent to two bits per element, with error feedback; float32 only.

        Args:
            compression_params: `{"type": "2bit", "threshold": 0.5}`.
        Raises:
            ParamError: Another type, or a threshold that is not positive.
        """
        self._codec = TwoBit.from_params(compression_params)
        self._courier.ask(self._residuals.clear)

    def save_optimizer_states(self, fname: str | Path, dump_optimizer: bool = False) -> None:
        """Write the states that the optimizer keeps of all values to a file; one worker is enough."""
        clocks = {name: self._clocks[name] for name in self._table}
        of_shards = self._courier.ask(lambda: self._transport.states(dump_optimizer, clocks))
        if len(of_shards) == 1:
            write_atomically(fname, of_shards[0])
            return
        spread = {
            name: (known.shape, [part.home for part in self._transport.parts(name)])
            for name, known in self._table.items()
        }
        write_atomically(fname, self._updates.join_states(of_shards, dump_optimizer, spread))

    def load_optimizer_states(self, fname: str | Path) -> None:
        """Take over the file that rank 0 has. Every worker calls this."""
        content = read_bytes(fname, f"optimizer states {str(fname)!r}") if self.rank == 0 else b""
        self._configure("states", content)

    @property
    def is_back(self) -> bool:
        """True if this process takes the place of an earlier one with its rank; see `resume`."""
        return self._transport.is_back

    def gather(self, number: int) -> list[int]:
        """The numbers that the workers give, by rank. Every worker calls this."""
        return list(self._courier.ask(lambda: self._transport.gather(number)))

    def state_dict(self) -> dict[str, Any]:
        """State for `load_state_dict`: the rank, the number of workers, and the residuals of compression."""
        kept = self._courier.ask(lambda: [[key, array.copy()] for key, array in self._residuals.items()])
        return {"rank": self.rank, "num_workers": self.num_workers, "residuals": kept}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Put back the residuals that this worker's store had when `state_dict` was called.

        Raises:
            FormatError: It is another worker's, or of another number of workers; or this store has no use for
                what compression held back.
        """
        theirs = state.get("rank", 0), state.get("num_workers", 1)
        ours = self.rank, self.num_workers
        if theirs != ours:
            raise FormatError(
                f"it is of rank {theirs[0]} of {theirs[1]} workers, and this is rank {ours[0]} of {ours[1]}; "
                "give each worker a prefix of its own"
            )
        kept = residuals_of(state, 2, compresses=self._codec is not None)
        self._courier.ask(lambda: self._residuals.update(dict(kept)))

    def resume(self, key: Any = None) -> int:
        """Number of rounds that this rank has pushed: more than 0 where an earlier process had the rank.

        A program that may be started again (`operad launch --restart`) calls this once all keys have values,
        and goes on with that step. Some keys may have got further than others when the process ended; what
        is pushed to those again counts once. Without this call each key goes on where it stands.

        Args:
            key: A key, or a list of those that are pushed in every step; None: all.
        """
        self._enter()
        given = list(key) if isinstance(key, (list, tuple)) else [key]
        keys = list(self._table) if key is None else given
        for name in keys:
            self._table.get("resume", name)
        step = min((self._clocks[name] for name in keys), default=0)
        self._clocks.update(dict.fromkeys(keys, step))
        return step

    def close(self) -> None:
        """Take leave of the other workers; a process does so when it ends."""
        if self._is_open:
            self._is_open = False
            atexit.unregister(self.close)
            self._transport.close(is_idle=self._courier.is_idle(_REST_S))

    def _add(self, call: str, key: Any, value: Any) -> None:
        values_of = {name: array.asnumpy() for name, array in self._new_values(call, key, value).items()}
        for name, array in values_of.items():
            self._transport.place(name, array, may_cut=self._updates.is_elementwise)
        self._courier.ask(lambda: self._transport.init(values_of))
        self._table.add({name: Remote(array.shape, array.dtype) for name, array in values_of.items()})

    def _configure(self, what: str, value: Any) -> None:
        gathers = not self._updates.is_elementwise
        self._courier.ask(lambda: self._transport.configure(what, value, gathers=gathers))

    def _enter(self) -> None:
        if not self._has_entered:
            self._clocks.update(self._courier.ask(self._transport.enter))
            self._has_entered = True

    def _checked(self, call: str, what: str, key: Any, arrays: Any) -> Groups:
        groups = super()._checked(call, what, key, arrays)
        if what != "value":
            return groups
        if self._is_async and not self._updates.is_set:
            raise ArgumentError(
                f"{call}: a store of type {self.type!r} needs set_optimizer first; "
                "without one, each push would replace what the other workers pushed"
            )
        for name in groups:
            dtype = self._table.get(call, name).dtype
            if self._codec is not None and dtype != np.float32:
                raise DTypeError(
                    f"{call}: key {name!r} is {dtype.name}; 2-bit compression takes float32 only"
                )
        return groups

    def _exchange(self, values: Groups, outs: Groups) -> None:
        # This call waits for its answer, so no operation of the engine has to pack what is sent.
        packets = self._packed(values, packed_now)
        self._write(outs, lambda clocks: self._transport.pushpull(packets(), clocks))

    def _take_in(self, groups: Groups) -> None:
        packets = self._packed(groups, packed_soon)
        self._courier.send(lambda: self._transport.push(packets()))

    def _copy_out(self, groups: Groups) -> None:
        self._write(groups, self._transport.pull)

    def _packed(self, groups: Groups, fill: Fill) -> Callable[[], Sequence[Packet]]:
        """Begin to sum and pack pushed arrays; the returned function waits for packets in another thread."""
        self._enter()
        totals: dict[Key, NDArray] = {}
        for name in groups:
            self._clocks[name] += 1
        clocks = {name: self._clocks[name] for name in groups}
        with autograd.pause():
            for name, values in groups.items():
                dtype = self._table.get("push", name).dtype
                parts = [value.as_in_context(cpu()).astype(dtype, copy=False) for value in values]
                totals[name] = parts[0] if len(parts) == 1 else nd.add_n(*parts)
            filled: list[tuple[Bucket, Any, int, Mapping[Key, int]]] = []
            for home, mine in self._by_home(totals).items():
                sized = [Sized(name, array.size, array.dtype) for name, array in mine.items()]
                filled += [(one, fill(one, mine), home, clocks) for one in plan_buckets(sized)]
        codec = self._codec
        return lambda: [self._packet(codec, *one) for one in filled]

    def _by_home(self, arrays: Mapping[Key, NDArray]) -> dict[int, dict[Key, NDArray]]:
        """Arrays by the number of the server that gets them; an array spread over servers is flat."""
        found: defaultdict[int, dict[Key, NDArray]] = defaultdict(dict)
        for name, array in arrays.items():
            parts = self._transport.parts(name)
            for part in parts:
                is_whole = len(parts) == 1
                found[part.home][name] = array if is_whole else array.reshape((-1,))[part.start : part.stop]
        return found

    def _packet(
        self, codec: TwoBit | None, bucket: Bucket, flat: Any, home: int, clocks: Mapping[Key, int]
    ) -> Packet:
        """Waits for the values."""
        # Nothing else refers to `flat`, so its memory is sent without a copy.
        values = flat if isinstance(flat, np.ndarray) else np.from_dlpack(flat)
        clocks = {piece.key: clocks[piece.key] for piece in bucket.pieces}
        if codec is None:
            return Packet(bucket, values, None, home, clocks)
        residuals = {name: self._residual(name, home) for name in clocks}
        return Packet(bucket, compressed(bucket, values, residuals, codec), codec.threshold, home, clocks)

    def _residual(self, key: Key, home: int) -> Array:
        """Residual of compression for the elements of a key that a server has."""
        if key not in self._residuals:
            self._residuals[key] = np.zeros(math.prod(self._table.get("push", key).shape), np.float32)
        part = next(part for part in self._transport.parts(key) if part.home == home)
        return self._residuals[key][part.start : part.stop]

    def _write(self, groups: Groups, pull: Callable[[Mapping[Key, int]], Mapping[Key, Any]]) -> None:
        clocks = {name: self._clocks[name] for name in groups}

        def write() -> None:
            # In the courier's thread: its next job may change what is stored, and comes after these copies.
            for name, value in pull(clocks).items():
                source = value if isinstance(value, NDArray) else as_ndarray(value, is_source=True)
                shape = self._table.get("pull", name).shape
                source = source if source.shape == shape else source.reshape(shape)
                for out in groups[name]:
                    source.copyto(out)

        self._courier.ask(write)
