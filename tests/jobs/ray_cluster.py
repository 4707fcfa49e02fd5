"""A real Ray cluster on this machine, as a process of its own: ``python ray_cluster.py``.

Prints the cluster's address, then takes orders, one per line: ``kill`` (kill -9 the second node), ``add`` (a new second
node), ``end``; answers each with ``done``.
"""

import sys

from ray.cluster_utils import Cluster

ONE = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 << 20, "memory": 1 << 30}


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args=ONE)
    second = cluster.add_node(**ONE)
    print("address", cluster.address, flush=True)
    for line in sys.stdin:
        order = line.strip()
        if order == "kill":
            cluster.remove_node(second, allow_graceful=False)
        elif order == "add":
            second = cluster.add_node(**ONE)
        elif order == "end":
            break
        print("done", order, flush=True)
    cluster.shutdown()
    print("done end", flush=True)


if __name__ == "__main__":
    main()
