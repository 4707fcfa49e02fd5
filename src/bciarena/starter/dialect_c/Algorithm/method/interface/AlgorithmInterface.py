"""What your algorithm derives from."""


class AlgorithmInterface:
    _proxy = None
    _end_flag = False

    def set_proxy(self, proxy):
        """Called before run (see ProxyInterface)."""
        self._proxy = proxy

    async def run(self):
        """Your algorithm. Leave it when a packet's finish_flag is True."""
        raise NotImplementedError
