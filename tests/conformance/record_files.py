"""Record what MXNet 1.9.1 makes of the files that operad writes; see docs/conformance.md.

    python tests/conformance/record_files.py --mxnet PYTHON [--only OPERATOR ...]

runs under operad's Python; PYTHON is that of an environment that has MXNet 1.9.1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.recorded import files, store
from tests.conformance.recorded.case import Case
from tests.conformance.recorded.catalogue import catalogue
from tests.conformance.recorded.operad_peer import Operad
from tests.conformance.recorded.operators import PLUGIN_OF
from tests.conformance.recorded.outcome import Refusal
from tests.conformance.recorded.store import Record, Verdict
from tests.conformance.recorded.worker import Worker

PEER = Operad()


def main() -> None:
    """Record every operator that a plugin provides, or some, and keep the rest of the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mxnet", required=True, metavar="PYTHON", help="the interpreter that has MXNet")
    parser.add_argument("--only", nargs="+", metavar="OPERATOR", help="leave the record of others as it is")
    options = parser.parse_args()
    chosen = options.only or list(PLUGIN_OF)
    record = store.load()
    worker = Worker(python=options.mxnet)
    try:
        with TemporaryDirectory() as folder:
            for op in chosen:
                record.verdicts[op] = record_operator(worker, record, op, Path(folder))
    finally:
        worker.close()
        record.save_verdicts()


def record_operator(worker: Worker, record: Record, op: str, folder: Path) -> dict[str, Verdict]:
    """MXNet's verdicts on the files of every case that it can bind and operad can write."""
    verdicts: dict[str, Verdict] = {}
    for case in catalogue()[op]:
        result = record.results[op].get(case.name)
        if result is None or isinstance((result.bound or result.forward).outputs, Refusal):
            continue
        try:
            written = files.write(PEER, case)
        except Exception:  # noqa: BLE001 - what operad cannot write is told by the checks
            continue
        verdicts[case.name] = Verdict(files.digest(written), ask(worker, case, written, folder))
    words = Counter(verdict.words for verdict in verdicts.values())
    if words:
        print(f"{op}: {', '.join(f'{count} {text}' for text, count in words.items())}", flush=True)
    return verdicts


def ask(worker: Worker, case: Case, written: files.Files, folder: Path) -> str:
    """Ask MXNet for its verdict: `same`, or the difference in words."""
    symbol, params = folder / "case-symbol.json", folder / "case.params"
    symbol.write_text(written.symbol, encoding="utf-8")
    params.write_bytes(written.params)
    answer = worker.ask("files", case.id, str(symbol), str(params))
    return answer.reason if isinstance(answer, Refusal) else str(answer)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
