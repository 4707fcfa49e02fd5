"""Markdown of organisers as HTML that cannot do anything: no HTML of their own, no images, no links but to the web."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markupsafe import Markup

SCHEMES = frozenset({"http", "https", "mailto"})


@lru_cache
def _parser() -> MarkdownIt:
    # html off: tags are shown as text. Images would tell a stranger's server who reads the page.
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")
    parser.validateLink = _is_safe  # type: ignore[method-assign]
    parser.add_render_rule("link_open", _link)
    return parser


def _is_safe(url: str) -> bool:
    """Whether an address may be linked to: of the web, or a path of this site."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    here = not parts.scheme and not parts.netloc and url.startswith(("/", "#")) and not url.startswith("/\\")
    return (parts.scheme.lower() in SCHEMES or here) and url.isprintable()


def _link(renderer, tokens, at, options, env):  # type: ignore[no-untyped-def]  # as the library calls it
    tokens[at].attrSet("rel", "nofollow noopener noreferrer")
    return renderer.renderToken(tokens, at, options, env)


def html(text: str) -> Markup:
    """A text as HTML. Headings begin at the third level: the page's own come first."""
    tokens = _parser().parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    return Markup(_parser().renderer.render(tokens, _parser().options, {}))


def first_line(text: str) -> str:
    """The first line as plain text, for cards."""
    return text.strip().split("\n")[0].lstrip("#> *-").strip()
