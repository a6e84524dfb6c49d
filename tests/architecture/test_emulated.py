"""The parts of `make test-arm` and `make test-x86`: what is missing is said, and how programs are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import emulated
from tools.emulated import MissingError
from tools.workspace import Distribution


def test_another_machine_is_refused() -> None:
    emulated.check_host("Linux", "x86_64")
    with pytest.raises(MissingError, match="this is Darwin on arm64"):
        emulated.check_host("Darwin", "arm64")


def test_what_is_missing_is_named_and_the_status_is_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(emulated, "check_host", lambda system, machine: None)
    monkeypatch.setattr(emulated, "environment", lambda name: emulated.qemu("aarch64", tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    assert emulated.main(["arm"]) == 2
    expected = "cannot run: there is no apt-get to fetch qemu-user-static for amd64\n"
    assert capsys.readouterr().err == expected


def test_a_client_that_gets_nothing_is_named_with_its_last_words() -> None:
    words = [sys.executable, "-c", "import sys; sys.exit('first\\nno such host')"]
    with pytest.raises(MissingError, match="does not get wheels: no such host"):
        emulated._fetch(words, "wheels")


def test_an_emulator_of_the_system_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "qemu-aarch64"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert emulated.qemu("aarch64", tmp_path / "none") == program


def test_packages_are_those_of_distributions_and_tests_without_the_checkouts_own() -> None:
    core = {"dependencies": ["numpy>=2,<3"], "optional-dependencies": {"cli": ["click>=8,<9"]}}
    loss = {"dependencies": ["operad>=0.2,<0.3"], "optional-dependencies": {"ray": ["ray>=2,<3"]}}
    declared = [{"name": "operad", **core}, {"name": "operad-loss", **loss}]
    found = emulated.packages_of([Distribution(Path("any"), {"project": each}) for each in declared])
    assert found == ["click", "mpmath", "numpy", "pytest-timeout", "scipy"]


def test_a_process_that_an_emulated_program_starts_is_emulated_too(tmp_path: Path) -> None:
    emulator, python = tmp_path / "qemu", tmp_path / "env" / "bin" / "python"
    emulator.write_text('#!/bin/bash\necho "emulated: $2" >&2\nexec -a "$4" "${@:5}"\n')
    python.parent.mkdir(parents=True)
    host = Path(sys.executable).resolve()
    python.write_text(emulated.script(emulator, "model", None, host))
    (tmp_path / "env" / "pyvenv.cfg").write_text(f"home = {host.parent}\n")
    for each in (emulator, python):
        each.chmod(0o755)
    program = "import subprocess, sys; print(sys.executable); subprocess.run([sys.executable, '-c', '1'])"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == f"{python}\n"
    assert done.stderr == 2 * "emulated: model\n"


def test_what_the_emulator_says_of_its_model_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    program = "print('qemu-x86_64-static: warning: TCG'); print('== 2 passed ==\\n'); raise SystemExit(3)"
    assert emulated.ran([sys.executable, "-c", program], {}) == ("2 passed", 3)
    assert capsys.readouterr().out == "== 2 passed ==\n\n"


def test_a_part_ends_with_its_first_command_that_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands = [[sys.executable, "-c", f"print({n}); exit({n})"] for n in (0, 3, 4)]
    monkeypatch.setattr(emulated, "FOLDER", tmp_path)
    monkeypatch.setattr(emulated, "environment", lambda name: Path(sys.executable))
    monkeypatch.setattr(emulated, "parts", lambda name, python: {"facts": commands[:1], "tests": commands})

    done = list(emulated.outcomes("arm", [], {}))

    assert [(each.title, each.closing, each.status) for each in done] == [
        ("arm, facts", "0", 0), ("arm, tests", "3", 3),
    ]  # fmt: skip


def test_a_part_has_the_processor_time_of_its_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    busy = "import time\nwhile time.process_time() < 0.5: pass\nprint('done')"
    monkeypatch.setattr(emulated, "environment", lambda name: Path(sys.executable))
    monkeypatch.setattr(emulated, "parts", lambda name, python: {"facts": [[python, "-c", busy]] * 2})
    monkeypatch.setattr(emulated, "FOLDER", tmp_path)
    (found,) = emulated.outcomes("arm", [], {})
    assert (found.title, found.closing, found.status) == ("arm, facts", "done", 0)
    assert found.processor_s > 0.9
    assert found.text().endswith(f"{found.processor_s:.0f} s of processor time")
