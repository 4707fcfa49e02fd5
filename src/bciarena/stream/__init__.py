"""The masked copy of a recording, cut into packets. Pure: no clock, no writing, nothing handed out unasked."""

from bciarena.stream.packets import Packet, PacketSource, Stream

__all__ = ["Packet", "PacketSource", "Stream"]
