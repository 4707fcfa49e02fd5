"""From raw recordings to a public copy and a truth: one plan, and nothing goes out that must not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.contests import CONTESTS, rulebook
from bciarena.contests.liveness.generators import DeepSettings, deep_available, recipes
from bciarena.contests.liveness.release import Recorded
from bciarena.recording import Recording, open_recording
from bciarena.recording.bids import write_bids
from bciarena.recording.events import Event
from bciarena.recording.folder import open_sets
from bciarena.release import release
from bciarena.release.making import Wanted
from bciarena.stream import Stream
from tests.making import make_data
from tests.noise import changed, noise_set, write
from tests.realdata import real_data

IMAGERY = rulebook("imagery")
BLOCK = {100: 240, 2100: 201, 6100: 241, 9100: 240, 11100: 203, 15100: 241, 18100: 240, 20100: 202, 24100: 241}
"""Three trials at 1000 Hz."""


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An amplifier's recording: two people, five blocks, 1000 Hz, the cap in another order, an electrode too many."""
    folder = tmp_path_factory.mktemp("raw")
    order = (*IMAGERY.channels[::-1], "FT11")
    rng = np.random.default_rng(0)
    for person in ("anna", "bert"):
        for run in range(1, 6):
            eeg = np.cumsum(rng.standard_normal((len(order), 27_000)), axis=1).astype(np.float32)
            events = tuple(Event(at, code) for at, code in BLOCK.items())
            write_bids(folder, person, "mi", run, eeg, events, 1000, order)
    return folder


@pytest.fixture(scope="module")
def released(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("released") / "imagery"
    assert main(["release", str(raw), "--challenge", "imagery", "--out", str(out), "--licence", "CC BY 4.0"]) == 0
    return out


def handed_out(book, recording) -> list[np.ndarray]:
    """Every block as a stream hands it out."""
    source, blocks = Stream(book, recording), {}
    while (packet := source.next()) is not None:
        blocks.setdefault((packet.subject, packet.block), []).append(packet.data)
    return [np.concatenate(packets, axis=1) for packets in blocks.values()]


def test_sets_rates_rows_and_names(released: Path) -> None:
    public, truth = open_sets(released / "public"), open_sets(released / "truth")
    assert {name: [len(s.blocks) for s in one.subjects] for name, one in public.items()} == {
        "test": [2, 2],
        "train": [3, 3],
    }
    assert list(truth) == ["test"]
    assert [s.name for s in public["train"].subjects] == ["S01", "S02"], "nobody's own name goes out"
    block = public["train"].subjects[0].blocks[0]
    assert (block.rate, block.channels, block.samples) == (250, IMAGERY.channels, 6750)
    assert [(e.sample, e.code) for e in block.events if e.code in IMAGERY.opens] == [
        (525, 201),
        (2775, 203),
        (5025, 202),
    ]
    said = "".join(path.read_text("utf-8") for path in (released / "public").glob("card*"))
    assert "anna" not in said


def test_resampling_keeps_the_signal(raw: Path, released: Path) -> None:
    before = open_recording(raw).subjects[0].blocks[0]
    after = open_sets(released / "public")["train"].subjects[0].blocks[0]
    slow = np.asarray(before.eeg[before.channels.index("Cz"), ::4], float)
    own = np.asarray(after.eeg[after.channels.index("Cz")], float)
    middle = slice(100, -100)
    assert np.corrcoef(slow[middle], own[middle])[0, 1] > 0.999


def test_the_truth_plays_and_the_public_copy_does_not(released: Path, tmp_path: Path, capsys) -> None:
    assert open_recording(released / "truth").digest == open_recording(released / "truth" / "test").digest
    asked = ["audit", "--challenge", "imagery"]
    assert main([*asked, str(released / "public" / "test")]) == 2
    assert "stands where the truth was taken out" in capsys.readouterr().err
    assert main([*asked, str(released)]) == 0


@pytest.mark.parametrize("name", CONTESTS)
def test_the_public_copy_is_what_the_stream_shows(name: str, tmp_path: Path) -> None:
    book = rulebook(name)
    recording = short(noise_set(name, subjects=1, blocks=1, seed=2))
    write(recording, tmp_path / "source")
    scored = next(k for k, v in _sets(name).items() if v == "scored")
    release(book, str(tmp_path / "source"), tmp_path / "out", Wanted(one_set=scored))
    truth = open_recording(tmp_path / "out" / "truth" / scored)
    assert truth.digest == recording.digest
    public = open_recording(tmp_path / "out" / "public" / scored)
    for (_, _, shown), packets in zip(public, handed_out(book, truth), strict=True):
        np.testing.assert_array_equal(shown.data, packets)


def short(recording: Recording) -> Recording:
    """Blocks up to the end of their third trial."""

    def cut(eeg, row, subject, block):
        n = int(np.flatnonzero(row == 241)[2]) + 7
        return eeg[:, :n], row[:n]

    return changed(recording, cut)


def _sets(name: str) -> Mapping[str, str]:
    from bciarena.release import release_of

    return release_of(rulebook(name)).sets


def test_the_card(released: Path) -> None:
    card = json.loads((released / "card.json").read_text("utf-8"))
    train, test = card["sets"]
    assert (train["people"], train["blocks"], train["trials"], train["per_class"]["201"]) == (2, 6, 18, 6)
    assert test["per_class"] == {}, "how often each answer comes up is truth"
    assert test["digest_truth"] == open_recording(released / "truth" / "test").digest
    public = json.loads((released / "public" / "card.json").read_text("utf-8"))
    assert public["sets"][1]["digest_truth"] == "", "with it a short truth could be guessed"
    assert public["sets"][1]["digest_public"] == open_recording(released / "public" / "test").digest
    english, chinese = ((released / f"card.{language}.md").read_text("utf-8") for language in ("en", "zh"))
    assert "resampled from 1000 to 250 Hz" in english
    assert "channels left out: FT11" in english
    assert "从 1000 Hz 重采样到 250 Hz" in chinese
    assert "未采用的导联：FT11" in chinese
    assert "CC BY 4.0" in english
    assert "CC BY 4.0" in chinese
    digits = [[line for line in text.splitlines() if line.startswith("- public/")] for text in (english, chinese)]
    assert digits[0] == digits[1]
    assert len(digits[0]) == 2


def test_bids_has_the_same_content(raw: Path, released: Path, tmp_path: Path) -> None:
    out = tmp_path / "bids"
    assert main(["release", str(raw), "--challenge", "imagery", "--out", str(out), "--bids"]) == 0
    for place in ("public/train", "public/test", "truth/test"):
        assert open_recording(out / place).digest == open_recording(released / place).digest
    assert "masked" in (out / "public/test/README").read_text("utf-8")
    text = "".join(path.read_text("utf-8") for path in (out / "public/test").rglob("*.[tv][sm]*"))
    assert "\t249\t" in text
    assert "\t201\t" not in text
    assert "S201" not in text


def test_other_numbers_of_blocks(raw: Path, tmp_path: Path, capsys) -> None:
    base = ["release", str(raw), "--challenge", "imagery"]
    assert main([*base, "--out", str(tmp_path / "a"), "--blocks", "train=1,test=4", "--hide", "train"]) == 0
    assert list(open_sets(tmp_path / "a" / "public")) == ["test"]
    assert sorted(open_sets(tmp_path / "a" / "truth")) == ["test", "train"]
    assert main([*base, "--out", str(tmp_path / "b"), "--set", "test"]) == 0
    assert len(open_recording(tmp_path / "b" / "truth").subjects[0].blocks) == 5
    capsys.readouterr()
    for more, words in [
        (["--blocks", "train=1,test=1"], "anna: has 5 blocks, not 2"),
        (["--blocks", "train"], "expected SET=NUMBER"),
        (["--set", "exam"], "has no such set; it has train, test"),
        (["--from", "x"], "nothing of imagery/1 is generated"),
    ]:
        assert main([*base, "--out", str(tmp_path / "c"), *more]) == 2
        assert words in capsys.readouterr().err
        assert not (tmp_path / "c").exists()


def test_what_does_not_fit_the_text_goes_out_masked_as_a_whole(tmp_path: Path, capsys) -> None:
    write(noise_set("imagery", "train", 1, 1), tmp_path / "source")
    assert main(["release", str(tmp_path / "source"), "--challenge", "imagery", "--out", str(tmp_path / "out")]) == 0
    assert "S01 has 1 blocks, not train 3 + test 2: all blocks are in the set test" in capsys.readouterr().out
    assert list(open_sets(tmp_path / "out" / "public")) == ["test"]


def test_sessions_become_the_sets_they_recorded(tmp_path: Path, capsys) -> None:
    """As arena session leaves them: a folder for each person, with their sets below data/."""
    recording = short(noise_set("imagery", subjects=2, blocks=1))
    for number, person in enumerate(recording.subjects, 1):
        for name in ("train", "test"):
            write(Recording((person,)), tmp_path / "sessions" / f"monday-{number}" / "data" / name)
    out = tmp_path / "out"
    assert main(["release", str(tmp_path / "sessions"), "--challenge", "imagery", "--out", str(out)]) == 0
    assert {name: len(one.subjects) for name, one in open_sets(out / "public").items()} == {"test": 2, "train": 2}
    assert open_recording(out / "truth" / "test").digest == recording.digest
    capsys.readouterr()
    assert main(["audit", str(out), "--challenge", "imagery"]) == 1, "the same samples are in both sets"
    assert "shared with train" in capsys.readouterr().out


def test_trials_not_to_be_used_stay_marked_and_show_no_hidden_onset(tmp_path: Path) -> None:
    speller = rulebook("speller")
    from bciarena.recording import write_contest

    path = tmp_path / "source" / "S01" / "block_1.npz"
    data = make_data(speller, 5000, {10: 242, 500: 7, 1750: 241, 2500: 101, 3750: 241, 4990: 243})
    write_contest(path, data, 250, speller.channels)
    path.with_name("block_1_events.tsv").write_text("onset\tsample\tvalid\treason\n2.0\t500\tfalse\tsamples lost\n")
    release(speller, str(tmp_path / "source"), tmp_path / "out")
    assert open_recording(tmp_path / "out/truth").subjects[0].blocks[0].invalid == {500: "samples lost"}
    assert not list((tmp_path / "out/public").rglob("*events*")), "its onset is hidden in the stream"


@pytest.mark.usefixtures("forgetful")
def test_a_contest_without_the_part_says_so(tmp_path: Path, capsys) -> None:
    assert main(["rulebook", "new", str(tmp_path / "mine")]) == 0
    (tmp_path / "mine" / "release.py").unlink()
    capsys.readouterr()
    code = main(["release", str(tmp_path), "--challenge", str(tmp_path / "mine"), "--out", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert code == 2
    assert "this contest has no release.py" in said
    assert len(said.strip().splitlines()) == 1


# ---------------------------------------------------------------------- resting recordings of real people


def resting(folder: Path, people: int, seconds: int = 60, rate: int = 500) -> Path:
    """Eyes open and closed, 19 electrodes, mains at 50 Hz."""
    names = "Fp1 Fp2 F3 F4 C3 C4 P3 P4 O1 O2 F7 F8 T7 T8 P7 P8 Fz Cz Pz Oz".split()
    time_s = np.arange(seconds * rate) / rate
    for person in range(1, people + 1):
        rng = np.random.default_rng(person)
        mix = rng.standard_normal((len(names), len(names))) / 5 + np.eye(len(names))
        for number, alpha in ((1, 4.0), (2, 12.0)):
            noise = np.cumsum(rng.standard_normal((len(names), len(time_s))), axis=1)
            noise -= np.linspace(noise[:, 0], noise[:, -1], noise.shape[1]).T
            waves = alpha * np.sin(2 * np.pi * (9 + person / 10) * time_s + rng.uniform(0, 6, (len(names), 1)))
            eeg = mix @ (noise / 4 + waves) + 20 * np.sin(2 * np.pi * 50 * time_s)
            write_bids(folder, f"{person:02d}", "rest", number, eeg, (), rate, tuple(names))
    return folder


@pytest.mark.skipif(not deep_available(), reason="the deep route needs PyTorch")
def test_generated_trials_of_recorded_people_by_three_routes(tmp_path: Path, monkeypatch) -> None:
    quick = DeepSettings(train_steps=3, width=8, steps=2)
    known = {name: (*settings[:2], quick) for name, settings in recipes._RECIPES.items()}
    monkeypatch.setattr(recipes, "_RECIPES", known)
    liveness = rulebook("liveness")
    out = tmp_path / "out"
    card = release(liveness, str(resting(tmp_path / "rest", 6, 120)), out, Wanted(hidden=("cali_A",)))
    public, truth = open_sets(out / "public"), open_sets(out / "truth")
    assert sorted(truth) == ["cali_A", "eval_A", "eval_B"]
    assert sorted(public) == ["cali_B", "cali_train", "eval_A", "eval_B", "eval_train"]
    made = json.loads((out / "truth" / "eval_A" / "generators.json").read_text())
    assert {row["generator"] for row in made} == {"parametric", "spectral", "deep"}
    assert not list((out / "public" / "eval_A").rglob("generators.json")), "who made a trial is truth"
    codes = {event.code for _, _, block in truth["eval_A"] for event in block.events}
    assert codes & set(range(1, 3)), "two people in each group"
    assert codes & {129, 130}, "two people in each group"
    assert not codes & {131, 132}, "two people in each group"
    masked = {event.code for _, _, block in public["eval_A"] for event in block.events}
    assert masked == {240, 241, 242, 243}
    assert "generated by: parametric, spectral, deep" in card["done"]["eval_A"]


def test_calibration_and_evaluation_share_nothing_whatever_generators_learnt() -> None:
    runs = {1: dict.fromkeys(("open", "closed"), np.arange(1000.0)[None])}
    other = {1: dict.fromkeys(("open", "closed"), np.arange(2000.0, 2600.0)[None])}
    for learnt, samples in ((runs, 600), (other, 600)):
        cali, own = (set(Recorded(runs, learnt, part, 0).own(1, "open")[0]) for part in ("cali", "eval"))
        assert (len(cali), len(own), cali & own) == (600, 400, set())
        heard = Recorded(runs, learnt, "eval", 0).learnt_from(print)[1][0]
        assert heard.shape[1] == samples
        assert not own & set(heard[0])


def test_recorded_people_pass_the_probes(tmp_path: Path) -> None:
    """Eight real people; no mains, notch, scale or length tells generated trials from real ones."""
    from bciarena import audit

    out = tmp_path / "out"
    card = release(rulebook("liveness"), str(real_data("idle")), out, Wanted(deep=False))
    assert [one["name"] for one in card["sets"]] == ["cali_A", "eval_A"], "too few for three groups"
    found = audit.audit(out, "liveness")
    assert [row for row in found["probes"] if row["leak"]] == []


def test_too_little_rest_is_refused(tmp_path: Path, capsys) -> None:
    source = resting(tmp_path / "rest", 1, seconds=10, rate=250)
    assert main(["release", str(source), "--challenge", "liveness", "--out", str(tmp_path / "out")]) == 2
    assert "20 s are needed" in capsys.readouterr().err
