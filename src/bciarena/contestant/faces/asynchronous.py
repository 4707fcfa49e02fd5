"""Dialect C (asyncio: liveness, rehab)."""


class AlgorithmDataObject:
    """One packet: ``data`` (channels + 1, n) float64, last row the trigger; None in the closing object."""

    def __init__(self, data=None, start_position=None, subject_id=None, finish_flag=False):
        self.data = data
        self.start_position = start_position
        self.subject_id = subject_id
        self.finish_flag = self.finishedFlag = self.finished_flag = self.end_flag = self.Endflag = finish_flag


class AlgorithmContinuousDataObject(AlgorithmDataObject):
    """A packet of a continuous recording."""


class AlgorithmResultObject:
    """One answer."""

    def __init__(self, result=None):
        self.result = result


class AlgorithmDeviceObject:
    """What is known of the amplifier; ``channel_number`` is without the trigger row."""

    def __init__(
        self, data_type=None, channel_number=None, sample_rate=None, channel_label=None, other_config_map=None
    ):
        self.data_type = data_type
        self.channel_number = channel_number
        self.sample_rate = sample_rate
        self.channel_label = channel_label
        self.other_config_map = self.other_information = other_config_map


class SourceReceiverReaderInterface:
    """A source of data."""

    def get_source_label(self):
        raise NotImplementedError

    async def get_data(self):
        raise NotImplementedError

    async def get_device(self):
        raise NotImplementedError


SourceInterface = SourceReceiverReaderInterface


class ProxyInterface:
    """What an algorithm talks to."""

    def get_source(self, source_label=None):
        raise NotImplementedError

    def get_challenge_config(self):
        raise NotImplementedError

    async def report(self, algorithm_result_object):
        raise NotImplementedError


class ChallengeInterface:
    """The organiser's side."""

    def receive_message(self, receive_model):
        raise NotImplementedError

    def report(self, reportModel):
        raise NotImplementedError

    def get_score(self):
        raise NotImplementedError


class AlgorithmInterface:
    """Base class of an algorithm: it is given its proxy, then run."""

    _proxy = None
    _end_flag = False

    def set_proxy(self, proxy):
        self._proxy = proxy

    async def run(self):
        raise NotImplementedError("run() is the algorithm's own")
