"""The channel tables of the contests, in row order and spelling of the texts."""

CAP64 = tuple(
    """Fpz Fp1 Fp2 AF3 AF4 AF7 AF8 FZ F1 F2 F3 F4 F5 F6 F7 F8
    FCz FC1 FC2 FC3 FC4 FC5 FC6 FT7 FT8 Cz C1 C2 C3 C4 C5 C6
    T7 T8 CP1 CP2 CP3 CP4 CP5 CP6 TP7 TP8 Pz P3 P4 P5 P6 P7
    P8 POz PO3 PO4 PO5 PO6 PO7 PO8 Oz O1 O2 ECG HEOR HEOL VEOU VEOL""".split()
)
"""64 rows, 0-58 scalp, then ECG, HEOR, HEOL, VEOU, VEOL: the cap most of the contests used."""

FIVE = ("Fz", "Cz", "Oz", "C3", "C4")
"""Five electrodes, for recordings of resting EEG."""

CAP77 = tuple(
    """Fp1 Fpz Fp2 AF7 AF3 AFz AF4 AF8 F5 F3 F1 F2 F4 F6 F7 F8 F9 F10
    FC5 FC3 FC1 Fz FCz FC2 FC4 FC6 C5 C3 C1 Cz C2 C4 C6 FT7 FT8 FT9 FT10 T7 T8 T9 T10
    TP7 TP8 TP9 TP10 CP5 CP3 CP1 CPz CP2 CP4 CP6 P7 P5 P3 P1 P2 P4 P6 P8 P9 P10
    PO5 PO3 Pz POz PO4 PO6 PO9 PO7 PO8 PO10 O1 Oz O2 A1 A2""".split()
)
"""77 rows, region by region as the contest's table prints them."""

NOT_SCALP = frozenset({"ECG", "HEOR", "HEOL", "VEOU", "VEOL"})
"""Rows of CAP64 that are not EEG: heart and eyes."""
