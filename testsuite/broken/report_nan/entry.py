"""Reports NaN."""


class Entry:
    def run(self, packets):
        client = packets.gi_frame.f_locals["client"]
        for count, packet in enumerate(packets, 1):
            if count in (51, 52):
                client.report(float("nan") if count == 51 else 201)
        return
        yield
