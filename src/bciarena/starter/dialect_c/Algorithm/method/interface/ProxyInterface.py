"""The framework as an algorithm sees it."""


class ProxyInterface:
    def get_source(self, source_label="eeg_1"):
        """The source of that name (see SourceInterface)."""
        raise NotImplementedError

    def get_challenge_config(self):
        """What the challenge tells beforehand, a dict."""
        raise NotImplementedError

    async def report(self, algorithm_result_object):
        """Take an answer, an AlgorithmResultObject."""
        raise NotImplementedError
