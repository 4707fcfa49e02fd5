"""Names of people and teams: no two that a reader could confuse.

A name is kept in Unicode's compatibility form (NFKC: full-width and styled letters become plain ones). Its letters come
from one script, or from a mixture that people write (Chinese, Japanese or Korean with Latin): other mixtures, such as a
Cyrillic letter in a Latin word, serve to imitate another name. So does a word of another script of which every letter
looks like a Latin one. (Unicode Technical Standard 39 calls these "highly restrictive" and "whole-script confusable".)
Among names that pass, no two have the same skeleton: al1ce and aIice are alice.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise

WITH_LATIN = frozenset(
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "HANGUL", "IDEOGRAPHIC"}
)
"""Scripts that are written together; Unicode's names of letters begin with that of their script."""

LOOK_LATIN = frozenset(
    "асԁеһіјӏоорԛѕуԝхАВСЕНІЈКМОРЅТУХЗҮԌԚԜвгкмнтпѵѴ"  # Cyrillic
    "ανορτυικχωϲϳγηΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϿ"  # Greek
    "օսհոցզյԼՍՏՈ"  # Armenian
    "ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃ"  # Cherokee
)  # fmt: skip
"""Letters of other scripts that most typefaces draw like a Latin letter."""

INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")
"""Letters and signs that show nothing, although Unicode calls them printable."""

ALIKE = str.maketrans({"i": "l", "ı": "l", "1": "l", "|": "l", "!": "l", "0": "o", "m": "rn", "w": "vv"})
"""Plain letters and digits that are drawn alike in one case or the other: I is i and looks like l."""


def plain(name: str) -> str:
    """A name as it is kept: compatibility form, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def folded(name: str) -> str:
    """A name without the differences a reader overlooks: case, width, composed letters, doubled blanks."""
    return unicodedata.normalize("NFKC", plain(name).casefold())


def skeleton(name: str) -> str:
    """What is left of a name at a glance: names with the same skeleton are the same to a reader."""
    return folded(name).rstrip(".·'_-").translate(ALIKE)


def misleads(name: str) -> bool:
    """Whether a name (as `plain` returns it) could imitate another one."""
    if any(not letter.isprintable() or letter in INVISIBLE for letter in name) or _piles_marks(name):
        return True
    letters = [letter for letter in name if letter.isalpha()]
    scripts = {_script(letter) for letter in letters}
    if not scripts <= WITH_LATIN and len(scripts) > 1:
        return True
    return bool(letters) and all(letter in LOOK_LATIN for letter in letters)


def _script(letter: str) -> str:
    """The script of a letter; rare Latin letters (phonetic, turned, clicks) count as a separate script."""
    first = unicodedata.name(letter, "UNKNOWN").split()[0]
    common = letter < "\u0250" and not "\u01c0" <= letter <= "\u01c3"
    if first == "LATIN" and not common and not "\u1e00" <= letter <= "\u1eff":
        return "RARE"
    return first


def _piles_marks(name: str) -> bool:
    """Whether several marks are stacked on a letter; composed letters contain theirs already."""
    marks = [unicodedata.category(letter) in ("Mn", "Me") for letter in name]
    return bool(marks) and (marks[0] or any(a and b for a, b in pairwise(marks)))
