"""Dialect C (asyncio: liveness, rehab)."""


class AlgorithmDataObject:
    """One packet, as a source's get_data() returns it."""

    def __init__(self, data=None, start_position=None, subject_id=None, finish_flag=False):
        self.data = data  # (channels + 1, samples) float64, the last row is the trigger; None with the finish flag
        self.start_position = start_position  # int: first sample, counted over all blocks and subjects
        self.subject_id = subject_id  # str
        # bool: True in an object without data that follows the last packet; the texts call it by all these names
        self.finish_flag = self.finishedFlag = self.finished_flag = self.end_flag = self.Endflag = finish_flag


class AlgorithmContinuousDataObject(AlgorithmDataObject):
    """A packet of a continuous recording."""


class AlgorithmResultObject:
    """One answer, as report() takes it."""

    def __init__(self, result=None):
        self.result = result  # str


class AlgorithmDeviceObject:
    """What is known of the amplifier, as a source's get_device() returns it."""

    def __init__(
        self, data_type=None, channel_number=None, sample_rate=None, channel_label=None, other_config_map=None
    ):
        self.data_type = data_type  # str
        self.channel_number = channel_number  # int: without the trigger row
        self.sample_rate = sample_rate  # float
        self.channel_label = channel_label  # list of str
        self.other_config_map = self.other_information = other_config_map  # dict


class SourceReceiverReaderInterface:
    """A source of data as an algorithm sees it."""

    def get_source_label(self):
        """Its name, a str."""
        raise NotImplementedError

    async def get_data(self):
        """The next packet, an AlgorithmContinuousDataObject."""
        raise NotImplementedError

    async def get_device(self):
        """What is known of the amplifier, an AlgorithmDeviceObject."""
        raise NotImplementedError


SourceInterface = SourceReceiverReaderInterface


class ProxyInterface:
    """The framework as an algorithm sees it."""

    def get_source(self, source_label=None):
        """The source of that name; without one the only source there is."""
        raise NotImplementedError

    def get_challenge_config(self):
        """What the challenge tells beforehand, a dict."""
        raise NotImplementedError

    async def report(self, algorithm_result_object):
        """Take an answer, an AlgorithmResultObject."""
        raise NotImplementedError


class BaseModel:
    """What the framework and the challenge send each other; every model is one."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


class DataModel(BaseModel):
    """A packet between framework and challenge: data, personID, blockID, srate, ch_names, nchan, dimensions."""


class ReportModel(BaseModel):
    """A report between framework and challenge: ``result``."""


class ResultModel(BaseModel):
    """What the challenge says to a report: ``accepted``."""


class ChallengeInterface:
    """The challenge as the framework sees it: it cleans the data and counts the score."""

    def receive_message(self, receive_model):
        """Take a BaseModel with a packet that the framework sends; gives a DataModel ready for the algorithm."""
        raise NotImplementedError

    def clean_data(self, data):
        """A packet without its truth: what may go to the algorithm."""
        raise NotImplementedError

    def report(self, reportModel):
        """Take a ReportModel; gives a ResultModel."""
        raise NotImplementedError

    def get_score(self):
        raise NotImplementedError


class AlgorithmInterface:
    """What an algorithm derives from: it is given its proxy, then run."""

    _proxy = None
    _end_flag = False

    def set_proxy(self, proxy):
        """Called before run (see ProxyInterface)."""
        self._proxy = proxy

    async def run(self):
        """The algorithm. Leave it when a packet's finish_flag is True."""
        raise NotImplementedError("run() is the algorithm's own")
