import json

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.contests.speller.fit import Trace, fit_pool, labels, left_out, main, replay, store, weakened
from bciarena.decoders.asynchronous import Settings
from bciarena.decoders.onset import OnsetPool
from bciarena.decoders.stopping import Itr, StoppingPolicy
from bciarena.errors import BadInput
from bciarena.recording import Block, Recording, Subject, write_contest

SETTINGS = Settings()
WINDOWS = np.array(SETTINGS.windows)


def trace(person, keys, height, seed=0):
    """A made-up block: a trial every 8 s, scores that rise while a window fills with flicker."""
    rng = np.random.default_rng(seed)
    starts = 120 + 200 * np.arange(len(keys))
    now = np.arange(102, starts[-1] + 200, 4)
    scores = rng.standard_normal((len(now), len(WINDOWS), 40))
    for start, key in zip(starts, keys, strict=True):
        if key >= 0:
            end = np.minimum(now, start + 104)[:, None]
            inside = np.clip(end - np.maximum(now[:, None] - WINDOWS, start + 4), 0, None)
            scores[:, :, key] += height * inside / 100 / np.sqrt(WINDOWS / 100)
    usual = np.full(len(now), 2.0 * height if height else np.nan)
    return Trace(person, now, scores, scores / 2, usual, np.full(len(now), 20), starts, np.array(keys), int(now[-1]))


def people():
    rng = np.random.default_rng(1)
    spell = [rng.permutation([*rng.choice(40, 10, replace=False), *[-1] * 5]) for _ in range(3)]
    made = [
        trace(f"s{i}", keys.tolist(), height, i) for i, (keys, height) in enumerate(zip(spell, (6, 9, 14), strict=True))
    ]
    return [*made, trace("rest", [-1] * 18, 0.0, 9)]


def test_labels_follow_the_flicker():
    made = trace("a", [5, -1], 8.0)
    truth = labels(made, SETTINGS)
    since = made.now - 120
    assert set(truth[(since >= 20) & (since <= 104)]) == {5}
    assert set(truth[(since > 0) & (since < 18)]) == {-1}
    assert set(truth[since > 260]) == {40}


def test_fitted_people_spell_and_those_at_rest_are_left_alone(tmp_path, capsys, monkeypatch):
    for name, few in (("STARTS", (0.95,)), ("ENDS", (0.6,)), ("COLD_ODDS", (-5.0, -6.0))):
        monkeypatch.setattr(f"bciarena.contests.speller.fit.{name}", few)
    traces = people()
    store(traces, [], tmp_path / "fit.json")
    stored = json.loads((tmp_path / "fit.json").read_text())
    assert stored["from"] == "rest, s0, s1, s2"
    pool, policy = OnsetPool.from_dict(stored["pool"]), StoppingPolicy.from_dict(stored["policy"])
    assert policy.idle == 40
    odds = pool.log_odds(traces[-1].scores, WINDOWS / 100, traces[-1].usual)
    answers, _ = replay(traces[-1], odds, policy, SETTINGS)
    assert (answers < 0).all()
    told = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    assert sorted(told) == ["s0", "s1", "s2"]
    assert min(float(line.split()[0]) for line in told.values()) > 20
    assert all("fitted without" in line for line in told.values())


def test_nobody_is_left_out_where_no_other_spells_or_rests():
    alone = [
        trace("a/S01", [5, -1, 17], 14.0),
        trace("a+noise/1", [7, -1, 20], 9.0, 1),
        trace("rest", [-1] * 9, 0.0, 9),
    ]
    assert left_out(alone, SETTINGS) == {}
    assert left_out([*alone[:2], trace("b/S01", [3, -1, 30], 12.0, 2)], SETTINGS) == {}


def test_replay_counts_as_the_rules_do():
    made = trace("a", [5, -1, 17], 14.0)
    policy = StoppingPolicy(1.0, 4.0, 0.9, 0.5, False, None, 40)
    odds = OnsetPool().log_odds(made.scores, WINDOWS / 100, made.usual)
    answers, length_s = replay(made, odds, policy, SETTINGS)
    assert answers.tolist() == [5, -1, 17]
    assert ((length_s[[0, 2]] > 0.5) & (length_s[[0, 2]] < 3)).all()
    assert length_s[1] == Itr(40, missing_s=5.0).missing_s


def noisy(seed, samples, amplitude):
    eeg = amplitude * np.random.default_rng(seed).standard_normal((64, samples))
    return Block(eeg, np.zeros(samples), 250, tuple(f"c{i}" for i in range(64)))


def test_weaker_people_have_the_background_asked_for():
    one = Recording((Subject("S01", tuple(noisy(b, 2000, 3.0) for b in range(3))),), None)
    others = Recording(tuple(Subject(f"S{i}", (noisy(9 + i, 1200, 40.0),)) for i in range(6)), None)
    people = weakened(one, [others])
    assert len(people) == 6
    for (_, (block,)), gain in zip(people, (1, 1, 1.5, 1.5, 2.2, 2.2), strict=True):
        assert np.std(block.eeg[49]) == pytest.approx(3 * np.hypot(1, gain), rel=0.1)
        assert np.std(block.eeg[0]) == pytest.approx(3, rel=0.1)
    short = Recording(tuple(Subject(f"S{i}", (noisy(i, 500, 1.0),)) for i in range(6)), None)
    with pytest.raises(BadInput, match="less than half"):
        weakened(one, [short])


def test_bad_input(tmp_path):
    with pytest.raises(BadInput, match="usage"):
        main(["out.json"])
    with pytest.raises(BadInput, match="no such data folder"):
        main([str(tmp_path / "out.json"), str(tmp_path / "none")])
    with pytest.raises(BadInput, match="both needed"):
        fit_pool([trace("rest", [-1, -1], 0.0)], SETTINGS)
    book = rulebook("speller")
    flat = np.zeros((65, 3000), np.float32)
    flat[-1, [0, 500, 1750, 2999]] = 242, 120, 241, 243
    write_contest(tmp_path / "flat" / "S01" / "block_1.npz", flat, book.rate, book.channels)
    with pytest.raises(BadInput, match="no occipital channel"):
        main([str(tmp_path / "out.json"), str(tmp_path / "flat")])
