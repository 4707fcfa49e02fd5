import numpy as np
import pytest

from bciarena.decoders.cca import band_weights
from bciarena.decoders.trca import TRCA, trca_filter
from bciarena.errors import BadInput
from tests.decoders.flicker import FREQS_HZ, epochs

KEYS = np.repeat(np.arange(4), 3)


def data(seed=0, bands=2):
    rng = np.random.default_rng(seed)
    return np.stack([epochs(rng, KEYS * 9, 200, channels=5, amplitude=2.5) for _ in range(bands)], axis=1)


def test_filter_equals_the_double_sum():
    trials = data()[:3, 0]
    centred = trials - trials.mean(axis=2, keepdims=True)
    between = sum(centred[i] @ centred[j].T for i in range(3) for j in range(3) if i != j)
    total = sum(c @ c.T for c in centred)
    values, vectors = np.linalg.eig(np.linalg.inv(total) @ between)
    expected = vectors[:, values.real.argmax()].real
    ours = trca_filter(trials)
    cosine = ours @ expected / np.linalg.norm(ours) / np.linalg.norm(expected)
    assert abs(cosine) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("ensemble", [True, False])
def test_scores_equal_two_dimensional_correlations(ensemble):
    train, test = data(0), data(1)
    decoder = TRCA(ensemble).fit(train, KEYS)
    ours = decoder.decision_function(test)
    for t in (0, 7):
        for k in range(4):
            total = 0
            for b, weight in enumerate(band_weights(2)):
                w = decoder.filters_[b] if ensemble else decoder.filters_[b, k : k + 1]
                r = np.corrcoef((w @ test[t, b]).ravel(), (w @ train[k == KEYS, b].mean(axis=0)).ravel())[0, 1]
                total += weight * np.sign(r) * r**2
            assert ours[t, k] == pytest.approx(total, abs=1e-9)


def test_agrees_with_meegkit():
    meegkit = pytest.importorskip("meegkit.trca", reason="meegkit is not installed")
    train, test = data(2, bands=1)[:, 0], data(3, bands=1)[:, 0]
    # Its filter bank filters anew; one band as wide as the signal leaves the data alone but for the edges.
    peer = meegkit.TRCA(250, [[(1.0, 110.0), (0.5, 120.0)]], ensemble=True)
    peer.fit(train.transpose(2, 1, 0), KEYS)
    theirs = peer.predict(test.transpose(2, 1, 0))
    ours = TRCA(True).fit(train[:, None], KEYS).predict(test[:, None])
    assert np.mean(np.asarray(theirs) == ours) >= 0.9


def test_learns_keys_with_their_own_labels():
    train, test = data(4), data(5)
    labels = np.array([11, 20, 29, 38])[KEYS]
    assert np.mean(TRCA().fit(train, labels).predict(test) == labels) == 1
    assert len(FREQS_HZ) == 40


def test_bad_input():
    x = data()
    with pytest.raises(BadInput, match="class 3 has 1"):
        TRCA().fit(x[:10], KEYS[:10])
    with pytest.raises(BadInput, match="12 labels"):
        TRCA().fit(x, KEYS[:5])
    x[:, :, 2] = 0
    assert np.isfinite(TRCA().fit(x, KEYS).decision_function(x)).all()
    x[0, 0, 0, 0] = np.nan
    with pytest.raises(BadInput, match="NaN"):
        TRCA().fit(x, KEYS)
