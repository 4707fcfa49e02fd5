"""Tries to reach the world, by every family of sockets it knows."""

import socket


class Entry:
    def start(self, info):
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK, 38):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
                try:
                    socket.socket(family, kind)
                    print("ESCAPED", family, kind)
                except OSError as error:
                    print("held", family, kind, error.strerror)
        try:
            socket.create_connection(("93.184.216.34", 80), timeout=2)
            print("ESCAPED")
        except OSError as error:
            print("held", error)

    def step(self, packet):
        return None
