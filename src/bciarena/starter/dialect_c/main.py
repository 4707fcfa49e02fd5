"""Plays the algorithm of this folder and prints its score: ``python main.py [data folder]``."""

import asyncio
import importlib
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # packets are small: more threads only get in each other's way

try:
    import yaml

    from bciarena.entries.companion import practice_set, told
    from bciarena.errors import ArenaError
except ImportError:
    sys.exit(
        "main.py plays with BCI Arena, which this Python does not have: install bciarena (Python 3.11 or newer) and "
        "start main.py with that Python.\n"
        "本程序需要 BCI Arena：请先安装 bciarena（Python 3.11 以上），再用该 Python 运行 main.py。"
    )

from Challenge.Challenge import Challenge
from Framework.Proxy import Proxy


def load_algorithm():
    """The class named in AlgorithmConfig.yml, loaded as the contest does: by its bare module name."""
    with open("Algorithm/config/AlgorithmConfig.yml", encoding="utf-8") as file:
        method = yaml.safe_load(file)["method"]
    folder, name = os.path.split(os.path.abspath(method["method_class_file"]))
    sys.path.insert(0, folder)
    return getattr(importlib.import_module(os.path.splitext(name)[0]), method["method_class_name"])


def main():
    data = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    challenge = Challenge("__CHALLENGE__", data or practice_set("__CHALLENGE__"))
    algorithm = load_algorithm()()
    algorithm.set_proxy(Proxy(challenge))
    asyncio.run(algorithm.run())
    print(told(challenge.get_score()))


if __name__ == "__main__":
    try:
        main()
    except ArenaError as error:
        sys.exit(str(error))
