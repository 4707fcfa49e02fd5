"""A source of data as an algorithm sees it."""


class SourceReceiverReaderInterface:
    def get_source_label(self):
        raise NotImplementedError

    async def get_data(self):
        """The next packet, an AlgorithmContinuousDataObject."""
        raise NotImplementedError

    async def get_device(self):
        """What is known of the amplifier, an AlgorithmDeviceObject."""
        raise NotImplementedError


SourceInterface = SourceReceiverReaderInterface
