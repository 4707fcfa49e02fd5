"""What MkDocs does not do by itself: two languages, pages from the repository's root, from code and from notebooks."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

from markdown.extensions.toc import slugify_unicode
from mkdocs.structure.files import File, Files

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))  # MkDocs loads this file by its path

import notebooks  # noqa: E402
import reference  # noqa: E402

FROM_ROOT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
STYLE = ROOT / "src" / "bciarena" / "service" / "static"
FENCE = re.compile(r"^\s*(```|~~~)")
BLOCK = re.compile(r"^(?:[-*] |\d+\. |\|)")


def on_config(config):
    """Anchors of Chinese headings are Chinese; code is coloured by classes, as the site's policy asks."""
    config.mdx_configs["toc"]["slugify"] = slugify_unicode
    return config


def on_files(files, config):
    """The pages of one language, those made from code, and the site's own style."""
    chinese = config.theme.locale.language == "zh"
    translated = {file.src_uri.replace(".zh.md", ".md"): file for file in files if file.src_uri.endswith(".zh.md")}
    chosen = Files([])
    for file in files:
        if file.src_uri.endswith((".zh.md", ".ipynb")):
            continue
        if chinese and file.src_uri in translated:
            chosen.append(File.generated(config, file.src_uri, content=translated[file.src_uri].content_string))
        elif chinese and file.src_uri.endswith(".md"):
            chosen.append(_english(config, file.src_uri, file.content_string))
        else:
            chosen.append(file)
    made = {name: (ROOT / name).read_text("utf-8") for name in FROM_ROOT} | reference.pages()
    for uri, content in made.items():
        if uri.endswith(".md") and chinese:
            chosen.append(_english(config, uri, content))
        else:
            chosen.append(File.generated(config, uri, content=content))
    for file in files:
        if file.src_uri.endswith(".ipynb"):
            for uri, content in notebooks.pages(Path(file.abs_src_path)).items():
                uri = f"gallery/{uri}"
                english = chinese and uri.endswith(".md")
                chosen.append(
                    _english(config, uri, content) if english else File.generated(config, uri, content=content)
                )
    for name in ("style.css", "icon.svg"):
        chosen.append(File.generated(config, f"assets/{name}", abs_src_path=str(STYLE / name)))
    return chosen


def _english(config, uri, content):
    """A page that is not translated; the theme says so."""
    return File.generated(config, uri, content=f"---\nlang: en\n---\n{content}")


def on_page_markdown(markdown, page, config, files):
    """Links between docs/ and the root, and the blank lines that GitHub does without and Python-Markdown needs."""
    if page.file.src_uri in FROM_ROOT:
        markdown = markdown.replace("](docs/", "](")
    markdown = re.sub(rf"\]\(\.\./((?:\.\./)*(?:{'|'.join(FROM_ROOT)})[^)]*)\)", r"](\1)", markdown)
    markdown = re.sub(r"\]\(([\w./-]*gallery/[\w-]+)\.ipynb\)", r"](\1.md)", markdown)
    markdown = re.sub(r"\[([^\]]+)\]\((?:\.\./)*(?:examples|src|tests|LICENSE|README)[^)]*\)", r"\1", markdown)
    lines, fenced = [], False
    for line in markdown.split("\n"):
        before = lines[-1] if lines else ""
        if not fenced and BLOCK.match(line) and before.strip() and not BLOCK.match(before) and before[:1] != " ":
            lines.append("")
        if not fenced and line.startswith("|") and before.strip() and not before.startswith("|"):
            lines.append("")
        if FENCE.match(line):
            fenced = not fenced
        lines.append(line)
    return "\n".join(lines)


def on_page_content(html, page, config, files):
    """Wide tables scroll within a frame of their own, as on the site; the empty corner of a table heads nothing."""
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)
    return html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")


def on_post_build(config):
    """The search index as a script: a page opened from disk may load it, too."""
    place = Path(config.site_dir)
    index = place / "search" / "search_index.json"
    sections = [
        [item["location"], item["title"], re.sub(r"\s+", " ", item["text"])]
        for item in json.loads(index.read_text("utf-8"))["docs"]
    ]
    for page, first in pairwise(sections):
        if "#" not in page[0] and first[0].startswith(page[0] + "#"):
            page[2] = page[2].split(first[1])[0]  # a page is found by its beginning, the rest by its sections
    index.unlink()
    (place / "search" / "index.js").write_text(
        "window.handbook = " + json.dumps(sections, ensure_ascii=False) + ";\n", "utf-8"
    )
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="xcode").get_style_defs(".code")
    dark = HtmlFormatter(style="native").get_style_defs(".code")
    colours = re.compile(r"^(\.code [^{]*)\{(.*?)\}", re.M)
    rules = dict.fromkeys(name for name, _ in colours.findall(light + "\n" + dark))
    pairs = {name: [_colour(text, name), _colour(other, name)] for name in rules for text, other in [(light, dark)]}
    (place / "assets" / "code.css").write_text(
        "\n".join(
            f"{name}{{ color: light-dark({bright or 'inherit'}, {dim or 'inherit'}) }}"
            for name, (bright, dim) in pairs.items()
            if (bright or dim) and ".err" not in name
        ),
        "utf-8",
    )


def _colour(rules, name):
    found = re.search(re.escape(name) + r"\{[^}]*?(?<![-\w])color: (#\w+)", rules)
    return found[1] if found else ""
