"""Rules for whatever reads files: `rule(read, folder)`, where `read(path, what)` reads all of one."""

from __future__ import annotations

import os
import socket

import pytest

from core.tests.descriptors import opened
from operad.errors import FormatError, OperadError


def names_what_is_not_there_and_what_the_system_says(read, folder):
    with pytest.raises(FileNotFoundError, match="the list 'x': No such file") as caught:
        read(folder / "none", "the list 'x'")
    assert isinstance(caught.value, OperadError)
    with pytest.raises(IsADirectoryError, match="the list 'x': it is a folder") as caught:
        read(folder, "the list 'x'")
    assert isinstance(caught.value, OperadError)


def refuses_at_once_what_might_never_end(read, folder):
    os.mkfifo(folder / "pipe")
    for path in (folder / "pipe", "/dev/zero"):
        with pytest.raises(FormatError, match=r"the list 'x' is a pipe, a device.*expected a regular file"):
            read(path, "the list 'x'")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
        with pytest.raises(OperadError):
            read(folder / "socket", "it")


def leaves_no_descriptor_open(read, folder):
    (folder / "file").write_bytes(b"x\n" * 3)
    os.mkfifo(folder / "pipe")
    read(folder / "file", "it")
    with pytest.raises(FormatError):
        read(folder / "pipe", "it")
    assert not [path for path in opened() if path.startswith(os.path.realpath(folder))]


RULES = pytest.mark.parametrize(
    "rule",
    [names_what_is_not_there_and_what_the_system_says, refuses_at_once_what_might_never_end,
     leaves_no_descriptor_open],
)  # fmt: skip
