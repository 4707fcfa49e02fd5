"""The task as the framework sees it."""


class TaskInterface:
    def add_data(self, data):
        raise NotImplementedError

    def get_score(self):
        raise NotImplementedError

    def clear_data(self):
        raise NotImplementedError

    def clear_report(self):
        raise NotImplementedError
