"""Tangent space, alignment and augmented covariances, against pyriemann and brute force."""

import numpy as np
import pytest
from pyriemann.geometry.geodesic import geodesic_riemann
from pyriemann.geometry.tangentspace import tangent_space
from pyriemann.preprocessing import Whitening
from scipy.linalg import expm

from bciarena.decoders.riemann import (
    TangentSpace,
    align,
    augmented,
    covariances,
    geodesic,
    half_vector,
    log_matrix,
    mean_covariance,
    whitening,
)
from bciarena.errors import BadInput


@pytest.fixture
def covs():
    x = np.random.default_rng(0).standard_normal((12, 6, 80)) * np.arange(1, 7)[:, None]
    return covariances(x)


def test_scipy_undoes_the_log(covs):
    np.testing.assert_allclose(expm(log_matrix(covs)[3]), covs[3], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", ["riemann", "logeuclid", "euclid"])
def test_tangent_vectors_match_pyriemann(covs, metric):
    mine = TangentSpace(metric=metric, shrink=0.0).fit(covs)
    reference = mean_covariance(covs, metric)
    np.testing.assert_allclose(mine.reference_, reference)
    theirs = tangent_space(covs, reference, metric="riemann")  # root (log) root form
    ours = mine.transform(covs)
    # pyriemann's Riemannian map at the reference is the log of the whitened matrix
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), np.linalg.norm(theirs, axis=1), rtol=1e-6)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_half_vector_keeps_the_norm(covs):
    np.testing.assert_allclose(np.linalg.norm(half_vector(covs), axis=1), np.linalg.norm(covs, axis=(1, 2)))


def test_geodesic_matches_pyriemann(covs):
    np.testing.assert_allclose(geodesic(covs[0], covs[1], 0.3), geodesic_riemann(covs[0], covs[1], 0.3), rtol=1e-8)


def test_whitening_matches_pyriemann_up_to_rotation(covs):
    mean = covs.mean(axis=0)
    ours = whitening(mean, ridge=0.0)
    theirs = Whitening(metric="euclid").fit(covs).transform(covs).mean(axis=0)
    np.testing.assert_allclose(ours @ mean @ ours, theirs, atol=1e-8)


def test_recentring_follows_a_changed_cap(covs):
    space = TangentSpace(shrink=0.0, inertia=5.0).fit(covs)
    rng = np.random.default_rng(1)
    change = np.diag(rng.uniform(0.5, 2.0, 6))
    moved = change @ covs @ change
    before = np.linalg.norm(space.transform(moved).mean(axis=0))
    for _ in range(20):
        for cov in moved:
            space.recentre(cov)
    after = np.linalg.norm(space.transform(moved).mean(axis=0))
    assert after < 0.15 * before
    space.recentre(np.full((6, 6), np.nan))  # a broken packet changes nothing
    assert np.isfinite(space.transform(moved)).all()


def test_rank_deficient_and_flat_channels():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((10, 8, 100))
    x[:, 5] = (x[:, 0] + x[:, 1]) / 2  # interpolated
    x[:, 7] = 0  # dead
    x -= x.mean(axis=1, keepdims=True)
    x[:, 7] = 0
    covs = covariances(x)
    with pytest.raises(BadInput, match="shrink"):
        TangentSpace(shrink=0.0).fit(covs)
    assert np.isfinite(TangentSpace(shrink=0.05).fit(covs).transform(covs)).all()
    flat = align(x)
    assert np.isfinite(flat).all()
    assert not flat[:, 7].any()
    with pytest.raises(BadInput, match="flat"):
        whitening(np.zeros((3, 3)))


def test_euclidean_alignment_gives_the_identity():
    x = np.random.default_rng(3).standard_normal((30, 4, 200)) * np.array([1, 5, 2, 9])[:, None]
    np.testing.assert_allclose(covariances(align(x, ridge=0.0)).mean(axis=0), np.eye(4), atol=1e-9)


def test_augmented_by_brute_force():
    x = np.random.default_rng(4).standard_normal((2, 3, 50))
    wide = augmented(x, order=3, lag_n=2)
    assert wide.shape == (2, 9, 46)
    for copy in range(3):
        for t in range(46):
            np.testing.assert_array_equal(wide[:, 3 * copy : 3 * copy + 3, t], x[:, :, t + 4 - 2 * copy])
    with pytest.raises(BadInput, match="too short"):
        augmented(x, order=30, lag_n=2)


@pytest.mark.parametrize("bad", [np.ones((3, 4)), np.full((2, 3, 3), np.nan), np.empty((0, 3, 3))])
def test_bad_covariances_are_refused_in_fit(bad):
    with pytest.raises(BadInput):
        TangentSpace().fit(bad)
