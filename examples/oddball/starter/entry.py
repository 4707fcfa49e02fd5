"""Your starting point: it always answers light 1, after two seconds. Make it look at the flashes (codes 1 to 6)."""


class Entry:
    def start(self, info):
        self.left = None

    def step(self, packet):
        if 200 in packet.data[-1]:  # a trial begins
            self.left = 20
        elif self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.left = None
                return 1
        return None
