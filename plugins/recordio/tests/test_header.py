from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, FormatError, ParamError

IRHeader = od.recordio.IRHeader


@pytest.mark.parametrize(
    ("header", "packed"),
    [
        # What MXNet 1.9.1 packs.
        (IRHeader(3, 4, 2574, 0), "00000000000080400e0a0000000000000000000000000000696d616765"),
        (
            IRHeader(0, [1.5, 2], 7, 0),
            "0200000000000000070000000000000000000000000000000000c03f00000040696d616765",
        ),
    ],
)
def test_records_are_those_of_mxnet(header: Any, packed: str) -> None:
    assert od.recordio.pack(header, b"image").hex() == packed


def test_labels_may_be_arrays_and_come_back_as_one() -> None:
    for label in (np.array([1, 2]), od.nd.array([1, 2]), (1, 2)):
        header, image = od.recordio.unpack(od.recordio.pack(IRHeader(0, label, 5, 6), b"image"))
        assert (header.flag, header.label.tolist(), header.id, header.id2, image) == (
            2,
            [1, 2],
            5,
            6,
            b"image",
        )


def test_a_single_label_is_a_number() -> None:
    header, image = od.recordio.unpack(od.recordio.pack((0, 1.5, 1, 0), b""))
    assert (header, image) == (IRHeader(0, 1.5, 1, 0), b"")
    assert repr(header) == "HEADER(flag=0, label=1.5, id=1, id2=0)"


@pytest.mark.parametrize(
    "header",
    [IRHeader(0, 1, -1, 0), IRHeader(0, 1, 2**64, 0), IRHeader(0, 1, "x", 0), IRHeader(0, "tulip", 1, 0)],
)
def test_a_header_that_does_not_fit_is_refused(header: Any) -> None:
    with pytest.raises(ParamError, match="pack:"):
        od.recordio.pack(header, b"")


def test_a_text_is_no_image() -> None:
    with pytest.raises(ArgumentError, match="expected bytes"):
        od.recordio.pack(IRHeader(0, 1, 1, 0), "image")


def test_records_shorter_than_their_header_are_errors() -> None:
    record = od.recordio.pack(IRHeader(0, [1, 2], 5, 0), b"")
    for size in range(len(record)):
        with pytest.raises(FormatError, match="unpack: the record has"):
            od.recordio.unpack(record[:size])
