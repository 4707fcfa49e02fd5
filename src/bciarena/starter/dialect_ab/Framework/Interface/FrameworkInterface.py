"""What joins a task, its data and an algorithm."""


class FrameworkInterface:
    def add_task(self, task):
        raise NotImplementedError

    def add_data(self, data):
        raise NotImplementedError

    def add_algorithm(self, algorithm):
        raise NotImplementedError

    def run(self):
        raise NotImplementedError

    def get_score(self):
        raise NotImplementedError

    def clear_task(self):
        raise NotImplementedError

    def clear_data(self):
        raise NotImplementedError

    def clear_algorithm(self):
        raise NotImplementedError

    def clear_report(self):
        raise NotImplementedError
