"""Plays an entry of dialect C: a proxy with one source, read with await."""

import asyncio
import sys

from .faces import asynchronous
from .names import shared_class

SOURCE = "eeg_1"


class Source(asynchronous.SourceReceiverReaderInterface):
    """The only source there is."""

    def __init__(self, client):
        self._client = client
        self._closed = False
        self._model, self._modules = asynchronous.AlgorithmContinuousDataObject, 0
        self._block, self._position = 0, 0

    def get_source_label(self):
        return SOURCE

    async def get_data(self):
        if self._closed:
            raise EOFError("the data had ended: the finish flag was True on the object before")
        packet = self._client.next()
        info = self._client.info
        fields: "dict[str, object]" = {"data": None, "start_position": self._position, "subject_id": "0"}
        if packet is None:
            self._closed = True
        else:
            self._block, self._position = packet.block, packet.total_start + packet.data.shape[1]
            fields = {"data": packet.data, "start_position": packet.total_start, "subject_id": str(packet.subject)}
        for name in ("finish_flag", "finishedFlag", "finished_flag", "end_flag", "Endflag"):
            fields[name] = self._closed
        if not info["names_subject"]:  # liveness: the entry must not learn whose data it is
            fields["personID"] = 0
            fields["blockID"] = self._block
            fields["srate"] = info["rate"]
            fields["ch_names"] = list(info["channels"])
            fields["nchan"] = len(info["channels"])
            fields["dimensions"] = None if packet is None else packet.data.shape
        if len(sys.modules) != self._modules:  # an entry may import its classes as late as it likes
            self._model, self._modules = _data_class(), len(sys.modules)
        data_object = self._model.__new__(self._model)
        data_object.__dict__.update(fields)
        return data_object

    async def get_device(self):
        info = self._client.info
        model = shared_class("AlgorithmDeviceObject", "AlgorithmObject", asynchronous.AlgorithmDeviceObject)
        device = model.__new__(model)
        other = {"challenge": info["challenge"], "chunk_size": info["packet_n"]}
        device.__dict__.update(
            data_type="EEG",
            channel_number=len(info["channels"]),
            sample_rate=float(info["rate"]),
            channel_label=list(info["channels"]),
            other_config_map=other,
            other_information=other,
        )
        return device


def _data_class():
    """The class of a packet: the continuous one, or the plain one where the entry's own copy has no other."""
    ours = asynchronous.AlgorithmContinuousDataObject
    plain = shared_class("AlgorithmDataObject", "AlgorithmObject", ours)
    return shared_class(ours.__name__, "AlgorithmObject", plain)


class Proxy(asynchronous.ProxyInterface):
    """``_proxy`` of an algorithm."""

    def __init__(self, client):
        self._client = client
        self._source = Source(client)

    def get_source(self, source_label=SOURCE):
        if source_label not in (None, SOURCE):
            raise KeyError("there is no source %r; the only one is %r" % (source_label, SOURCE))
        return self._source

    def get_challenge_config(self):
        info = self._client.info
        return {
            "challenge": info["challenge"],
            "sample_rate": float(info["rate"]),
            "channel_label": list(info["channels"]),
            "chunk_size": info["packet_n"],
            "answers": list(info["answers"]),
        }

    async def report(self, algorithm_result_object=None):
        given = algorithm_result_object
        self._client.report(given.result if hasattr(given, "result") else given)


def play_async(entry, client):
    """Run an entry of dialect C to its end."""
    proxy = Proxy(client)
    if callable(getattr(entry, "set_proxy", None)):
        entry.set_proxy(proxy)
    entry._proxy = proxy
    asyncio.run(_run(entry))


async def _run(entry):
    result = entry.run()
    if asyncio.iscoroutine(result):
        await result
