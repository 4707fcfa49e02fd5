"""Two questions: real or generated, and whose. A person's amplitude and spectrum are that person's own."""

from bciarena.audit.part import Audit
from bciarena.contests.liveness.rules import EYES_OPEN

WHOSE = frozenset({"subject"})

AUDIT = Audit(
    aspects={
        "real": lambda code: "real" if code > EYES_OPEN else "generated",
        "subject": lambda code: str(code & 31),
    },
    rightful={"amplitude": WHOSE, "traces": WHOSE},
    response_s=None,
)
