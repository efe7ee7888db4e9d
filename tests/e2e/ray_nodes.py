"""A Ray cluster of several nodes on this machine, in a process of its own: prints its address, and ends with its standard input."""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster

_STORE_BYTES = 100 << 20


def main(nodes: int) -> None:
    """One worker's room on each of `nodes` nodes."""
    own = {"num_cpus": 1, "object_store_memory": _STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**own, "include_dashboard": False})
    for _ in range(nodes - 1):
        cluster.add_node(**own)
    sys.stdout.write(f"address {cluster.address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
