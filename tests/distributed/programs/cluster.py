"""Start Ray on the loopback device, print the variables that others need, and end with standard input."""

from __future__ import annotations

import json
import os
import sys

from operad_kvstore_ray.session import start_cluster

address = start_cluster(256 << 20)
print(json.dumps({"RAY_ADDRESS": address} | {k: v for k, v in os.environ.items() if k.startswith("RAY_")}))
sys.stdout.flush()
sys.stdin.read()
