import numpy as np
import pytest
from sklearn.cross_decomposition import CCA as SklearnCCA

from bciarena.decoders.cca import (
    CCA,
    FBCCA,
    ExtendedCCA,
    band_weights,
    canonical_correlations,
    reference_bases,
    references,
)
from bciarena.decoders.ste import STE
from bciarena.errors import BadInput
from tests.decoders.flicker import FREQS_HZ, RATE, background, epochs


def test_first_correlation_equals_sklearn():
    rng = np.random.default_rng(0)
    x = epochs(rng, [3, 20], 250, channels=6)
    refs = references(FREQS_HZ[:5], RATE, 250, 3)
    ours = canonical_correlations(x, reference_bases(refs))
    quick = CCA(FREQS_HZ[:5], RATE, 3).fit(x).decision_function(x)
    for i in range(2):
        for k in range(5):
            u, v = SklearnCCA(n_components=1, max_iter=5000, tol=1e-12).fit_transform(x[i].T, refs[k].T)
            expected = np.corrcoef(u[:, 0], v[:, 0])[0, 1]
            assert ours[i, k, 0] == pytest.approx(expected, abs=1e-6)
            assert quick[i, k] == pytest.approx(expected, abs=2e-3)


def test_all_correlations_equal_the_eigenvalue_formula():
    rng = np.random.default_rng(1)
    x = background(rng, 5, 200)
    y = references([11.4], RATE, 200, 4)[0]
    x0, y0 = x - x.mean(1, keepdims=True), y - y.mean(1, keepdims=True)
    product = np.linalg.inv(x0 @ x0.T) @ (x0 @ y0.T) @ np.linalg.inv(y0 @ y0.T) @ (y0 @ x0.T)
    expected = np.sqrt(np.sort(np.linalg.eigvals(product).real)[::-1])
    np.testing.assert_allclose(canonical_correlations(x, reference_bases([y]))[0], expected, atol=1e-8)


def test_fbcca_is_the_weighted_sum_of_its_bands():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((3, 4, 5, 200))
    ours = FBCCA(FREQS_HZ, RATE).fit(x).decision_function(x)
    parts = [CCA(FREQS_HZ, RATE).fit(x[:, b]).decision_function(x[:, b]) ** 2 for b in range(4)]
    np.testing.assert_allclose(ours, np.einsum("b,bnk->nk", band_weights(4), parts), atol=1e-12)


def test_finds_every_key_of_a_clear_response():
    x = epochs(np.random.default_rng(3), range(40), 500, amplitude=2.0)
    assert (CCA(FREQS_HZ, RATE).fit(x).predict(x) == np.arange(40)).all()


def test_a_mains_harmonic_is_left_out_but_the_key_stays():
    refs = references([10.0, 11.0], RATE, 250, 5, skip_hz=[(50.0, 1.3)])
    assert [len(r) for r in refs] == [8, 10]
    with pytest.raises(BadInput, match="no harmonic"):
        references([50.0], RATE, 250, 1, skip_hz=[(50.0, 1.0)])


@pytest.mark.parametrize("spoil", ["flat", "doubled", "average"])
def test_rank_deficient_channels_change_nothing_for_the_rest(spoil):
    rng = np.random.default_rng(4)
    x = epochs(rng, [5, 30], 250, channels=6)
    if spoil == "flat":
        more = np.concatenate([x, np.zeros((2, 1, 250))], axis=1)
    elif spoil == "doubled":
        more = np.concatenate([x, x[:, :1]], axis=1)
    else:
        more = np.concatenate([x, x.mean(axis=1, keepdims=True)], axis=1)
    decoder = CCA(FREQS_HZ, RATE).fit(x)
    np.testing.assert_allclose(decoder.decision_function(more), decoder.decision_function(x), atol=1e-6)


def test_extended_cca_equals_its_definition():
    rng = np.random.default_rng(5)
    keys = np.array([0, 1, 2, 0, 1, 2])
    train, test = epochs(rng, keys, 200, channels=4), epochs(rng, [1], 200, channels=4)
    decoder = ExtendedCCA(FREQS_HZ[:3], RATE, 2).fit(train, keys)
    for k in range(3):
        x, template = test[0], train[keys == k].mean(axis=0)
        y = references(FREQS_HZ[:3], RATE, 200, 2)[k]

        def filters(a, b):
            a0, b0 = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
            m = np.linalg.inv(a0 @ a0.T) @ (a0 @ b0.T) @ np.linalg.inv(b0 @ b0.T) @ (b0 @ a0.T)
            values, vectors = np.linalg.eig(m)
            return vectors[:, values.real.argmax()].real, np.sqrt(values.real.max())

        w_ref, r1 = filters(x, y)
        rest = [
            np.corrcoef(w @ x, w @ template)[0, 1] for w in (filters(x, template)[0], w_ref, filters(template, y)[0])
        ]
        expected = sum(np.sign(r) * r**2 for r in [r1, *rest])
        assert decoder.decision_function(test)[0, k] == pytest.approx(expected, abs=1e-8)


def test_bad_input_is_told_in_fit():
    rng = np.random.default_rng(6)
    x = rng.standard_normal((4, 3, 100))
    with pytest.raises(BadInput, match="2 frequencies, but y has 1 labels"):
        ExtendedCCA(FREQS_HZ[:2], RATE, 2).fit(x, [0, 0, 0, 0])
    with pytest.raises(BadInput, match="give y"):
        ExtendedCCA(FREQS_HZ[:2], RATE, 2).fit(x)
    with pytest.raises(BadInput, match="too few"):
        CCA(FREQS_HZ, RATE, 5).fit(x[..., :10])
    x[0, 0, 0] = np.nan
    with pytest.raises(BadInput, match="NaN"):
        CCA(FREQS_HZ, RATE, 2).fit(x).predict(x)
    with pytest.raises(BadInput, match="fitted for 100"):
        CCA(FREQS_HZ, RATE, 2).fit(x).predict(x[..., :50])


@pytest.mark.parametrize("names", [["kiwi", "plum", "quince"], [11, 25, 40], None])
def test_predictions_are_labels_of_the_kind_that_was_given(names):
    """One name for each frequency, in sorted order; positions without names."""
    x = epochs(np.random.default_rng(9), [0, 1, 2], 500, amplitude=2.0)
    train = np.concatenate([x, x])
    y = None if names is None else names * 2
    expected = [0, 1, 2] if names is None else names
    assert CCA(FREQS_HZ[:3], RATE).fit(train, y).predict(x).tolist() == expected
    assert FBCCA(FREQS_HZ[:3], RATE).fit(train[:, None], y).predict(x[:, None]).tolist() == expected
    assert ExtendedCCA(FREQS_HZ[:3], RATE).fit(train, y or [0, 1, 2] * 2).predict(x).tolist() == expected
    assert STE(FREQS_HZ[:3], RATE).fit(train, y).predict(x).tolist() == expected
    assert CCA(FREQS_HZ[:3], RATE).fit(train, y).score(x, expected) == 1.0
