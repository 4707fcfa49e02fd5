"""The demo in small: one contest, simulated, an entry trained and played beside one that needs no training."""

from dataclasses import replace

from sqlalchemy import select

from bciarena import demo
from bciarena.entries.reference import references
from bciarena.service.models import Result, Stage
from tests.service.conftest import Town


def test_demo_is_built_once_and_a_broken_entry_does_not_stop_it(sqlite_town: Town, monkeypatch, capsys):
    town = sqlite_town
    town.person("olga", "operator")
    shown = [
        demo.Show("imagery", 1, {"test": 1, "train": 2}, final=True),
        demo.Show("rehab", 1, {"test": 1}),
    ]  # no training set
    kept = {"@imagery-baseline", "@rehab-baseline", "@speller-baseline"}  # the last one has no contest here
    monkeypatch.setattr(demo, "shows", lambda: shown)
    monkeypatch.setattr(demo, "references", lambda: [one for one in references() if one.name in kept])
    demo.build(town.site)
    said = capsys.readouterr().err
    assert "@rehab-baseline: not trained, so it does not play:" in said
    assert "ok, score" in said
    board = town.visitor().get("/contests/demo-imagery/board").text
    assert "Arena baseline" in board
    stage = "/contests/demo-imagery/final/stage"
    assert town.visitor().get(stage).status_code == 200  # a stage to look at
    told = town.visitor().get(f"{stage}/seals.json").json()["seals"]
    assert [one["said"]["team"] for one in told] == ["Arena baseline"]
    assert town.visitor().get(f"{stage}/run/0?from=0&to=60").json()["answers"]
    jobs = len(demo._jobs(town.site))
    demo.build(town.site)
    assert len(demo._jobs(town.site)) == jobs == 2


def test_runs_that_were_not_boxed_are_played_again_once_there_is_a_box(sqlite_town: Town, monkeypatch, capsys):
    """A demo that was built without bubblewrap, started again when it was installed: stage included."""
    town = sqlite_town
    town.person("olga", "operator")
    monkeypatch.setattr(demo, "shows", lambda: [demo.Show("imagery", 1, {"test": 1, "train": 2}, final=True)])
    monkeypatch.setattr(demo, "references", lambda: [one for one in references() if one.name == "@imagery-baseline"])
    boxed, unboxed = town.settings, replace(town.settings, boxed=False)
    town.site.settings = unboxed
    demo.build(town.site)
    with town.site.session(writes=False) as session:
        assert set(session.scalars(select(Result.ranked))) == {False}
    town.site.settings = boxed
    demo.build(town.site)
    assert "demo-imagery/practice: 1 runs that were not boxed are played again" in capsys.readouterr().err
    with town.site.session(writes=False) as session:
        now = list(session.scalars(select(Result).where(Result.current)))
        assert len(now) == 2
        assert all(one.ranked for one in now)
        assert session.get_one(Stage, 2).seals["1"]["said"]["sandbox"].startswith("bwrap")
    jobs = len(demo._jobs(town.site))
    demo.build(town.site)
    assert len(demo._jobs(town.site)) == jobs
