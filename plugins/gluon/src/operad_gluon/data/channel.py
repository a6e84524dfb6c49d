"""Objects sent to another process through files without a name.

An object is pickled with its arrays out of band. Pickle and arrays are written to one file that has no name:
a piece of memory where the system has `memfd_create`, otherwise a temporary file that is deleted as it is
made. The file's descriptor goes over a socket. The receiver maps the file and has the arrays where they lie.

The kernel frees such a file with its last descriptor and mapping, however the processes end. Refused:
`multiprocessing.shared_memory`, whose blocks have names, so that a killed process leaves them behind.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import socket
import struct
import tempfile
from typing import Any, Final, final

import numpy as np

from operad import NDArray, cpu, nd

_ALIGNMENT: Final = 64
_SIGNAL: Final = b"\x01"


@final
class Channel:
    """One end of a connection between two processes.

    Args:
        end: A connected Unix stream socket; the channel closes it.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, value: object) -> None:
        """Send a value; does not wait for the receiver.

        Raises:
            OSError: The other end is closed, or there is no more memory.
            Exception: The value cannot be pickled; nothing was sent.
        """
        descriptor = _written(value)
        try:
            socket.send_fds(self._end, [_SIGNAL], [descriptor])
        finally:
            os.close(descriptor)

    def receive(self, timeout_s: float | None = None) -> Any:
        """The next value; waits for it.

        Raises:
            EOFError: The other end is closed.
            TimeoutError: None came within `timeout_s`, in seconds.
        """
        self._end.settimeout(timeout_s)
        message, descriptors, _, _ = socket.recv_fds(self._end, len(_SIGNAL), 1)
        if not message:
            raise EOFError("the other end is closed")
        (descriptor,) = descriptors
        return _read(descriptor)

    def close(self) -> None:
        """Close this end; the other one then reads an end of file."""
        self._end.close()


def channel() -> tuple[Channel, Channel]:
    """Two connected channels."""
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return Channel(first), Channel(second)


@final
class _Pickler(pickle.Pickler):
    def reducer_override(self, value: object) -> Any:
        """Let arrays of operad be pickled as NumPy's, which go out of band."""
        if type(value) is NDArray:
            return _array, (value.asnumpy(),)
        return NotImplemented


def _array(values: np.ndarray[Any, Any]) -> NDArray:
    """The array over a NumPy array's memory, or over a copy where it is read-only."""
    (made,) = nd.over([values if values.flags.writeable else values.copy()], cpu())
    assert made is not None
    return made


def _written(value: object) -> int:
    """Descriptor of a new file that has the value: sizes of the parts, then each part at its alignment."""
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, buffer_callback=buffers.append).dump(value)
    parts = [memoryview(stream.getbuffer()), *(buffer.raw() for buffer in buffers)]
    head = struct.pack(f"<{len(parts) + 1}Q", len(parts), *(part.nbytes for part in parts))
    descriptor = _nameless_file()
    try:
        position = 0
        for part in [memoryview(head), *parts]:
            position = _aligned(position)
            _write(descriptor, part, position)
            position += part.nbytes
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _read(descriptor: int) -> Any:
    """The value of a file; closes the descriptor."""
    try:
        pages = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)
    whole = memoryview(pages)
    (count,) = struct.unpack_from("<Q", whole)
    parts, position = [], 8 * (count + 1)
    for size in struct.unpack_from(f"<{count}Q", whole, 8):
        position = _aligned(position)
        parts.append(whole[position : position + size])
        position += size
    return pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301 - from a process of our own


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("operad-batch")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _write(descriptor: int, part: memoryview, position: int) -> None:
    # By calls, not through a mapping: a full memory is then an error of this call and no SIGBUS.
    rest = part.cast("B") if part.nbytes else part
    while rest.nbytes:
        count = os.pwrite(descriptor, rest, position)
        rest, position = rest[count:], position + count


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
