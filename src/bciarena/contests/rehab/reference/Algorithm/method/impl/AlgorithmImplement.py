"""Tangent vectors of the whole trial; the side inferred over the block; the answer with most expected points.

The model in ``model/`` was fitted by ``train.py``. See ``bciarena.decoders.limb`` for how.
"""

from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject

from bciarena.decoders.limb import LimbModel, LimbPlayer

ONSETS = (1, 2, 3, 4, 200)  # imagery begins; 200 is what the released stream shows
BLOCK_START = 242


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        player = LimbPlayer(LimbModel.load("model"))
        source = self._proxy.get_source("eeg_1")
        subject, trials = None, 0
        while True:
            packet = await source.get_data()
            if packet.data is None:
                return
            codes = set(packet.data[-1].astype(int).tolist())
            if packet.subject_id != subject or BLOCK_START in codes:
                # The first block's 242 may come after the person's first packet: that is still one block.
                if packet.subject_id != subject or trials:
                    player.start_block(int(packet.subject_id))
                subject, trials = packet.subject_id, 0
            answer = player.push(packet.data)
            if answer is not None:
                await self._proxy.report(AlgorithmResultObject(result=str(answer)))
            if codes.intersection(ONSETS):
                player.start_trial()
                trials += 1
            if packet.finish_flag:
                return
