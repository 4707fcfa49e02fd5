"""Ranks that say when they are chance; best and last; what is not shown."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.jobs.model import Job
from bciarena.jobs.queue import enqueue
from bciarena.service.accounts import account_named
from bciarena.service.boards import Boards, make_board
from bciarena.service.models import Entry, Phase, Result, Submission, Team, Version
from bciarena.service.names import folded


def _samples(score: float) -> float:
    """Samples of a block of one right trial that scores so many bits a minute in imagery/1, its rest of 0.5 s off."""
    return (60 * np.log2(3) / max(score, 1e-9) - 0.5) * 250


def add_run(session, phase: Phase, team: str, blocks: list[float], at: float, **more) -> Submission:
    """A run with given block scores, as the keeper would have settled it."""
    people = more.pop("people", 100)
    owner = account_named(session, "olga")
    found = session.query(Team).filter_by(folded=folded(team)).one_or_none()
    if found is None:
        found = Team(name=team, folded=folded(team), house=more.pop("house", False))
        session.add(found)
        session.flush()
        entry = Entry(team_id=found.id, name="e", challenge="imagery")
        session.add(entry)
        session.flush()
        session.add(Version(entry_id=entry.id, number=1, package="x", filename="x", size=1, by=owner.id))
        session.flush()
    more.pop("house", None)
    entry = session.query(Entry).filter_by(team_id=found.id).one()
    job = enqueue(session, "noop", {})
    run = Submission(
        phase_id=phase.id, team_id=found.id, version_id=entry.versions[0].id, by=owner.id, job_id=job.id, created_at=at,
        disqualified=more.pop("disqualified", None),
    )  # fmt: skip
    session.add(run)
    session.flush()
    rows = []
    for n, score in enumerate(blocks, 1):
        sums = {"trials": 1, "correct": 1, "length_n": _samples(score)}
        rows.append({"subject": 1 + (n - 1) // people, "block": n, "score": score, "sums": sums})
    values = {"verdict": "ok", "sandbox": "bwrap, cgroup v2", "ranked": True, "low": 0.0, "high": 200.0, **more}
    session.add(
        Result(
            submission_id=run.id, job_id=job.id, phase_id=phase.id, team_id=found.id, rulebook="imagery/1",
            score=float(np.mean(blocks)), metrics={"accuracy": 0.5}, blocks=rows, **values,
        )
    )  # fmt: skip
    phase.revision += 1
    session.flush()
    return run


def board_of(town, make, **phase):
    town.contest(**phase)
    with town.site.session(True) as session:
        stage = session.get(Phase, 1)
        make(session, stage)
        session.commit()
        return make_board(session, stage)


def test_ranks_say_who_cannot_be_told_apart(town):
    noise = np.random.default_rng(0)

    def make(session, phase):
        for name, mean in (("A", 30), ("B", 29.9), ("C", 20), ("D", 19.9), ("E", 5)):
            add_run(session, phase, name, list(noise.normal(mean, 1.0, 12)), 1.0)

    rows = board_of(town, make).rows
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5]
    assert {row.team for row in rows[:2]} == {"A", "B"}
    assert [(row.first, row.last) for row in rows] == [(1, 2), (1, 2), (3, 4), (3, 4), (5, 5)]


def test_a_board_says_in_both_languages_what_was_learnt_from(sqlite_town):
    """Made-up runs: one whose fit had labels, one without a fit, one that was told each trial afterwards."""
    said = {"A": {"mode": "labelled", "fitted": True}, "B": {"mode": "labelled"}, "C": {"mode": "after_trial"}}

    def make(session, phase):
        for name, told in said.items():
            run = add_run(session, phase, name, [20.0] * 6, 1.0)
            session.get_one(Job, run.job_id).result = {"calibration": told}

    learning = {"mode": "labelled", "sets": {"cali_A": "olga/set"}}
    rows = board_of(sqlite_town, make, calibration=learning).rows
    assert {row.team: row.learnt for row in rows} == {"A": "labelled", "B": "nothing", "C": "after_trial"}
    for language, words in (
        ("en", ("learnt here, labelled", "learnt nothing here", "told each trial afterwards")),
        ("zh", ("在服务器上用带标签数据训练", "未在服务器上训练", "每个试次后告知标签")),
    ):
        page = sqlite_town.visitor().get(f"/contests/spring/board?lang={language}").text
        for team, badge in zip("ABC", words, strict=True):
            assert f'<td>{team} <span class="badge">{badge}</span></td>' in page


def test_best_and_last(town):
    def make(session, phase):
        for score, at in ((10, 1.0), (30, 2.0), (20, 3.0)):
            add_run(session, phase, "A", [score] * 6, at)

    board = board_of(town, make, counts="best")
    assert (board.rows[0].score, board.rows[0].runs, board.rows[0].history) == (30, 3, (10, 30, 20))
    with town.site.session(True) as session:
        stage = session.get(Phase, 1)
        stage.counts = "last"
        assert make_board(session, stage).rows[0].score == 20


def test_what_is_not_on_the_board(town):
    def make(session, phase):
        add_run(session, phase, "Out", [99] * 6, 1.0, disqualified="two accounts")
        add_run(session, phase, "Unboxed", [98] * 6, 1.0, sandbox="none", ranked=False)
        add_run(session, phase, "Failed", [0] * 6, 1.0, verdict="import_error", ranked=False)
        add_run(session, phase, "Old", [97] * 6, 1.0, current=False)
        add_run(session, phase, "House", [50] * 6, 1.0, sandbox="none", ranked=False, house=True)
        add_run(session, phase, "Good", [10] * 6, 1.0)

    rows = board_of(town, make).rows
    assert [(row.rank, row.team) for row in rows] == [(1, "Good"), (None, "House")]


def test_a_board_is_remade_when_it_changed_and_not_before(town, monkeypatch):
    town.contest()
    boards, made = Boards(), []

    def counted(*given):
        made.append(1)
        return make_board(*given)

    monkeypatch.setattr("bciarena.service.boards.make_board", counted)
    with town.site.session(True) as session:
        phase = session.get(Phase, 1)
        for _ in range(3):
            boards.of(session, phase)
        assert len(made) == 1
        add_run(session, phase, "A", [1.0] * 6, 1.0)
        assert boards.of(session, phase).rows[0].team == "A"
        assert len(made) == 2


def test_few_blocks_are_said_to_be_too_few(town):
    def make(session, phase):
        add_run(session, phase, "A", [30.0] * 5, 1.0)
        add_run(session, phase, "B", [20.0] * 5, 1.0)

    board = board_of(town, make)
    assert board.untested
    assert [(row.first, row.last, row.tested) for row in board.rows] == [(1, 2, False)] * 2
    for language, words in (("en", "Too few blocks to test"), ("zh", "block 太少，无法检验")):
        page = town.visitor().get("/contests/spring/board", headers={"accept-language": language})
        assert words in page.text


def test_the_best_of_many_runs_is_told(town):
    def make(session, phase):
        for at in range(1, 21):
            blocks = [30.0 - at % 3 + more for more in (-5, -3, -1, 1, 3, 5)]
            add_run(session, phase, "A", blocks, float(at), low=20.0, high=40.0)

    row = board_of(town, make, counts="best").rows[0]
    assert row.runs == 20
    assert row.low < 20.0
    error = np.std([-5, -3, -1, 1, 3, 5], ddof=1) / 6**0.5
    assert 1.8 * error < row.lucky < 2.0 * error  # the mean of the largest of 20 is 1.87 standard errors up


def test_runs_on_other_blocks_are_ranked_and_not_tested(town):
    def make(session, phase):
        add_run(session, phase, "A", [30.0] * 8, 1.0)
        add_run(session, phase, "B", [20.0] * 7, 1.0)

    rows = board_of(town, make).rows
    assert [(row.rank, row.first, row.last, row.tested) for row in rows] == [(1, 1, 1, True), (2, 2, 2, False)]


@pytest.mark.parametrize(("people", "single"), [(1, True), (2, False), (4, True)])
def test_a_board_says_where_a_person_has_one_block_only(town, people, single):
    def make(session, phase):
        add_run(session, phase, "A", [30.0 + n for n in range(5 if people == 4 else 4)], 1.0, people=people)

    board = board_of(town, make)
    assert board.single is single
    assert ("has only one block" in town.visitor().get("/contests/spring/preliminary").text) is single


def test_intervals_for_new_people_stand_beside_those_for_the_same(town):
    def make(session, phase):
        add_run(session, phase, "A", [30.0] * 6, 1.0, ends={"all": [20.0, 40.0, 10.0, 50.0]})
        add_run(session, phase, "B", [20.0] * 6, 1.0)  # of an older version: the keeper has not been here yet

    board = board_of(town, make)
    assert board.new_people
    assert [(row.new_low, row.new_high) for row in board.rows] == [(10.0, 50.0), (None, None)]
