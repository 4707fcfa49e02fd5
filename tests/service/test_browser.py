"""The site in a real browser: sign up, upload, watch the progress, see the board move; both languages, phone and dark.

Screenshots are left in test-output/site for people to look at.
"""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from bciarena.jobs.local import LocalEngine
from bciarena.jobs.work import Work
from bciarena.service.keeper import work_once
from tests.accessibility import violations
from tests.service.conftest import PASSWORD, packed
from tests.service.test_flow import CRASH, GOOD, POOR, submit, team_with_entry, upload

SHOTS = Path(__file__).parents[2] / "test-output" / "site"
SLOW = GOOD.replace("def step(self, packet):", "def step(self, packet):\n        __import__('time').sleep(0.001)")


class Busy:
    """A worker and a keeper at work beside the server, until the block ends."""

    def __init__(self, town) -> None:
        self.town = town
        self.work = Work(town.site.queue, town.site.storage, LocalEngine(town.site.storage, 1), say=lambda _: None)
        self.leaving = threading.Event()

    def _keep(self) -> None:
        while not self.leaving.wait(0.2):
            work_once(self.town.site)

    def __enter__(self):
        self.threads = [threading.Thread(target=self.work.run), threading.Thread(target=self._keep)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.work.stopping.set()
        self.leaving.set()
        for thread in self.threads:
            thread.join(30)


def shot(page, name: str, whole: bool = True) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", full_page=whole)


def test_sign_up_upload_watch_and_see_the_board_move(page, browser, sqlite_town, tmp_path):
    town = sqlite_town
    town.contest(truth="public")
    rival = town.person("rival")
    _, entry = team_with_entry(rival, "Beta")
    submit(rival, entry, upload(rival, entry, packed(tmp_path / "poor", POOR)))
    with Busy(town):
        watcher = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark").new_page()
        watcher.goto(f"{town.base}/contests/spring/board")
        watcher.wait_for_selector("tr[data-team]", timeout=90_000)  # Beta's run arrives without a reload
        assert watcher.locator("tr[data-team]").count() == 1

        page.goto(town.base)
        page.get_by_role("link", name="Sign up").click()
        page.get_by_label("Name").fill("ann")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("main").get_by_role("button", name="Sign up").click()
        page.get_by_label("Name").fill("Alpha waves")
        page.get_by_role("button", name="Found the team").click()
        page.get_by_label("Name of the entry").fill("first")
        page.get_by_role("combobox", name="Challenge").select_option("imagery")
        page.get_by_role("button", name="Define an entry").click()
        page.get_by_label("Package", exact=True).set_input_files(packed(tmp_path / "bad", "x", "notes.txt"))
        broken = tmp_path / "broken.zip"
        broken.write_bytes(b"no archive")
        page.get_by_label("Package", exact=True).set_input_files(broken)
        page.get_by_role("button", name="Upload a package").click()
        page.get_by_role("alert").get_by_text("neither a .zip nor a .tar.gz").wait_for()
        page.get_by_label("Package", exact=True).set_input_files(packed(tmp_path / "good", SLOW))
        page.get_by_role("button", name="Upload a package").click()
        page.get_by_text("The package is kept as a new version").wait_for()
        shot(page, "entry")
        page.get_by_role("button", name="Submit", exact=True).click()
        page.locator(".state.running").wait_for(timeout=90_000)
        until = time.monotonic() + 90
        while page.locator("progress").evaluate("bar => bar.value") < 0.1 and time.monotonic() < until:
            time.sleep(0.2)
        assert re.search(r"subject \d · block \d · trial \d .* packets/s", page.locator(".words").inner_text())
        shot(page, "running")
        page.locator(".state.scored").wait_for(timeout=120_000)
        page.get_by_text("95 % interval").wait_for(timeout=60_000)
        shot(page, "run")
        watcher.locator("tr[data-team]").nth(1).wait_for(timeout=60_000)
        first = watcher.locator("tr[data-team]").first
        assert "Alpha waves" in first.inner_text()
        shot(watcher, "board-phone-dark")
        watcher.context.close()
        page.get_by_text("Figures and replay").click()
        page.frame_locator("iframe.report").locator("#figure-timeline .main-svg").first.wait_for(timeout=60_000)
        page.get_by_role("link", name="Full report").click()
        page.wait_for_load_state()
        assert "pageerror" not in "".join(page.errors)
    # The refused package is a 422, which the browser's console notes; nothing else may be there.
    assert [words for words in page.errors if "422" not in words] == []


def test_in_chinese_from_sign_up_to_the_failed_run(browser, sqlite_town, tmp_path):
    town = sqlite_town
    town.contest()
    context = browser.new_context(locale="zh-CN", viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{town.base}/signup")
    page.get_by_label("用户名").fill("小安")
    page.get_by_label("密码").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="注册").click()
    page.get_by_label("名称").fill("阿尔法")
    page.get_by_role("button", name="创建分组").click()
    page.get_by_label("计算单元名称").fill("第一")
    page.get_by_role("combobox", name="赛题").select_option("imagery")
    page.get_by_role("button", name="定义计算单元").click()
    page.get_by_label("程序包", exact=True).set_input_files(packed(tmp_path / "crash", CRASH))
    page.get_by_role("button", name="上传程序包").click()
    page.get_by_text("程序包已保存为新版本").wait_for()
    with Busy(town):
        page.get_by_role("button", name="部署").click()
        page.locator(".state.failed").wait_for(timeout=120_000)
        page.get_by_text("您的程序在数据结束之前抛出了异常").wait_for(timeout=30_000)
    shot(page, "failed-zh-phone-dark")
    page.goto(f"{town.base}/contests/spring/board")
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    page.get_by_role("link", name="English").click()
    page.get_by_role("heading", name="Board").wait_for()
    page.reload()
    assert page.locator("html").get_attribute("lang") == "en"  # the choice is kept
    assert errors == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_a_phone_and_is_small(browser, sqlite_town, tmp_path, scheme):
    town = sqlite_town
    town.contest(truth="public")
    member = town.person("olga")
    _, entry = team_with_entry(member)
    submit(member, entry, upload(member, entry, packed(tmp_path / "good", GOOD)))
    town.play()
    with town.site.session(True) as session:
        from bciarena.service.accounts import account_named

        account_named(session, "olga").role = "operator"
        session.commit()
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    context.add_cookies([{"name": "arena", "value": member.http.cookies["arena"], "url": town.base}])
    page = context.new_page()
    errors, sizes = [], {}
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("response", lambda answer: sizes.setdefault(page.url, []).append(len(answer.body())))
    paths = [
        "/",
        "/account",
        "/teams",
        "/teams/1",
        "/entries/1",
        "/runs/1",
        "/contests/spring",
        "/contests/spring/board",
        "/organise",
    ]
    paths += [
        "/organise/new",
        "/organise/spring",
        "/organise/spring/edit",
        "/operate",
        "/api/docs",
        "/login",
        "/signup",
    ]
    paths += [f"/contests/spring/{tab}" for tab in ("rules", "data", "start", "questions")]
    paths += ["/inbox", "/roles", "/forgot"]
    for path in paths:
        page.goto(town.base + path, wait_until="load")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        assert violations(page) == [], path
        shot(page, f"{scheme}{path.replace('/', '-')}")
    assert errors == []
    assert max(sum(parts) for parts in sizes.values()) < 200_000
    # The toggle turns the other way round and is remembered.
    background = "getComputedStyle(document.body).backgroundColor"
    page.goto(town.base)
    before = page.evaluate(background)
    page.get_by_role("button", name="Light or dark").click()
    after = page.evaluate(background)
    page.reload()
    assert before != after == page.evaluate(background)
    context.close()


def test_tables_sort_and_the_keyboard_reaches_everything(browser, sqlite_town, tmp_path):
    town = sqlite_town
    town.contest(truth="public")
    ann = town.person("ann")
    _, entry = team_with_entry(ann)
    submit(ann, entry, upload(ann, entry, packed(tmp_path / "poor", POOR)))
    town.play()
    context = browser.new_context()
    context.add_cookies([{"name": "arena", "value": ann.http.cookies["arena"], "url": town.base}])
    page = context.new_page()
    page.goto(f"{town.base}/runs/1")
    page.get_by_text("All trials as a table").click()
    table = page.locator("table").last
    head = table.get_by_role("columnheader", name="Truth").get_by_role("button")
    head.focus()
    page.keyboard.press("Enter")
    truths = [row.split("\t")[3] for row in table.locator("tbody").inner_text().splitlines()]
    assert list(dict.fromkeys(truths)) == ["left hand", "right hand", "feet"]  # by their codes
    assert truths == sorted(truths, key=["left hand", "right hand", "feet"].index)
    page.keyboard.press("Enter")
    assert table.locator("tbody tr").first.inner_text().split("\t")[3] == "feet"
    page.goto(f"{town.base}/contests/spring/board?sort=team")
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Team")
    page.goto(town.base)
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim()"))
    assert {"Skip to the content", "BCI Arena", "Teams", "中文", "ann", "Sign out", "Spring"} <= reached
    context.close()
