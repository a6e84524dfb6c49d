"""A release as users get it: files of `tools.release` in an index (PEP 503), which pip installs from."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.integration.environments import CleanEnvironment, of_the_workspace
from tools.release import build

WANTED = ("operad-elemwise", "operad[cli]")

_USE = """
import json
from importlib.metadata import distributions
import operad as od

ours = [each.name for each in distributions() if each.name.startswith("operad")]
print(json.dumps([od.nd.tanh(od.nd.array([0.0, 0.5])).asnumpy().tolist(), sorted(ours)]))
"""


def write_index(files: Path, index: Path) -> None:
    """Make an index of files: a folder for each distribution, whose page has links with digests."""
    links = defaultdict(list)
    for file in sorted(files.iterdir()):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        name = canonicalize_name(file.name.partition("-")[0])
        links[name].append(f'<a href="{file.as_uri()}#sha256={digest}">{file.name}</a><br>')
    for name, lines in links.items():
        (index / name).mkdir(parents=True)
        (index / name / "index.html").write_text("<!DOCTYPE html>\n" + "\n".join(lines))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of one plugin and what it requires, and of nothing else."""
    folder, chosen = tmp_path_factory.mktemp("release"), of_the_workspace(WANTED)
    build(chosen, str(chosen[0].declared["project"]["version"]), folder / "files", epoch="1500000000")
    write_index(folder / "files", folder / "index")
    return folder / "index"


def test_a_plugin_installed_from_an_index_computes_and_is_listed(index: Path, tmp_path: Path) -> None:
    environment = CleanEnvironment(tmp_path / "environment", index)
    environment.install_from(index, *WANTED)

    values, ours = json.loads(environment.run(_USE))
    assert values == pytest.approx([0.0, 0.46211716])
    assert ours == sorted(each.name for each in of_the_workspace(WANTED))

    script = environment.python.parent / "operad"
    listed = subprocess.run([script, "ops", "--json"], check=True, capture_output=True, text=True)
    assert '"tanh"' in listed.stdout
    assert '"operad-elemwise"' in listed.stdout


def test_a_changed_file_is_refused(index: Path, tmp_path: Path) -> None:
    other = tmp_path / "index"
    for page in index.glob("*/index.html"):
        (other / page.parent.name).mkdir(parents=True)
        (other / page.parent.name / page.name).write_text(page.read_text().replace("sha256=", "sha256=0"))

    with pytest.raises(AssertionError, match="Expected sha256"):
        CleanEnvironment(tmp_path / "environment", other).install_from(other, "operad")
