"""The other name of SourceReceiverReaderInterface."""

from Algorithm.method.interface.SourceReceiverReaderInterface import SourceInterface  # noqa: F401
