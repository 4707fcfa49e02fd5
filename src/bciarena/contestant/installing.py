"""Installs libraries inside a box of their own, from wheels alone, with the interpreter's own pip.

The box's network is empty. A socket that listens in it is handed out; whoever holds the index answers there. What came
is looked over before it is unpacked: a wheel that asks for a file by address is refused.
"""

import array
import glob
import os
import shutil
import socket
import subprocess
import sys
import zipfile
from email.parser import HeaderParser

UNMET = 64  # exit code: pip found no set of wheels
REFUSED = 65  # a wheel asks for what is no package of the index; REASON says which
REASON = "refused.txt"
MAX_METADATA = 1 << 22
PATIENCE_S = "3600"  # the index answers only when it holds a wheel itself, which for gigabytes takes a while


def install(order):
    """Exit code; the libraries lie in OUT/site, the wheels they came from in OUT/wheels."""
    asked = order["install"]
    out, root = asked["out"], order["root"]
    listener = listen(asked["channel"])
    tmp = os.path.join(out, "tmp")
    os.mkdir(tmp)
    os.environ.update(TMPDIR=tmp, PIP_CONFIG_FILE=os.devnull, PIP_NO_CACHE_DIR="1", PIP_NO_INPUT="1")
    address = "http://127.0.0.1:%d/simple" % listener.getsockname()[1]
    listener.close()
    wheels, site = os.path.join(out, "wheels"), os.path.join(out, "site")
    pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    fetch = ["download", "--only-binary=:all:", "--retries", "0", "--timeout", PATIENCE_S]
    fetch += ["--index-url", address, "--dest", wheels]
    for attempt in range(asked["attempts"]):
        listed = ["-r", os.path.join(root, "requirements-%d.txt" % attempt)]
        listed += ["-c", os.path.join(root, "constraints-%d.txt" % attempt)]
        if subprocess.call(pip + fetch + listed) == 0:
            break
        shutil.rmtree(wheels, ignore_errors=True)
    else:
        return UNMET
    found = sorted(glob.glob(os.path.join(wheels, "*")))
    for path in found:
        wrong = addresses(path)
        if wrong:
            with open(os.path.join(out, REASON), "w", encoding="utf-8") as file:
                file.write("%s asks for %s" % (os.path.basename(path), wrong))
            return REFUSED
    install = ["install", "--no-index", "--no-deps", "--no-warn-script-location", "--target", site]
    if subprocess.call(pip + install + found):
        return 1
    shutil.rmtree(tmp, ignore_errors=True)
    return 0


def listen(channel):
    """A socket in this box's network, also in the hands of whoever holds the other end of ``channel``."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    with socket.socket(fileno=channel) as way:
        held = array.array("i", [listener.fileno()])
        way.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, held)])
    return listener


def addresses(wheel):
    """What a wheel asks for by address instead of by name and version; empty if nothing."""
    if not wheel.endswith(".whl"):
        return "being built, which is no wheel"
    with zipfile.ZipFile(wheel) as archive:
        for item in archive.infolist():
            if item.filename.count("/") == 1 and item.filename.endswith(".dist-info/METADATA"):
                if item.file_size > MAX_METADATA:
                    return "more than a package may"
                text = archive.read(item).decode("utf-8", "replace")
                for line in HeaderParser().parsestr(text).get_all("Requires-Dist") or []:
                    if "@" in line.partition(";")[0]:
                        return line
    return ""
