"""Learning curves: smaller training folders, strangers, page and figure."""

import xml.etree.ElementTree as ElementTree

import numpy as np

from bciarena.bench import curves
from bciarena.bench.curve_page import draw, page
from bciarena.bench.decoders import Track
from bciarena.bench.peers import STRANGER, bench_of
from bciarena.contests import rulebook
from bciarena.contests.liveness.bench import smaller
from bciarena.contests.spans import trial_spans
from bciarena.inprocess import play
from bciarena.recording import Recording, open_recording, open_sets
from bciarena.simulator.make import Order, make


def test_smaller_folders_hold_whole_trials_of_every_class_and_strangers_are_not_in_them(tmp_path):
    for split in ("train", "test"):
        make(Order("imagery", split, 2, 1, seed=4), tmp_path / split)
    track = Track("imagery, simulated", "imagery", tmp_path / "train", tmp_path / "test")
    book, plays = rulebook("imagery"), {}
    for lesson in curves._lessons(track, tmp_path / "place"):
        trials = [len(trial_spans(book, block)) for _, _, block in open_recording(lesson.train)]
        codes = [{span.code for span in trial_spans(book, block)} for _, _, block in open_recording(lesson.train)]
        assert all(len(found) == 3 for found in codes)
        for one in lesson.plays:
            plays.setdefault(one.kind, []).append((one.size, len(trials)))
            if one.kind == curves.OWN:
                assert one.size == np.mean(trials)
            if one.kind == curves.STRANGERS:
                assert one.first > len(trials)
                folder = next(path.name for path in lesson.train.iterdir())
                assert folder != f"S{one.people[0] + 1:02d}"
    assert [size for size, _ in plays[curves.OWN]] == sorted({size for size, _ in plays[curves.OWN]})
    assert plays[curves.SHOWN] == [(2, 2), (1, 1), (1, 1)]
    assert plays[curves.STRANGERS] == [(1, 1), (1, 1)]

    peer = bench_of("imagery").peers["tangent space + LR (pyriemann)"]()
    peer.fit(open_sets(tmp_path / "train"))
    assert peer.of(7) == peer.models[STRANGER]
    test = open_recording(tmp_path / "test")
    stranger = play(peer, "imagery", Recording(test.subjects[:1], first=3))
    assert {trial["status"] for trial in stranger["trials"]} == {"in_time"}


def test_people_are_taken_out_of_mixed_blocks(tmp_path):
    for split in ("cali_train", "eval_train", "cali_A"):
        make(Order("liveness", split, 4, 2, seed=4), tmp_path / "train" / split)
    trials, people = smaller(tmp_path / "train", tmp_path / "few", 0.5, 0.5)
    assert people == 2
    sets = open_sets(tmp_path / "few")
    codes = {name: [e.code for _, _, b in sets[name] for e in b.events if e.code < 240] for name in sets}
    assert {code % 64 for code in codes["eval_train"]} == {1, 2}
    assert {code % 64 for code in codes["cali_A"]} == {1, 2, 3, 4}
    assert trials == len(codes["cali_A"]) / 4
    whole = open_sets(tmp_path / "train")["cali_A"]
    assert len(codes["cali_A"]) < sum(e.code < 240 for _, _, b in whole for e in b.events)


def test_trials_are_counted_while_an_entry_plays():
    rows = [{"subject": subject, "trial": n} for subject in (1, 2) for n in range(15)]
    found = curves._while(rows)
    assert {size: len(trials) for (_, size), trials in found.items()} == {10: 20, 20: 10}


def test_page_and_figure_of_made_up_points(tmp_path):
    sizes = {curves.OWN: (10.0, 40.0), curves.SHOWN: (1, 4), curves.STRANGERS: (1, 2)}
    rows = [
        {"track": "rehab, simulated", "name": name, "kind": kind, "size": size, "score": size, "low": 0.0, "high": 50.0,
         "unit": "points a trial", "count": 80, "stale": False}
        for name in ("@rehab", "peer") for kind, some in sizes.items() for size in some
    ]  # fmt: skip
    text = page(rows, "figures/curves.svg")
    assert "| @rehab | 10.0 [0, 50] | 40.0 [0, 50] |" in text
    draw(rows, tmp_path / "curves.svg")
    ElementTree.parse(tmp_path / "curves.svg")
