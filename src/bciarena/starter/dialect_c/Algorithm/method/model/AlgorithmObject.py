"""What travels between an algorithm and the framework."""


class AlgorithmDataObject:
    def __init__(self, data=None, start_position=None, subject_id=None, finish_flag=False):
        self.data = data  # (channels + 1, samples) float64, microvolts; the last row is the trigger
        self.start_position = start_position  # grows across blocks and subjects
        self.subject_id = subject_id  # a string
        self.finish_flag = finish_flag  # True in an object without data that follows the last packet


class AlgorithmContinuousDataObject(AlgorithmDataObject):
    pass


class AlgorithmDeviceObject:
    def __init__(
        self, data_type=None, channel_number=None, sample_rate=None, channel_label=None, other_config_map=None
    ):
        self.data_type = data_type
        self.channel_number = channel_number  # without the trigger row
        self.sample_rate = sample_rate
        self.channel_label = channel_label
        self.other_config_map = self.other_information = other_config_map


class AlgorithmResultObject:
    def __init__(self, result=None):
        self.result = result  # your answer, a string
