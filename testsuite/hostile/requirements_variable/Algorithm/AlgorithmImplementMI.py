class AlgorithmImplementMI:
    def run(self):
        pass
