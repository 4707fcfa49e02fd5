"""The demo in small: one contest, simulated, an entry trained and played beside one that needs no training."""

from bciarena import demo
from bciarena.entries.reference import references
from tests.service.conftest import Town


def test_demo_is_built_once_and_a_broken_entry_does_not_stop_it(sqlite_town: Town, monkeypatch, capsys):
    town = sqlite_town
    town.person("olga", "operator")
    shown = [demo.Show("imagery", 1, {"test": 1, "train": 2}), demo.Show("rehab", 1, {"test": 1})]  # no training set
    kept = {"@imagery-baseline", "@rehab-baseline", "@speller-baseline"}  # the last one has no contest here
    monkeypatch.setattr(demo, "shows", lambda: shown)
    monkeypatch.setattr(demo, "references", lambda: [one for one in references() if one.name in kept])
    demo.build(town.site)
    said = capsys.readouterr().err
    assert "@rehab-baseline: not trained, so it does not play:" in said
    assert "ok, score" in said
    board = town.visitor().get("/contests/demo-imagery/board").text
    assert "Arena baseline" in board
    jobs = len(demo._jobs(town.site))
    demo.build(town.site)
    assert len(demo._jobs(town.site)) == jobs == 1
