"""Reports a text of megabytes and an integer of many digits."""


class Entry:
    def run(self, packets):
        client = packets.gi_frame.f_locals["client"]
        for count, packet in enumerate(packets, 1):
            if count in (51, 52):
                client.report("9" * (8 << 20) if count == 51 else 10**400)
        return
        yield
