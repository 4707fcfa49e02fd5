"""BCI Turing test: which of seven tasks did the subject perform while robots play soccer?"""
