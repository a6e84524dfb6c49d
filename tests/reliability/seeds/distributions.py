"""Metadata of installed distributions."""

from __future__ import annotations

import sys
from pathlib import Path

from operad.registry.discovery import read_manifest


def metadata_seeds() -> list[bytes]:
    """METADATA and entry_points.txt, the two divided by a form feed."""
    metadata = b"Metadata-Version: 2.1\nName: acme-ops\nVersion: 1.0\nRequires-Dist: operad>=0.2,<1\n\nText\n"
    points = (
        b"[operad.operators]\nacme = acme.ops:Acme\nother = acme.ops:Other\n\n[console_scripts]\na = b:c\n"
    )
    return [metadata + b"\f" + points, metadata.replace(b"\n", b"\r\n") + b"\f" + points]


def read_metadata(path: Path) -> None:
    """Plugin metadata, with the damaged distribution in front of a sound one."""
    info = _distribution(path.parent / "damaged", "acme_ops-1.0")
    metadata, _, points = path.read_bytes().partition(b"\f")
    (info / "METADATA").write_bytes(metadata)
    (info / "entry_points.txt").write_bytes(points)
    manifest = read_manifest()
    owners = {owner.name for owner in manifest.distributions}
    if "sound-ops" not in owners:
        raise AssertionError(f"another distribution was lost: {sorted(owners)}")


def _distribution(folder: Path, name: str) -> Path:
    info = folder / f"{name}.dist-info"
    info.mkdir(exist_ok=True, parents=True)
    return info


def only_distributions_of(folder: Path) -> None:
    """Hide what is installed, which takes longer to read than a case does."""
    sound = _distribution(folder / "sound", "sound_ops-1.0")
    (sound / "METADATA").write_text("Metadata-Version: 2.1\nName: sound-ops\nVersion: 1.0\n")
    (sound / "entry_points.txt").write_text("[operad.operators]\nsound = sound.ops:Sound\n")
    places = [place for place in sys.path if "site-packages" not in place]
    sys.path[:] = [str(folder / "damaged"), str(folder / "sound"), *places]
