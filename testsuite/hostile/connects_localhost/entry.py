"""Tries to reach a server on the same machine."""

import json
import socket


class Entry:
    def start(self, info):
        with open("where.json") as file:
            port = json.load(file)["port"]
        for host in ("127.0.0.1", "::1", "localhost"):
            try:
                socket.create_connection((host, port), timeout=2)
                print("ESCAPED", host)
            except OSError as error:
                print("held", host, error)
        abstract = socket.socket(socket.AF_UNIX)
        try:
            abstract.connect("\0/tmp/.X11-unix/X0")
            print("ESCAPED abstract")
        except OSError as error:
            print("held abstract", error)

    def step(self, packet):
        return None
