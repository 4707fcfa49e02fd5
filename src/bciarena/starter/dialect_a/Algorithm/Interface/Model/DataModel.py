"""What get_data() returns."""


class DataModel:
    def __init__(self, data=None, start_pos=None, subject_id=None, finish_flag=False):
        self.data = data  # (channels + 1, samples) float64, microvolts; the last row is the trigger
        self.start_pos = start_pos  # first sample of this packet, counted from the start of its block
        self.subject_id = subject_id  # number of the subject, from 1
        self.finish_flag = finish_flag  # True with the very last packet
