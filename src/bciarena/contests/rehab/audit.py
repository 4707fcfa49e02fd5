"""The class, and the side alone: half of the points are given for it."""

from bciarena.audit.part import Audit
from bciarena.contests.rehab.rules import CLASSES

AUDIT = Audit(
    by_number={"side": lambda number: "left" if number % 2 else "right"},
    aspects={"class": lambda code: CLASSES[code], "side": lambda code: CLASSES[code].split()[0]},
)
