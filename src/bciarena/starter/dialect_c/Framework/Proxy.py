"""What an algorithm talks to while main.py plays it."""

from Algorithm.method.interface.ProxyInterface import ProxyInterface
from Algorithm.method.interface.SourceReceiverReaderInterface import SourceReceiverReaderInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmContinuousDataObject, AlgorithmDeviceObject


class Source(SourceReceiverReaderInterface):
    def __init__(self, challenge):
        self._challenge = challenge
        self._position = 0
        self._block = 0

    def get_source_label(self):
        return "eeg_1"

    async def get_data(self):
        packet = self._challenge.receive_message()
        if packet is None:
            return self._named(AlgorithmContinuousDataObject(None, self._position, "0", True))
        self._position = packet.total_start + packet.data.shape[1]
        self._block = packet.block
        person = str(packet.subject)
        return self._named(AlgorithmContinuousDataObject(packet.data, packet.total_start, person, False))

    def _named(self, packet):
        """Liveness packets carry a few more fields, none of which tells whose data they are."""
        info = self._challenge.info
        if not info["names_subject"]:
            packet.personID, packet.blockID = 0, self._block
            packet.srate, packet.ch_names, packet.nchan = info["rate"], list(info["channels"]), len(info["channels"])
            packet.dimensions = None if packet.data is None else packet.data.shape
        return packet

    async def get_device(self):
        channels = list(self._challenge.info["channels"])
        return AlgorithmDeviceObject("EEG", len(channels), float(self._challenge.info["rate"]), channels, {})


class Proxy(ProxyInterface):
    def __init__(self, challenge):
        self._challenge = challenge
        self._source = Source(challenge)

    def get_source(self, source_label="eeg_1"):
        return self._source

    def get_challenge_config(self):
        return dict(self._challenge.info)

    async def report(self, algorithm_result_object):
        self._challenge.report(algorithm_result_object)
