"""What report() takes."""


class ReportModel:
    def __init__(self, result=None):
        self.result = result  # your answer
