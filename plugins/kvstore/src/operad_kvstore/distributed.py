"""Stores whose values several processes share, whatever carries them.

A push sums what this worker's devices gave, packs the sums of all keys of the call into buckets, and returns;
a thread sends them once they are computed. So an array may be written again as soon as it has been pushed.
A pull waits for that thread, and raises what went wrong on the way. In a synchronous store a round of a key
is one push of each worker: whoever pushes twice waits for the others, in its pull. In an asynchronous one
every push changes the stored value, which needs an optimizer.

Source: KVStoreDist, src/kvstore/kvstore_dist.h. Differs: rounds count workers and not requests; keys of a
call share messages; every wait ends, and its error names ranks; errors of an updater are raised.
"""

from __future__ import annotations

import atexit
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from operad import NDArray, autograd, cpu, nd
from operad.errors import ArgumentError, DTypeError
from operad.files import write_atomically
from operad_kvstore.buckets import Bucket, Sized, pack, plan_buckets
from operad_kvstore.compression import TwoBit
from operad_kvstore.courier import Courier
from operad_kvstore.keys import Key
from operad_kvstore.packets import Array, Packet, as_ndarray, compressed
from operad_kvstore.store import Groups, KVStore
from operad_kvstore.transport import Transport
from operad_kvstore.updates import Update


@final
class Remote(NamedTuple):
    """What a worker knows of a key.

    Attributes:
        shape: Of its value.
        dtype: Likewise.
        home: The number of the server that has it.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    home: int


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
        self._is_open = True
        atexit.register(self.close)

    @property
    def rank(self) -> int:
        """The number of this worker, from 0 on."""
        return self._transport.rank

    @property
    def num_workers(self) -> int:
        """How many workers there were at the start."""
        return self._transport.num_workers

    def barrier(self) -> None:
        """Wait until every worker has called it, and all that this one pushed has arrived.

        Raises:
            WorkerLostError: One has ended; likewise in every other call that waits.
            StoreTimeoutError: Some did not call it within `OPERAD_KV_TIMEOUT_S` seconds; likewise.
        """
        self._courier.ask(self._transport.barrier)

    _barrier = barrier

    def num_dead_node(self, node_id: int = 0, timeout: float = 60) -> int:
        """How many workers are known to have ended."""
        return len(self._transport.lost())

    get_num_dead_node = num_dead_node

    def set_updater(self, updater: Update | None) -> None:
        """Let rank 0's function of (key, gradient, weight) change the stored weight, in place.

        It runs where values are stored, so it must work in another process. Every worker calls this.
        """
        self._updates.set_function(updater)
        self._courier.ask(lambda: self._transport.configure("updater", updater))

    _set_updater = set_updater

    def set_optimizer(self, optimizer: Any) -> None:
        """Let rank 0's optimizer move the values where they are stored. Every worker calls this."""
        self._updates.set_optimizer(optimizer)
        self._courier.ask(lambda: self._transport.configure("optimizer", optimizer))

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
        """Write what the optimizer keeps of all values to a file; one worker is enough."""
        of_shards = self._courier.ask(lambda: self._transport.states(dump_optimizer))
        if len(of_shards) == 1:
            write_atomically(fname, of_shards[0])
        else:
            write_atomically(fname, self._updates.join_states(of_shards, dump_optimizer))

    def load_optimizer_states(self, fname: str | Path) -> None:
        """Take over the file that rank 0 has. Every worker calls this."""
        states = Path(fname).read_bytes() if self.rank == 0 else b""
        self._courier.ask(lambda: self._transport.configure("states", states))

    def close(self) -> None:
        """Take leave of the other workers; a process does so when it ends."""
        if self._is_open:
            self._is_open = False
            atexit.unregister(self.close)
            self._transport.close()

    def _add(self, call: str, key: Any, value: Any) -> None:
        groups = self._table.grouped(call, "value", key, value)
        self._table.check_new(call, list(groups))
        for name, values in groups.items():
            if len(values) > 1:
                raise ArgumentError(f"{call}: key {name!r} has {len(values)} values, expected one")
        values_of = {name: array.asnumpy() for name, (array,) in groups.items()}
        homes = {name: self._transport.home(name, value.nbytes) for name, value in values_of.items()}
        self._courier.ask(lambda: self._transport.init(values_of))
        self._table.add(
            {name: Remote(value.shape, value.dtype, homes[name]) for name, value in values_of.items()}
        )

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

    def _take_in(self, groups: Groups) -> None:
        totals: dict[Key, NDArray] = {}
        by_home: defaultdict[int, list[Sized]] = defaultdict(list)
        with autograd.pause():
            for name, values in groups.items():
                known = self._table.get("push", name)
                parts = [value.as_in_context(cpu()).astype(known.dtype, copy=False) for value in values]
                totals[name] = parts[0] if len(parts) == 1 else nd.add_n(*parts)
                by_home[known.home].append(Sized(name, totals[name].size, known.dtype))
                self._clocks[name] += 1
            filled = []
            for home, arrays in by_home.items():
                for bucket in plan_buckets(arrays):
                    flat = nd.empty(bucket.num_elements, dtype=bucket.dtype)
                    pack(bucket, totals, flat)
                    filled.append((bucket, flat, home))
        codec = self._codec
        self._courier.send(lambda: self._transport.push([self._packet(codec, *one) for one in filled]))

    def _packet(self, codec: TwoBit | None, bucket: Bucket, flat: NDArray, home: int) -> Packet:
        """Waits for the values; the courier's thread calls it."""
        # Nobody else has `flat`, so its memory is sent without a copy.
        values = np.from_dlpack(flat)
        if codec is None:
            return Packet(bucket, values, None, home)
        for piece in bucket.pieces:
            if piece.key not in self._residuals:
                size = int(np.prod(self._table.get("push", piece.key).shape))
                self._residuals[piece.key] = np.zeros(size, np.float32)
        words = compressed(bucket, values, self._residuals, codec)
        return Packet(bucket, words, codec.threshold, home)

    def _copy_out(self, groups: Groups) -> None:
        clocks = {name: self._clocks[name] for name in groups}
        found = self._courier.ask(lambda: self._transport.pull(clocks))
        with autograd.pause():
            for name, outs in groups.items():
                stored = as_ndarray(found[name])
                for out in outs:
                    stored.copyto(out)
