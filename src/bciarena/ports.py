"""Where servers listen: an address in use is reported at once, in one line."""

from __future__ import annotations

import socket
from collections.abc import Callable

from bciarena.errors import BadInput

PORTS = range(8000, 8100)
"""Where a site listens whose port nobody named: on the first that is free."""


def free_port(host: str, say: Callable[[str], None]) -> int:
    """The usual port or, where it is in use, the next one, and say so."""
    for port in PORTS:
        try:
            refuse_busy_port(host, port)
        except BadInput:
            if port == PORTS[-1]:
                raise
            continue
        if port != PORTS[0]:
            say(f"port {PORTS[0]} is in use; this site is on port {port}")
        return port
    raise AssertionError("unreachable")


def refuse_busy_port(host: str, port: int) -> None:
    """Report an address that cannot be used at once, not after minutes of building a demo."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise BadInput(f"{host}:{port}: cannot listen there ({error.strerror}); choose another --port") from error
