"""What your algorithm derives from."""


class AlgorithmInterface:
    task = None

    def set_task(self, task):
        """Called before run: ``task`` has get_data() and report(report_model)."""
        self.task = task

    def run(self):
        """Your algorithm. Leave it when a packet's finish_flag is True."""
        raise NotImplementedError
