"""Plays the algorithm of this folder and prints its score: ``python main.py [data folder]``.

Needs Python 3.8 or newer and numpy, nothing else.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # packets are small: more threads only get in each other's way
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from Framework.engine.contestant import names  # noqa: E402

names.install(HERE, "__DIALECT__")  # framework modules that are not in this folder are found as on the server

from Algorithm.__CLASS__ import __CLASS__  # noqa: E402
from Framework.AlgorithmSystemManager import AlgorithmSystemManager  # noqa: E402
from Framework.engine.errors import BadInput  # noqa: E402
from Framework.engine.rehearsal import told  # noqa: E402
from Framework.practice import data_folder  # noqa: E402
from Task.__TASK__ import __TASK__  # noqa: E402


def main():
    data = data_folder(sys.argv[1:])
    os.chdir(HERE)
    system = AlgorithmSystemManager()
    system.add_task(__TASK__("__ID__"))
    system.add_data(data)
    system.add_algorithm(__CLASS__())
    system.run()
    print(told(system.get_score()))


if __name__ == "__main__":
    try:
        main()
    except BadInput as error:
        sys.exit(str(error))
