"""Right, after one second of every trial."""

import json
import time

from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmDataObject, AlgorithmResultObject


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        with open("Algorithm/method/impl/script.json") as file:
            script = json.load(file)
        source = self._proxy.get_source("eeg_1")
        device = await source.get_device()
        seen = 0
        while True:
            packet = await source.get_data()
            assert isinstance(packet, AlgorithmDataObject)
            if packet.finish_flag:
                assert packet.data is None
                break
            assert packet.data.shape[0] == device.channel_number + 1
            assert packet.start_position == seen == packet.data[0, 0], "a sample was lost, doubled or moved"
            seen += packet.data.shape[1]
            await self.report(script["reports"].get(str(seen), script["always"]))
            if seen == script["leave_at"]:
                return
        await self.report(script["after_finish"])
        while script["stay"]:
            time.sleep(1)

    async def report(self, answers):
        for answer in answers:
            await self._proxy.report(AlgorithmResultObject(result=answer))
