"""Right, after one second of every trial."""

import json
import time


class Entry:
    def run(self, packets):
        with open("script.json") as file:
            script = json.load(file)
        seen = 0
        for packet in packets:
            assert packet.data[0, 0] == seen, "a sample was lost, doubled or moved"
            seen += packet.data.shape[1]
            yield from script["reports"].get(str(seen), script["always"])
            if seen == script["leave_at"]:
                return
        yield from script["after_finish"]
        while script["stay"]:
            time.sleep(1)
