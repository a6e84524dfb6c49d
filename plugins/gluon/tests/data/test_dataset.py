from __future__ import annotations

from pathlib import Path

import pytest

import operad as od
from operad.errors import ParamError

data = od.gluon.data


@pytest.mark.parametrize("count", [0, 1, 5, 12])
def test_shards_have_every_sample_once_and_differ_in_length_by_at_most_one(count: int) -> None:
    for shards in range(1, 7):
        parts = [data.SimpleDataset(list(range(count))).shard(shards, i) for i in range(shards)]
        assert [i for part in parts for i in part] == list(range(count))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_sampled_dataset_keeps_its_order_and_length() -> None:
    random = data.SimpleDataset(list(range(20))).sample(data.RandomSampler(20))
    assert list(random) == list(random)
    assert sorted(random) == list(range(20))
    assert len(random) == 20


def test_shards_out_of_range_are_refused() -> None:
    with pytest.raises(ParamError, match="index is 2, expected 0 to 1 of 2 shards"):
        data.SimpleDataset([1]).shard(2, 2)


@pytest.mark.parametrize("more", [{}, {"num_workers": 2}, {"num_workers": 3, "thread_pool": True}])
def test_records_are_read_by_any_worker(tmp_path: Path, more: dict[str, object]) -> None:
    path = str(tmp_path / "a")
    with od.recordio.MXIndexedRecordIO(f"{path}.idx", f"{path}.rec", "w") as out:
        for i in range(60):
            out.write_idx(i, b"%d" % i * 100)
    dataset = data.RecordFileDataset(f"{path}.rec").transform(lambda record: int(record[:2]) + len(record))
    expected = [int((b"%d" % i * 100)[:2]) + len(b"%d" % i * 100) for i in range(60)]
    found = [int(i) for batch in data.DataLoader(dataset, 7, **more) for i in batch.asnumpy()]
    assert found == expected
