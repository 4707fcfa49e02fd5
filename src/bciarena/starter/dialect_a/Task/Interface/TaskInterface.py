"""The task as an algorithm sees it."""


class TaskInterface:
    def get_data(self):
        """The next packet, a DataModel."""
        raise NotImplementedError

    def report(self, report_model):
        """Take an answer, a ReportModel."""
        raise NotImplementedError
