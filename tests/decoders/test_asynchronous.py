import numpy as np

from bciarena.decoders.asynchronous import AsynchronousSpeller
from tests.decoders.flicker import FREQS_HZ, RATE, background, response


def stream(speller, x):
    answers = []
    for at in range(0, x.shape[1] - 9, 10):
        key = speller.push(x[:, at : at + 10])
        if key is not None:
            answers.append((at + 10, key))
    return answers


def trials(rng, keys, amplitude=0.8, gap_n=1750):
    x = background(rng, 6, 750 + gap_n * len(keys))
    for i, k in enumerate(keys):
        if k is not None:
            x[:, 750 + gap_n * i : 1750 + gap_n * i] += response(FREQS_HZ[k], 0.5 * np.pi * k, 1000, 6, amplitude)
    return x


def test_one_answer_per_flicker_and_none_without():
    rng = np.random.default_rng(0)
    keys = [3, None, 17, 30, None, 9, 22, 38]
    answers = stream(AsynchronousSpeller(FREQS_HZ, RATE, 10, 6), trials(rng, keys, 1.5))
    got = {(at - 750) // 1750: key for at, key in answers}
    assert len(answers) == len(got)
    assert got == {i: k for i, k in enumerate(keys) if k is not None}


def test_the_template_makes_it_quicker():
    rng = np.random.default_rng(1)
    keys = [3, 17, 30, 9, 22, 38, 12, 26, 5, 34]
    speller = AsynchronousSpeller(FREQS_HZ, RATE, 10, 6)
    assert np.isnan(speller.usual())
    answers = stream(speller, trials(rng, keys, 0.6))
    assert speller.template.trials >= 6
    assert speller.usual() > speller.settings.learn_cold
    used = [(at - 750) % 1750 for at, key in answers if key == keys[(at - 750) // 1750]]
    assert len(used) >= 9
    assert np.mean(used[-4:]) < np.mean(used[:4])


def test_missing_samples_and_a_dying_channel_are_survived():
    rng = np.random.default_rng(2)
    x = trials(rng, [3, 17, 30])
    x[2, 1000:1500] = np.nan
    x[:, 2600:2605] = np.inf
    x[4, 3000:] = 0
    speller = AsynchronousSpeller(FREQS_HZ, RATE, 10, 6)
    answers = stream(speller, x)
    assert all(np.isfinite(speller.background._key.mean).ravel())
    assert (30 in [key for _, key in answers]) or (17 in [key for _, key in answers])


def test_a_new_person_is_met_without_memory():
    rng = np.random.default_rng(3)
    x = trials(rng, [3, 17, 30])
    speller = AsynchronousSpeller(FREQS_HZ, RATE, 10, 6)
    first = stream(speller, x)
    speller.new_person()
    assert stream(speller, x) == first


def test_what_came_before_the_beginning_was_no_trial():
    rng = np.random.default_rng(4)
    speller = AsynchronousSpeller(FREQS_HZ, RATE, 10, 6)
    stream(speller, trials(rng, [3, 17, 30], 1.5))
    assert speller.template.trials >= 2
    speller.begin()
    assert speller.template.trials == 0
    stream(speller, trials(rng, [9], 1.5))
    known = speller.template.trials
    speller.new_block()
    speller.begin()
    assert speller.template.trials == known
