import numpy as np
import pytest

from bciarena.decoders.cca import band_weights
from bciarena.decoders.tdca import TDCA
from bciarena.errors import BadInput
from tests.decoders.flicker import FREQS_HZ, PHASES, RATE, epochs

PICK = [0, 9, 18, 27]
KEYS = np.repeat(np.arange(4), 4)


def data(seed, bands=2):
    rng = np.random.default_rng(seed)
    return np.stack([epochs(rng, np.array(PICK)[KEYS], 150, channels=4) for _ in range(bands)], axis=1)


def decoder():
    return TDCA(FREQS_HZ[PICK], RATE, PHASES[PICK], harmonics=3, delays_n=2, components=3)


def test_scores_equal_the_plain_construction():
    train, test = data(0), data(1)
    fitted = decoder().fit(train, KEYS)
    ours = fitted.decision_function(test)

    def stack(x):
        rows = [x]
        for d in (1, 2):
            rows.append(np.concatenate([x[:, d:], np.zeros((4, d))], axis=1))
        return np.concatenate(rows)

    def augment(x, k):
        q = fitted.bases_[k]
        return np.concatenate([stack(x), stack(x) @ q @ q.T], axis=1)

    for t in (0, 9):
        for k in range(4):
            total = 0
            for b, weight in enumerate(band_weights(2)):
                mean = np.mean([augment(x, k) for x in train[k == KEYS, b]], axis=0)
                w = fitted.filters_[b]
                r = np.corrcoef((w @ augment(test[t, b], k)).ravel(), (w @ mean).ravel())[0, 1]
                total += weight * np.sign(r) * r**2
            assert ours[t, k] == pytest.approx(total, abs=1e-8)


def test_filters_solve_the_discriminant():
    train = data(2, bands=1)
    fitted = decoder().fit(train, KEYS)
    augmented = np.stack([fitted._augment(fitted._stack(x)[0], k) for x, k in zip(train, KEYS, strict=True)])
    means = np.stack([augmented[k == KEYS].mean(axis=0) for k in range(4)])
    between = sum((m - means.mean(axis=0)) @ (m - means.mean(axis=0)).T for m in means) / 4
    within = sum((x - means[k]) @ (x - means[k]).T for x, k in zip(augmented, KEYS, strict=True)) / len(KEYS)
    values, vectors = np.linalg.eig(np.linalg.solve(within + 1e-6 * np.trace(within) / 12 * np.eye(12), between))
    top = vectors[:, values.real.argmax()].real
    ours = fitted.filters_[0, 0]
    assert abs(top @ ours) / np.linalg.norm(top) / np.linalg.norm(ours) == pytest.approx(1, abs=1e-5)


def test_learns():
    assert np.mean(decoder().fit(data(3), KEYS).predict(data(4)) == KEYS) == 1


def test_bad_input():
    x = data(5)
    with pytest.raises(BadInput, match="4 frequencies but trials of 3"):
        decoder().fit(x[:12], KEYS[:12])
    with pytest.raises(BadInput, match="one trial per target"):
        decoder().fit(x[::4], KEYS[::4])
    x[:, :, 1] = x[:, :, 0]
    assert np.isfinite(decoder().fit(x, KEYS).decision_function(x)).all()
    with pytest.raises(BadInput, match="fitted for 150"):
        decoder().fit(x, KEYS).predict(x[..., :100])
