"""The problem as an algorithm sees it."""


class ProblemInterface:
    def getData(self):
        """The next packet, a DataModel."""
        raise NotImplementedError

    def report(self, reportModel):
        """Take an answer, a ReportModel."""
        raise NotImplementedError
