"""The pages of a contest: task, rules, data, start, questions; and the inbox, mail, editing, teams.

One site for the whole file: what one test makes, no other looks at.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import io
import re
import socketserver
import threading
import zipfile
from functools import partial

import pytest
from sqlalchemy import select

from bciarena import cli
from bciarena.contests import RULEBOOKS, rulebook
from bciarena.service import accounts, contests, downloads, figures, letters, markdown, notes, task
from bciarena.service.keeper import work_once
from bciarena.service.mail import is_address
from bciarena.service.models import Account, Change, Contest, Download, Phase, Post, Team
from bciarena.service.refusals import Refused
from bciarena.service.texts import say
from bciarena.upkeep.names import needed
from tests.service.conftest import Town, packed, write_imagery
from tests.service.test_boards import add_run
from tests.service.test_flow import GOOD, team_with_entry, upload

SECRET = "what is the seed of the final"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("season")
    made = Town(folder / "home", f"sqlite:///{folder / 'arena.db'}")
    made.contest()
    yield made
    made.close()


@pytest.fixture(scope="module")
def olga(town):
    return town.person("olga")


@pytest.fixture(scope="module")
def ann(town):
    return town.person("ann")


@pytest.fixture(scope="module")
def visitor(town):
    return town.visitor()


# ------------------------------------------------------------------ task and rules


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda book: book.id)
def test_the_calculator_is_the_contests_own_score(book):
    """Shares in per cent go in, and come out as the metrics of the score file."""
    asked = {name: str(round(100 * share) - 1) for name, share in book.scoring.knobs.items()}
    chosen = task.knobs(book, asked)
    score, metrics = task.example(book, chosen)
    for name, value in asked.items():
        assert 100 * metrics[name] == pytest.approx(float(value))
    assert score == book.score(book.scoring.example(
        book, {one.name: one.value / 100 for one in chosen[:-1]},
        max(round(chosen[-1].value * book.rate), round(book.floor_s * book.rate)), task.TRIALS,
    )).score  # fmt: skip
    for wrong in ("-1", "101", "nan", "inf", "x"):
        with pytest.raises(Refused):
            task.knobs(book, dict.fromkeys(asked, wrong))
    if book.limit_s:
        with pytest.raises(Refused):
            task.knobs(book, {"time": str(book.limit_s)})


def test_the_calculator_of_imagery_by_hand(visitor):
    """P = 1 in 1.5 s with 0.5 s of rest: 60 log2(3) / 2."""
    said = visitor.get("/contests/spring/score?accuracy=100&time=1.5").json()
    assert said["score"] == "47.55"
    assert visitor.get("/contests/spring/score?accuracy=1e9").status_code == 422


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda book: book.id)
def test_a_timeline_shows_no_code_that_the_stream_hides(book):
    drawn = figures.timeline(task.typical_trial(book), book, lambda key, **words: say("en", key, **words))
    codes = {int(code) for code in re.findall(r'class="code"[^>]*>(\d+)<', drawn)}
    assert codes <= {book.mask[code] for code in range(256)} - {0}
    hidden = {code for code in book.opens if book.mask[code] != code}
    assert not codes & (hidden - set(book.mask))
    assert "<script" not in drawn
    assert "style=" not in drawn


def test_tabs_in_both_languages(visitor):
    for tab in ("", "/rules", "/data", "/start", "/board", "/questions"):
        english = visitor.get(f"/contests/spring{tab}").text
        chinese = visitor.get(f"/contests/spring{tab}", headers={"accept-language": "zh"}).text
        assert english.count('aria-current="page"') >= 1
        assert "赛题" in chinese
        assert "Traceback" not in english
    rules = visitor.get("/contests/spring/rules").text
    assert rulebook("imagery/1").digest in rules
    assert "最多采集 4 秒的 EEG 数据" in rules


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "![x](http://tracker.example/x.png)",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "[x](//evil.example/)",
        "<a href='javascript:x'>x</a>",
        "[x]: javascript:alert(1)\n\n[x]",
        "<javascript:alert(1)>",
        '[x](/ok "a\\" onmouseover=alert(1) b=\\"")',
        "```html\n<script>x</script>\n```",
        "&#60;script&#62;",
    ],
)
def test_nothing_active_passes_markdown(text):
    made = str(markdown.html(text))
    tags = re.findall(r"<\s*/?([a-z0-9]+)((?:\s[^>]*)?)>", made, re.I)
    assert {name.lower() for name, _ in tags} <= {"p", "a", "code", "pre"}
    for _, attributes in tags:
        assert not re.search(r'(?:^|\s)on\w+\s*=(?=[^"]*(?:"[^"]*"[^"]*)*$)', attributes)
        assert not re.search(r'href="(?!https?:|mailto:|/(?!/)|#)', attributes)


def test_markdown_that_is_fine_is_made():
    made = str(markdown.html("# Head\n\n**bold** [link](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |"))
    assert "<h3>Head</h3>" in made
    assert '<a href="https://example.org" rel="nofollow noopener noreferrer">link</a>' in made
    assert "<table>" in made


# ------------------------------------------------------------------ data and start


def test_downloads_are_resumable_and_closed_where_wanted(town, olga, ann, visitor):
    content = bytes(range(256)) * 500
    sent = olga.post(
        "/organise/spring/downloads", {"about": "training set <b>"}, files={"file": ("../train.bin", content)}
    )
    assert sent.status_code == 303, sent.text
    closed = olga.post("/organise/spring/downloads", {"login": "yes"}, files={"file": ("closed.bin", b"for members")})
    assert closed.status_code == 303
    path = "/contests/spring/downloads/train.bin"
    whole = visitor.get(path)
    digest = hashlib.sha256(content).hexdigest()
    assert (whole.content, whole.headers["etag"]) == (content, f'"{digest}"')
    assert whole.headers["content-disposition"].startswith("attachment")
    part = visitor.get(path, headers={"range": "bytes=1000-1099", "if-range": f'"{digest}"'})
    assert (part.status_code, part.content) == (206, content[1000:1100])
    assert part.headers["content-range"] == f"bytes 1000-1099/{len(content)}"
    other = visitor.get(path, headers={"range": "bytes=1000-", "if-range": '"other"'})
    assert (other.status_code, len(other.content)) == (200, len(content))
    assert visitor.get(path, headers={"if-none-match": f'"{digest}"'}).status_code == 304
    assert visitor.get(path, headers={"range": "bytes=999999999-"}).status_code == 416
    assert f"{digest}  train.bin" in visitor.get("/contests/spring/SHA256SUMS").text
    page = visitor.get("/contests/spring/data").text
    assert "training set &lt;b&gt;" in page
    assert digest in page
    for ask in (visitor.get, visitor.http.head):
        assert ask("/contests/spring/downloads/closed.bin").headers["location"].startswith("/login")
    assert ann.get("/contests/spring/downloads/closed.bin").content == b"for members"
    for name in ("..%2f..%2farena.db", "nothing.bin", "%2e%2e", "x" * 300):
        assert visitor.get(f"/contests/spring/downloads/{name}").status_code == 404
    with town.site.session(False) as session:  # kept by backups, checked by arena verify
        stored = session.scalars(select(Download.stored)).all()
        assert set(stored) <= set(needed(session))


def test_a_slow_reader_of_a_file_holds_no_connection_to_the_database(town, visitor):
    with town.site.session(writes=True) as session:
        contest = contests.contest_named(session, "spring")
        file = town.settings.home / "large.bin"
        file.write_bytes(bytes(24 << 20))  # more than the buffers between us hold
        downloads.add(session, town.site.storage, contest.owner, contest, file, "large.bin", "", False)
    with visitor.http.stream("GET", "/contests/spring/downloads/large.bin") as answer:
        next(answer.iter_raw(1000))
        assert town.site.engine.pool.checkedout() == 0


def test_who_may_not_offer_files(town, ann, visitor):
    rival = town.person("rival", "organiser")
    for person, status in ((visitor, 303), (ann, 403), (rival, 403)):
        answer = person.post("/organise/spring/downloads", files={"file": ("x.bin", b"x")})
        assert answer.status_code == status
    with town.site.session(False) as session:
        assert session.scalar(select(Download).where(Download.name == "x.bin")) is None


def test_a_file_from_the_command_line(town, tmp_path, capsys, visitor):
    file = tmp_path / "card.md"
    file.write_text("# Card")
    where = ["--home", str(town.settings.home), "--database", town.settings.database]
    assert cli.main(["contest", "offer", "spring", str(file), *where]) == 0
    assert hashlib.sha256(b"# Card").hexdigest() in capsys.readouterr().out
    assert visitor.get("/contests/spring/downloads/card.md").text == "# Card"
    assert cli.main(["contest", "offer", "spring", str(tmp_path / "none"), *where]) == 2


def test_the_companion_package_can_be_fetched(visitor):
    answer = visitor.get("/contests/spring/companion.zip")
    names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    assert "imagery/main.py" in names
    assert visitor.get("/contests/spring/companion.zip").content == answer.content


def test_take_part_remembers_the_contest_through_sign_up(town):
    new = town.visitor()
    sent = new.get("/contests/spring/join")
    assert sent.headers["location"] == "/login?next=/contests/spring/join"
    assert 'href="/signup?next=/contests/spring/join"' in new.get(sent.headers["location"]).text
    fields = {"name": "newcomer", "password": "correct horse battery", "next": "/contests/spring/join"}
    assert new.post("/signup", fields).headers["location"] == "/contests/spring/join"
    made = new.post("/teams", {"name": "Newcomers", "next": "/contests/spring/join"})
    assert made.headers["location"] == "/contests/spring/join"
    assert "Newcomers" in new.get("/contests/spring/join").text
    assert new.post("/teams", {"name": "Others", "next": "https://evil.example/"}).headers["location"] == "/"


# ------------------------------------------------------------------ questions, letters, mail


def test_a_private_question_is_read_by_nobody_else(town, olga, ann, visitor):
    bob, rival = town.person("bob"), town.person("rival", "organiser")
    asked = ann.post("/contests/spring/questions", {"title": SECRET, "text": f"<b>{SECRET}</b>?"})
    assert asked.status_code == 303
    with town.site.session(False) as session:
        number = session.scalars(select(Post.id).where(Post.title == SECRET)).one()

    def readers() -> list[str]:
        paths = ["/contests/spring/questions", "/contests/spring", "/", "/inbox"]
        calls = ["/contests", "/contests/spring"]
        found = []
        for name, one in (("visitor", visitor), ("bob", bob), ("rival", rival), ("ann", ann), ("olga", olga)):
            texts = [one.get(path).text for path in paths] + [one.http.get(f"/api/v1{path}").text for path in calls]
            found += [name] if any(SECRET in text for text in texts) else []
        return found

    assert readers() == ["ann", "olga"]
    assert f"&lt;b&gt;{SECRET}" in olga.get("/contests/spring/questions").text
    answer = {"answer": "nobody knows"}
    for person in (visitor, bob, ann, rival):
        assert person.post(f"/contests/spring/questions/{number}/answer", answer).status_code in (303, 403)
    assert olga.post(f"/contests/spring/questions/{number}/answer", answer).status_code == 303
    assert readers() == ["ann", "olga"]  # answered, not published
    olga.post(f"/contests/spring/questions/{number}/answer", {**answer, "public": "yes"})
    assert readers() == ["visitor", "bob", "rival", "ann", "olga"]
    assert ">ann<" not in bob.get("/contests/spring/questions").text  # without its author
    assert "ann ·" not in visitor.get("/contests/spring/questions").text
    olga.post(f"/contests/spring/questions/{number}/remove")
    assert readers() == ["ann", "olga"]  # their letters about it


def test_announcements_reach_those_who_take_part(town, olga, visitor):
    member = town.person("member")
    with town.site.session(writes=True) as session:
        run = add_run(session, session.get(Phase, 1), "Follower", [1] * 6, 1.0)
        contests_team = session.get(Team, run.team_id)
        from bciarena.service.models import Membership

        session.add(Membership(team_id=contests_team.id, account_id=accounts.account_named(session, "member").id))
        session.commit()
    before = visitor.get("/contests/spring/questions").text
    olga.post("/contests/spring/news", {"title": "New data", "text": "See **here** <script>x</script>"})
    page = visitor.get("/contests/spring/questions").text
    assert "New data" not in before
    assert "<strong>here</strong> &lt;script&gt;" in page
    assert "New data" in visitor.get("/contests/spring").text
    assert "New data" in member.get("/inbox").text
    assert "New data" not in town.person("bob").get("/inbox").text
    assert '<b class="badge on">' in member.get("/").text
    member.post("/inbox/read")
    assert '<b class="badge on">' not in member.get("/").text


class _Smtp(socketserver.StreamRequestHandler):
    """As much of a mail server as a client needs to deliver."""

    def handle(self) -> None:
        self.wfile.write(b"220 test\r\n")
        body: list[bytes] | None = None
        for line in self.rfile:
            if body is not None:
                if line == b".\r\n":
                    self.server.mails.append(b"".join(body).decode())
                    body = None
                    self.wfile.write(b"250 kept\r\n")
                else:
                    body.append(line)
                continue
            word = line[:4].upper()
            if word == b"DATA":
                body = []
            self.wfile.write({b"DATA": b"354 go\r\n", b"QUIT": b"221 bye\r\n"}.get(word, b"250 ok\r\n"))
            if word == b"QUIT":
                return


@pytest.fixture
def mails(town):
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Smtp)
    server.daemon_threads = True
    server.mails = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    old = town.site.settings
    values = {"smtp": f"smtp://127.0.0.1:{server.server_address[1]}", "mail_from": "arena@example.org"}
    for name, value in {**values, "url": "https://arena.example"}.items():
        object.__setattr__(old, name, value)
    yield server.mails
    for name in ("smtp", "mail_from", "url"):
        object.__setattr__(old, name, "")
    server.shutdown()
    thread.join()
    server.server_close()


def _link(mail: str, path: str) -> str:
    text = mail.replace("=\n", "").replace("=\r\n", "").replace("=3D", "=")
    return re.search(rf"https://arena\.example({path}/[\w.=-]+)", text)[1]


def test_an_address_is_confirmed_then_letters_and_a_lost_password_reach_it(town, mails):
    carol, thief = town.person("carol"), town.person("thief")
    assert carol.post("/account/email", {"email": "x@y.z\nBcc: all@example.org"}).status_code == 422
    assert carol.post("/account/email", {"email": "carol@example.org"}).status_code == 303
    link = _link(mails.pop(), "/account/email")
    code = link.rsplit("/", 1)[1]
    with town.site.session(False) as session:
        assert accounts.account_named(session, "carol").email is None  # not yet
    assert thief.get(link).status_code == 404
    assert thief.post("/account/email/confirm", {"code": code}).status_code == 404
    assert carol.get(link).status_code == 200
    assert carol.post("/account/email/confirm", {"code": code}).status_code == 303
    with town.site.session(writes=True) as session:
        who = accounts.account_named(session, "carol")
        assert who.email == "carol@example.org"
        letters.write(session, [who.id], "letter.news", "/x", contest="C\nBcc: evil", title="T")
        session.commit()
    work_once(town.site)
    assert len(mails) == 1
    assert "\nBcc:" not in mails[0].replace("\r", "").split("\n\n")[0]
    work_once(town.site)
    assert len(mails) == 1  # once
    mails.clear()
    known, unknown = (town.visitor().post("/forgot", {"name": name}) for name in ("carol", "nobody-at-all"))
    assert known.headers["location"] == unknown.headers["location"]
    assert len(mails) == 1
    reset = _link(mails[0], "/reset")
    code = reset.rsplit("/", 1)[1]
    fresh = town.visitor()
    assert fresh.get(reset).status_code == 200
    for new in ("short", ""):
        assert fresh.post("/reset", {"code": code, "new": new}).status_code == 422
    assert fresh.post("/reset", {"code": code, "new": "another horse battery"}).status_code == 303
    assert carol.get("/account").status_code == 303  # signed out everywhere
    assert fresh.get(reset).status_code == 404  # good for one change
    assert fresh.post("/login", {"name": "carol", "password": "another horse battery"}).status_code == 303


def test_addresses():
    assert is_address("a.b+c@example.org")
    for bad in ("", "a", "a@b", "a b@c.d", "a@b.c\nx", "<a@b.c>", "a@b.c, d@e.f", "ä@b.c"):
        assert not is_address(bad), bad


# ------------------------------------------------------------------ daily work


def test_a_contest_is_edited_and_keeps_its_history(town, olga, visitor):
    town.contest(slug="edited")
    before = visitor.get("/contests/edited").text
    fields = {
        "title": "Other <i>",
        "about": "**Why**",
        "joining": "approval",
        "awards": '[[award]]\nname = "Cup"\nteams = 2',
    }
    assert olga.post("/organise/edited/edit", fields).status_code == 303
    page = visitor.get("/contests/edited").text
    assert "Other &lt;i&gt;" not in before
    assert "Other &lt;i&gt;" in page
    assert "<strong>Why</strong>" in page
    assert "Cup" in page
    assert olga.post("/organise/edited/edit", {**fields, "awards": "[[award]]"}).status_code == 422
    assert olga.post("/organise/edited/edit", {**fields, "title": ""}).status_code == 422
    with town.site.session(False) as session:
        contest = session.scalar(select(Contest).where(Contest.slug == "edited"))
        found = {one.what: (one.before, one.after) for one in session.scalars(
            select(Change).where(Change.contest_id == contest.id))}  # fmt: skip
        assert found["title"] == ("Spring", "Other <i>")
        assert found["joining"] == ("open", "approval")
    assert "Other &lt;i&gt;" in olga.get("/organise/edited/edit").text


def test_phases_are_added_changed_and_removed(town, olga):
    town.contest(slug="staged")
    fields = {"name3": "final", "folder3": "olga/set", "admits3": "first", "first3": "2", "of3": "preliminary"}
    assert olga.post("/organise/staged/phases", fields).status_code == 303
    assert olga.post("/organise/staged/phases", fields).status_code == 409
    assert olga.post("/organise/staged/phases", {**fields, "name3": "task"}).status_code in (409, 422)
    assert olga.post("/organise/staged/phases", {"name3": "x", "folder3": "../other"}).status_code == 422
    work_once(town.site)
    phases = olga.api("GET", "/contests/staged").json()["phases"]
    assert [one["name"] for one in phases] == ["preliminary", "final"]
    assert phases[1]["terms"] == {"admits": "first", "first": 2, "of": "preliminary"}
    assert olga.post("/organise/staged/preliminary/remove").status_code == 409  # the final admits from it
    assert olga.post("/organise/staged/final/data", {"subjects3": "1", "blocks3": "1"}).status_code == 303
    assert olga.post("/organise/staged/final/remove").status_code == 303
    assert olga.post("/organise/staged/preliminary/remove").status_code == 409  # the last one
    with town.site.session(writes=True) as session:
        contest = session.scalar(select(Contest).where(Contest.slug == "staged"))
        add_run(session, contest.phases[0], "Used", [1] * 6, 1.0)
        session.commit()
    assert olga.post("/organise/staged/preliminary/data", {"subjects3": "1"}).status_code == 409


def test_co_organisers_manage_and_then_do_not(town, olga):
    rival = town.person("rival", "organiser")
    assert rival.get("/organise/spring").status_code == 403
    assert olga.post("/organise/spring/organisers", {"name": "ann"}).status_code == 404  # no organiser
    assert olga.post("/organise/spring/organisers", {"name": "rival"}).status_code == 303
    assert rival.get("/organise/spring").status_code == 200
    assert "spring" in rival.get("/organise").text
    with town.site.session(False) as session:
        number = session.scalars(select(Account.id).where(Account.name == "rival")).one()
    assert olga.post(f"/organise/spring/organisers/{number}/remove").status_code == 303
    assert rival.get("/organise/spring").status_code == 403


def test_recordings_are_uploaded_in_the_browser(town, olga, tmp_path):
    folder = write_imagery(tmp_path / "mine", subjects=1, blocks=1)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        for path in folder.rglob("*.npz"):
            made.write(path, f"mine/{path.relative_to(folder)}")
    sent = olga.post("/organise/spring/upload", {"folder": "upped"}, files={"file": ("m.zip", archive.getvalue())})
    assert sent.status_code == 303, sent.text
    assert (town.settings.home / "data" / "olga" / "upped" / "S01" / "block_1.npz").is_file()
    assert "olga/upped" in olga.get("/organise/new").text
    again = olga.post("/organise/spring/upload", {"folder": "upped"}, files={"file": ("m.zip", archive.getvalue())})
    assert again.status_code == 409
    for name in ("../x", "a/b", ".hidden", ""):
        answer = olga.post("/organise/spring/upload", {"folder": name}, files={"file": ("m.zip", archive.getvalue())})
        assert answer.status_code == 422, name
    hostile = io.BytesIO()
    with zipfile.ZipFile(hostile, "w") as made:
        made.writestr("../../outside.txt", "x")
    answer = olga.post("/organise/spring/upload", {"folder": "hostile"}, files={"file": ("m.zip", hostile.getvalue())})
    assert answer.status_code == 422
    assert not list(town.settings.home.rglob("outside.txt"))
    assert [one.name for one in (town.settings.home / "data" / "olga").iterdir() if one.name.startswith(".")] == []


def test_registration_and_its_answer(town, olga):
    town.contest(slug="closed")
    olga.post("/organise/closed/edit", {"title": "Closed", "joining": "approval"})
    dora, other = town.person("dora"), town.person("bob")
    dora.post("/teams", {"name": "Doras"})
    with town.site.session(False) as session:
        team = session.scalars(select(Team.id).where(Team.name == "Doras")).one()
    assert other.post("/contests/closed/join", {"team": str(team)}).status_code == 404
    assert dora.post("/contests/closed/join", {"team": str(team)}).status_code == 303
    assert "waiting for the organisers" in dora.get("/contests/closed/join").text
    assert "Doras asks to take part" in olga.get("/inbox").text
    assert dora.post(f"/organise/closed/registrations/{team}", {"state": "admitted"}).status_code == 403
    assert olga.post(f"/organise/closed/registrations/{team}", {"state": "admitted"}).status_code == 303
    assert "registered" in dora.get("/contests/closed/join").text
    assert "Doras takes part" in dora.get("/inbox").text


def test_teams_are_renamed_and_dissolved(town, tmp_path):
    eva = town.person("eva")
    team, entry = team_with_entry(eva, "Before")
    upload(eva, entry, packed(tmp_path / "p", GOOD))
    assert town.person("bob").post(f"/teams/{team}/rename", {"name": "Mine"}).status_code == 404
    assert eva.post(f"/teams/{team}/rename", {"name": "After"}).status_code == 303
    assert "After" in eva.get("/teams").text
    assert eva.post(f"/teams/{team}/dissolve").status_code == 303
    with town.site.session(False) as session:
        assert session.get(Team, team) is None  # it never submitted
    team, entry = team_with_entry(eva, "Stays")
    version = upload(eva, entry, packed(tmp_path / "p", GOOD))
    sent = eva.api("POST", "/submissions", json={"version_id": version, "contest": "spring"})
    assert sent.status_code == 201
    package = eva.get(f"/runs/{sent.json()['id']}/package")
    assert package.content == (tmp_path / "p" / "entry.zip").read_bytes()
    assert eva.post(f"/teams/{team}/dissolve").status_code == 303
    assert eva.get(f"/teams/{team}").status_code == 404
    root = town.person("root", "operator")
    assert root.api("GET", f"/submissions/{sent.json()['id']}").json()["state"] == "cancelled"
    with town.site.session(False) as session:
        assert session.get(Team, team).closed_at is not None


def test_all_runs_of_a_kind_are_run_again(town, olga):
    town.contest(slug="again")
    with town.site.session(writes=True) as session:
        contest = session.scalar(select(Contest).where(Contest.slug == "again"))
        from bciarena.jobs.model import Job

        runs = [add_run(session, contest.phases[0], name, [1] * 6, 1.0) for name in ("R1", "R2")]
        for run, state in zip(runs, ("finished", "faulted"), strict=True):
            session.get(Job, run.job_id).state = state
        session.commit()
        before = [run.job_id for run in runs]
        numbers = [run.id for run in runs]
    assert olga.post("/organise/again/preliminary/rerun", {"which": "faulted"}).status_code == 303
    assert olga.post("/organise/again/preliminary/rerun", {"which": "nonsense"}).status_code == 422
    with town.site.session(False) as session:
        from bciarena.service.models import Submission

        after = [session.get(Submission, number).job_id for number in numbers]
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_own_rows_are_linked_and_others_are_not(town):
    fay = town.person("fay")
    with town.site.session(writes=True) as session:
        stage = session.get(Phase, 1)
        mine, other = (add_run(session, stage, name, [5] * 6, 1.0) for name in ("Fays", "Strangers"))
        from bciarena.service.models import Membership

        session.add(Membership(team_id=mine.team_id, account_id=accounts.account_named(session, "fay").id))
        session.commit()
        links = [f'href="/runs/{mine.id}"', f'href="/runs/{other.id}"']
    assert [link in fay.get("/contests/spring/board").text for link in links] == [True, False]
    assert [link in town.visitor().get("/contests/spring/board").text for link in links] == [False, False]


def test_notes_are_told_in_the_readers_language():
    book = rulebook("imagery/1")
    note = "report at subject 1 block 2 sample 30: '9' is not a valid answer"
    assert notes.said([note], "en", book) == [note]
    assert notes.said([note], "zh", book) == ["受试者 1 block 2 采样点 30 的报告：'9' 不是有效答案"]
    assert notes.said(["something else"], "zh", book) == ["something else"]


def test_the_forms_of_notes_are_those_the_referee_writes():
    """A form that no longer fits what the code writes would leave the note in English unnoticed."""
    written = inspect.getsource(importlib.import_module("bciarena.referee.judge"))
    for part in ("before the first trial's data, belongs to no trial and is ignored", "a second report in trial",
                 "is not a valid answer", "is invalid and left out", "more notes like these"):  # fmt: skip
        assert part in written
        assert any(part in say("en", key, **dict.fromkeys(
            ("subject", "block", "sample", "trial", "text", "why", "n"), "x")) for key in
            ("note.before", "note.second", "note.answer", "note.invalid", "note.more"))  # fmt: skip


def test_bars_have_labels():
    drawn = figures.bars(
        [{"subject": 1, "block": n, "score": float(n)} for n in (1, 2, 3)], "blocks", partial(say, "en")
    )
    for label in (">Subject<", ">Block<", ">1<", ">3<", ">0<", "Subject 1, block 2: 2.00"):
        assert label in drawn


def test_downloads_bound_their_number(town, monkeypatch, tmp_path):
    monkeypatch.setattr(downloads, "MOST", 0)
    with town.site.session(writes=True) as session:
        contest = contests.contest_named(session, "spring")
        with pytest.raises(Refused, match="may offer 0 files"):
            downloads.add(session, town.site.storage, contest.owner, contest, tmp_path, "x", "", False)
