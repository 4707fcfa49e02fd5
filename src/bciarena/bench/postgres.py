"""A temporary PostgreSQL server, for measurements and tests."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from pathlib import Path

from bciarena.errors import Fault


def programs() -> Path | None:
    """The folder with initdb and pg_ctl, newest version first; None where PostgreSQL is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    elsewhere = shutil.which("initdb")
    return Path(elsewhere).parent if elsewhere else None


class Server:
    """A cluster that listens on a free port of this machine, without durable writes; it vanishes with its folder."""

    def __init__(self, where: Path) -> None:
        self.bin = where
        self.folder = Path(tempfile.mkdtemp(prefix="arena-postgres-"))
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._call("initdb", "-D", str(self.folder / "data"), "-U", self.user, "-A", "trust", "-N", "-E", "UTF8")
        self.start()

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(self.bin / program), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode:
            raise Fault(f"{program}: {done.stdout}{done.stderr}")

    def start(self) -> None:
        # The server must not inherit our pipes, or pg_ctl would never seem to end.
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"
        log = str(self.folder / "log")
        self._call("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._call("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", mode, "stop")

    def restart(self, mode: str = "immediate") -> None:
        """Cut every connection (as a crash does, by default) and come back."""
        self.stop(mode)
        self.start()

    def url(self, name: str | None = None) -> str:
        """A fresh, empty database."""
        import psycopg

        name = name or f"t{uuid.uuid4().hex[:12]}"
        server = f"postgresql://{self.user}@127.0.0.1:{self.port}"
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(f'create database "{name}"')
        return f"{server}/{name}"

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
