"""What report() takes."""


class ReportModel:
    def __init__(self, resultType=None):
        self.resultType = resultType  # your answer
