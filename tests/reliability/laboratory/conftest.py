"""Programs here that replace what locks are made of, and so must be processes of their own."""

from __future__ import annotations

collect_ignore = ["schedules.py"]
