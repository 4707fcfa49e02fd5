"""What getData() returns."""


class DataModel:
    def __init__(self, data=None, startPosition=None, personID=None, finishedFlag=False):
        self.data = data  # (channels + 1, samples) float64, microvolts; the last row is the trigger
        self.startPosition = startPosition  # first sample of this packet, counted from the start of its block
        self.personID = personID  # number of the subject, from 1
        self.finishedFlag = finishedFlag  # True with the very last packet
