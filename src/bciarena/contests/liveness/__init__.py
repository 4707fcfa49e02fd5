"""Is this EEG real or generated, and whose is it?"""
