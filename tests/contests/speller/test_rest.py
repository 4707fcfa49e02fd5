import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.contests.speller.rest import main
from bciarena.decoders.asynchronous import Settings, population
from bciarena.errors import BadInput
from bciarena.recording import write_contest

BOOK = rulebook("speller")


def rest(folder, seconds=9, dead=()):
    rng = np.random.default_rng(1)
    data = np.zeros((65, 250 * seconds), np.float32)
    # White noise with alpha waves: the keys around 10 Hz must stand above the others.
    t = np.arange(data.shape[1]) / 250
    data[:-1] = rng.standard_normal((64, len(t))) + 0.5 * np.sin(2 * np.pi * 10 * t)
    data[list(dead)] = 0
    data[-1, [0, 500, 1750, -1]] = 242, 120, 241, 243
    write_contest(folder / "S01" / "block_1.npz", data, BOOK.rate, BOOK.channels)
    return folder


def test_the_background_of_a_made_up_person(tmp_path):
    out = tmp_path / "background.npz"
    main([str(out), str(rest(tmp_path / "data"))])
    made = dict(np.load(out))
    windows = Settings().windows
    assert made["windows"].tolist() == list(windows)
    assert [made[name].shape for name in ("mean", "key_variance")] == [(len(windows), 5), (len(windows), 5, 40)]
    # Chance correlation falls with the length of the window; alpha is at key 10, in the lowest band.
    assert (np.diff(made["mean"][:, 1]) < 0).all()
    assert abs(int(made["key_mean"][-1, 0].argmax()) - 10) <= 2
    stored = population(windows, 9)
    assert [part.shape for part in stored] == [made[n].shape for n in ("mean", "variance", "key_mean", "key_variance")]


def test_bad_input(tmp_path):
    with pytest.raises(BadInput, match="usage"):
        main(["out.npz"])
    with pytest.raises(BadInput, match="flat"):
        main([str(tmp_path / "out.npz"), str(rest(tmp_path / "dead", dead=[49]))])
