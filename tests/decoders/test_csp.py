"""CSP and filter-bank CSP, against MNE and on made-up sources."""

import mne
import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from bciarena.decoders.csp import CSP, FBCSP
from bciarena.errors import BadInput


def sources(classes=2, trials=40, channels=8, seed=0):
    """Epochs in which class k makes source k twice as loud, seen through a random mixture."""
    rng = np.random.default_rng(seed)
    labels = np.arange(trials) % classes
    x = rng.standard_normal((trials, channels, 250))
    x[np.arange(trials), labels] *= 2.0
    mixing = rng.standard_normal((channels, channels))
    return mixing @ x, labels


def test_two_class_filters_match_mne():
    x, y = sources()
    x -= x.mean(axis=2, keepdims=True)
    x /= np.sqrt(np.sum(x**2, axis=(1, 2), keepdims=True))  # ours weighs loud and soft trials alike
    ours = CSP(pairs=2, shrink=0.0).fit(x, y)
    theirs = mne.decoding.CSP(n_components=8, reg=None, cov_est="epoch", norm_trace=False).fit(x, y)
    for w in ours.filters_:
        # each of our filters is one of theirs, up to sign and scale
        match = max(abs(w @ v) / np.linalg.norm(w) / np.linalg.norm(v) for v in theirs.filters_)
        assert match == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_finds_the_sources(classes):
    x, y = sources(classes, trials=80)
    score = cross_val_score(make_pipeline(CSP(2), LinearDiscriminantAnalysis()), x, y, cv=4).mean()
    assert score > 0.9


def test_rank_deficient_and_flat_channels_change_nothing():
    x, y = sources(3, trials=60)
    plain = CSP(2, shrink=0.0).fit(x, y).transform(x)
    flat = np.concatenate([x, np.zeros_like(x[:, :2])], axis=1)
    np.testing.assert_allclose(CSP(2, shrink=0.0).fit(flat, y).transform(flat), plain, atol=1e-6)
    doubled = np.concatenate([x, (x[:, :1] + x[:, 1:2]) / 2], axis=1)  # the power of a trial is another now
    again = CSP(2, shrink=0.0).fit(doubled, y).transform(doubled)
    assert min(np.corrcoef(again[:, i], plain[:, i])[0, 1] for i in range(12)) > 0.9


def test_filter_bank_keeps_the_band_that_tells():
    rng = np.random.default_rng(1)
    x, y = sources(3, trials=60)
    noise = rng.standard_normal(x.shape)
    bank = FBCSP(keep=6).fit(np.stack([noise, x], axis=1), y)
    assert bank.transform(np.stack([noise, x], axis=1)).shape == (60, 6)
    assert np.mean(bank.kept_ >= 12) > 0.8  # features 12.. belong to the second band


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((4, 3, 50)), [0, 0, 0, 0], "two classes"),
        (np.ones((4, 3, 50)), [0, 0, 0, 1], "class 1 has 1"),
        (np.full((4, 3, 50), np.nan), [0, 0, 1, 1], "NaN"),
        (np.zeros((4, 3, 50)), [0, 0, 1, 1], "flat"),
        (np.ones((4, 50)), [0, 0, 1, 1], "axes"),
    ],
)
def test_bad_input_is_refused_in_fit(x, y, message):
    with pytest.raises(BadInput, match=message):
        CSP().fit(x, y)
