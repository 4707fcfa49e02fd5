"""Two views of a window of EEG (channels, n) at 250 Hz: its spectrum, which shows who it is, and its fluctuations."""

import numpy as np
from scipy.signal import butter, hilbert, sosfiltfilt, welch

BANDS = [butter(3, edges, "bandpass", fs=250, output="sos") for edges in ((1, 4), (4, 8), (8, 13), (13, 30), (30, 42))]
WINDOW_N = 750  # 3 s: a shorter answer counts as 3 s all the same


def spectra(window):
    """Log power in steps of 1 Hz up to 40 Hz, all channels in one row."""
    return np.log(welch(window, 250, nperseg=250)[1][:, 1:41] + 1e-3).ravel()


def swell(window):
    """How much each band's envelope varies: .52 for steady noise, more for rhythms that come in bursts."""
    envelopes = [np.abs(hilbert(sosfiltfilt(band, window))) for band in BANDS]
    variation = [e.std(axis=-1) / (e.mean(axis=-1) + 1e-3) for e in envelopes]
    together = [np.corrcoef([e[k] for e in envelopes])[np.triu_indices(5, 1)].mean() for k in range(len(window))]
    return np.nan_to_num(np.concatenate([*variation, together]))
