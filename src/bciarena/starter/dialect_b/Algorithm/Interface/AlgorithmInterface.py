"""What your algorithm derives from."""


class AlgorithmInterface:
    PROBLEMNAME = "__CHALLENGE__"
    _problemInterface = None

    def setProblemInterface(self, problemInterface):
        """Called before run: it has getData() and report(reportModel)."""
        self._problemInterface = problemInterface

    def run(self):
        """Your algorithm. Leave it when a packet's finishedFlag is True."""
        raise NotImplementedError
