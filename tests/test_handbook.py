"""The handbook: built strictly in both languages, shown by the site, searched."""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

from bciarena.service.pages import docs
from tests.service.conftest import Town

ROOT = Path(__file__).resolve().parents[1]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / "handbook" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def handbook(tmp_path_factory):
    place = tmp_path_factory.mktemp("built") / "handbook"
    script("build").build(
        place, strict=True
    )  # raises on any warning: dead links, dead anchors, pages outside the navigation
    return place


def sections(handbook, language):
    text = (handbook / language / "search" / "index.js").read_text("utf-8")
    return json.loads(text.removeprefix("window.handbook = ").rstrip(";\n"))


def test_it_is_the_same_book_in_both_languages(handbook):
    english, chinese = ({p.relative_to(handbook / x) for p in (handbook / x).rglob("*.html")} for x in ("en", "zh"))
    assert english == chinese
    for page in english:
        text = (handbook / "zh" / page).read_text("utf-8")
        translated = (ROOT / "docs" / page.with_suffix(".zh.md")).exists() or page.name == "glossary.html"
        assert ("本页只有英文" in text) == (not translated or page.name == "glossary.html"), page


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_inline(handbook):
    """The site's content policy allows neither, and the handbook is read where there is no network."""
    for page in handbook.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//", text), page
        assert not re.search(r"<script(?![^>]*src=)|<style|<[a-z]+[^>]* (?:style|onclick)=", text), page


def test_lists_and_tables_are_drawn_as_such(handbook):
    """Markdown that GitHub understands and the handbook's reader would not."""
    for page in (handbook / "en").rglob("*.html"):
        main = page.read_text("utf-8").split("<main", 1)[1]
        for paragraph in re.findall(r"<p>(.*?)</p>", main, re.S):
            assert not re.search(r"^(?:[-*] |\d+\. |\|)", paragraph, re.M), f"{page}: {paragraph[:200]}"


def test_headings_pictures_and_tables_can_be_heard(handbook):
    """No level is left out, every picture says what it shows, no header is empty, and wide tables have a frame."""
    for page in handbook.rglob("*.html"):
        main = page.read_text("utf-8").split("<main", 1)[1]
        levels = [int(level) for level in re.findall(r"<h([1-6])", main)]
        assert levels.count(1) == 1, page
        assert all(after <= before + 1 for before, after in zip([0, *levels], levels, strict=False)), page
        assert all(re.search(r'alt="[^"]', picture) for picture in re.findall(r"<img[^>]*>", main)), page
        assert not re.search(r"<th[^>]*></th>", main), page
        assert main.count("<table") == main.count('<div class="scroll"><table>'), page


def test_reference_is_made_from_the_code(handbook):
    import typer.main

    import bciarena
    from bciarena.cli import build
    from bciarena.verdicts import MEANING

    def page(name):
        return (handbook / "en" / "reference" / f"{name}.html").read_text("utf-8")

    for name in typer.main.get_command(build()).commands:
        assert f">arena {name}</h2>" in page("commands")
    for name in MEANING:
        assert f"<code>{name}</code>" in page("verdicts")
    for name in bciarena.__all__:
        assert name.startswith("_") or f'id="bciarena.{name}"' in page("python")
    assert ">GET /api/v1/contests</h2>" in page("http")
    assert "ledger.jsonl" in page("schemas")


def test_both_languages_can_be_searched(handbook):
    assert any("虚警率" in text for _, _, text in sections(handbook, "zh"))
    assert any("false alarms" in text for _, _, text in sections(handbook, "en"))


def test_all_of_it_goes_into_the_wheel(handbook):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["bciarena"]
    for file in handbook.rglob("*"):
        name = str(Path("handbook") / file.relative_to(handbook))
        assert file.is_dir() or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def test_the_site_shows_it(handbook, monkeypatch, tmp_path):
    (tmp_path / "outside.html").write_text("secret")
    link = handbook / "en" / "link.html"
    link.symlink_to(tmp_path / "outside.html")
    monkeypatch.setattr(docs, "HANDBOOK", handbook)
    town = Town(tmp_path / "home", f"sqlite:///{tmp_path}/arena.db")
    try:
        site = town.visitor().http
        assert site.get("/docs", headers={"accept-language": "zh"}).headers["location"] == "/docs/zh/index.html"
        assert "Ten minutes to a score" in site.get("/docs/en/start/contestant.html").text
        assert site.get("/docs/en/assets/handbook.js").headers["content-type"].startswith("text/javascript")
        for place in ("%2e%2e/%2e%2e/__init__.py", "en/link.html", "en/none.html", "en/%00"):
            assert site.get(f"/docs/{place}").status_code == 404
        monkeypatch.setattr(docs, "HANDBOOK", tmp_path / "none")
        said = site.get("/docs/en/index.html")
        assert said.status_code == 404
        assert "make docs" in said.text
    finally:
        town.close()
        link.unlink()


@pytest.mark.parametrize(
    ("language", "words", "page"),
    [("en", "think clock", "clocks.html"), ("zh", "虚警率", "glossary.html"), ("zh", "思考时钟", "clocks.html")],
)
def test_search_finds_it_without_a_network(handbook, browser, language, words, page):
    """From disk, where nothing but these files can be had."""
    context = browser.new_context(offline=True)
    try:
        view = context.new_page()
        errors = []
        view.on("pageerror", lambda error: errors.append(str(error)))
        view.goto((handbook / language / "start" / "lab.html").as_uri())
        view.keyboard.press("/")
        view.keyboard.type(words)
        view.wait_for_selector("#found li")
        assert any(page in link for link in view.eval_on_selector_all("#found a", "all => all.map(a => a.href)"))
        view.keyboard.press("Enter")
        view.wait_for_url("**/*.html*")
        assert errors == []
    finally:
        context.close()
