"""The data that main.py plays."""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIMULATE = __SIMULATE__  # noqa: F821


def data_folder(arguments):
    """The folder that was named, or ``data`` here: a small practice set, made on first use where arena is installed."""
    if arguments:
        return os.path.abspath(arguments[0])
    folder = os.path.join(HERE, "data")
    if os.path.isdir(folder) and os.listdir(folder):
        return folder
    beside = os.path.join(os.path.dirname(sys.executable), "arena")
    arena = beside if os.path.isfile(beside) else shutil.which("arena")
    if arena is None:
        sys.exit(
            "there is no data: name a folder (python main.py path/to/data), or make a practice set on a machine with "
            "BCI Arena: arena simulate " + " ".join(SIMULATE) + " --out data\n"
            "没有数据：请指定数据目录（python main.py 数据目录），或在装有 BCI Arena 的机器上生成练习数据（命令同上）。"
        )
    print("making a practice set in data (once)", file=sys.stderr)
    done = subprocess.run([arena, "simulate", *SIMULATE, "--out", folder], stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.returncode)
    return folder
