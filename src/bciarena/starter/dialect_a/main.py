"""Plays the algorithm of this folder and prints its score: ``python main.py [data folder]``."""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # packets are small: more threads only get in each other's way

try:
    from bciarena.entries.companion import practice_set, told
    from bciarena.errors import ArenaError
except ImportError:
    sys.exit(
        "main.py plays with BCI Arena, which this Python does not have: install bciarena (Python 3.11 or newer) and "
        "start main.py with that Python.\n"
        "本程序需要 BCI Arena：请先安装 bciarena（Python 3.11 以上），再用该 Python 运行 main.py。"
    )

from Algorithm.__CLASS__ import __CLASS__
from Framework.AlgorithmSystemManager import AlgorithmSystemManager
from Task.TaskManager import TaskManager


def main():
    data = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    system = AlgorithmSystemManager()
    system.add_task(TaskManager("__CHALLENGE__"))
    system.add_data(data or practice_set("__CHALLENGE__"))
    system.add_algorithm(__CLASS__())
    system.run()
    print(told(system.get_score()))


if __name__ == "__main__":
    try:
        main()
    except ArenaError as error:
        sys.exit(str(error))
