"""Plays the algorithm of this folder and prints its score: ``python main.py [data folder]``.

Needs Python 3.8 or newer and numpy, nothing else.
"""

import asyncio
import os
import re
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # packets are small: more threads only get in each other's way
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from Challenge.Challenge import Challenge  # noqa: E402
from Framework.engine.contestant.loading import load_class  # noqa: E402
from Framework.engine.errors import BadInput  # noqa: E402
from Framework.engine.rehearsal import told  # noqa: E402
from Framework.practice import data_folder  # noqa: E402
from Framework.Proxy import Proxy  # noqa: E402


def load_algorithm():
    """The class named in AlgorithmConfig.yml, loaded as the contest does: by its bare module name."""
    with open("Algorithm/config/AlgorithmConfig.yml", encoding="utf-8") as file:
        said = dict(re.findall(r"^\s*(method_class_\w+)\s*:\s*['\"]?([^'\"\s#]+)", file.read(), re.M))
    target = said["method_class_file"].replace("\\", "/") + ":" + said["method_class_name"]
    return load_class(HERE, target, "C")


def main():
    data = data_folder(sys.argv[1:])
    os.chdir(HERE)
    challenge = Challenge("__ID__", data)
    algorithm = load_algorithm()()
    proxy = Proxy(challenge)
    if hasattr(algorithm, "set_proxy"):
        algorithm.set_proxy(proxy)
    algorithm._proxy = proxy
    asyncio.run(algorithm.run())
    print(told(challenge.get_score()))


if __name__ == "__main__":
    try:
        main()
    except BadInput as error:
        sys.exit(str(error))
