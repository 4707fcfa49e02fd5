"""A contest as an organiser describes it: the form of contest.toml, of the API's body and of the browser's form."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from bciarena.contests import registered
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.images import read_image
from bciarena.entries.interpreters import PYTHONS
from bciarena.errors import BadInput
from bciarena.protocol.seeds import LEAST_SECRET
from bciarena.service.refusals import Refused

Kind = TypeVar("Kind", bound=BaseModel)
Slug = Annotated[str, Field(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$")]
LAST_S = 32503680000  # the year 3000
Seconds = Annotated[float, Field(ge=0, le=LAST_S)]
DEEPEST = 12
LEAST_WORDS = 20  # as bciarena.audit asks of a waiver
RESERVED = frozenset({"new", "api", "static"})
RESERVED_PHASES = frozenset(
    "images rulebook task rules data start board score questions news join companion edit awards people phases history"
    " rerun upload downloads organisers registrations jury admit withdraw stage game".split()
)
"""Names that are addresses of the site itself."""


def clean(value: Any, depth: int = 0) -> Any:
    """Refuse characters that databases and file systems cannot store, and deeply nested values."""
    if depth > DEEPEST:
        raise ValueError("is nested too deeply")
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError("contains a character that cannot be stored")
    elif isinstance(value, list):
        for item in value:
            clean(item, depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            clean(name)
            clean(item, depth + 1)
    return value


class Strict(BaseModel):
    """Unknown fields are refused, so that a typo does not go unnoticed."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)
    _clean = model_validator(mode="before")(lambda value: clean(value))


class Simulate(Strict):
    """Simulated recordings."""

    subjects: Annotated[int, Field(ge=1, le=100)] = 3
    blocks: Annotated[int, Field(ge=1, le=20)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**128)] | None = None  # None: a secret one is drawn
    split: str | None = Field(default=None, max_length=20, pattern=r"^[A-Za-z_0-9]+$")
    drawn: bool | None = None  # None: where the truth is hidden and the text keeps something in a fixed order


class Data(Strict):
    """Where the recordings come from: a data folder with truth, the simulator, or a session still to be recorded."""

    folder: str | None = Field(default=None, max_length=1000)
    simulate: Simulate | None = None
    live: bool = False

    @model_validator(mode="after")
    def _one(self) -> Data:
        if (self.folder is not None) + (self.simulate is not None) + self.live != 1:
            raise ValueError("give either folder or simulate, or live = true")
        return self


class Granted(Strict):
    """What an entry gets in a phase, and what is required of it; None is the platform's default.

    ``strict`` requires all that the texts do: the contest's Python, .pyc only, file and class named as they say.
    """

    budget_s: Annotated[float, Field(ge=1, le=7 * 86400)] | None = None
    cores: Annotated[int, Field(ge=1, le=64)] | None = None
    memory_mib: Annotated[int, Field(ge=64, le=1 << 20)] | None = None
    pythons: list[Annotated[str, Field(pattern=r"^3\.\d{1,2}$")]] = Field(default=[], max_length=10)
    pyc_only: bool = False
    fixed_names: bool = False
    strict: bool = False

    @field_validator("pythons")
    @classmethod
    def _known(cls, pythons: list[str]) -> list[str]:
        if unknown := [python for python in pythons if python not in PYTHONS]:
            raise ValueError(f"there is no Python {unknown[0]} for entries; known are {', '.join(PYTHONS)}")
        return pythons

    def check(self, about: dict[str, Any], book: Rulebook) -> None:
        """Refuse an uploaded package (see uploads.inspect) that may not enter."""
        if about.get("reference"):
            return
        pythons = self.pythons or ([book.python] if self.strict else [])
        python = about.get("python") or book.python
        if pythons and python not in pythons:
            raise Refused(422, "refused.strict_python", its=python, pythons=" / ".join(pythons), first=pythons[0])
        if (self.pyc_only or self.strict) and not about.get("compiled"):
            raise Refused(422, "refused.strict_sources")
        file, _, name = str(about.get("target", "")).rpartition(":")
        if (self.fixed_names or self.strict) and (name not in book.classes or Path(file).stem != name):
            names = " / ".join(book.classes)
            raise Refused(422, "refused.strict_names", name=name, file=file, names=names)


class ImageSpec(Strict):
    """Libraries of the contest's own: an entry names them by ``unitImage`` in its config.json.

    ``extras`` are installed for entries that import or ask for them. ``default``: for every entry that names no image
    and brings no list of libraries.
    """

    python: Annotated[str, Field(pattern=r"^3\.\d{1,2}$")]
    packages: list[Annotated[str, Field(max_length=100)]] = Field(max_length=50)
    extras: list[Annotated[str, Field(max_length=100)]] = Field(default=[], max_length=20)
    default: bool = False


ImageName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]


class Images(Strict):
    """The images of a contest: tables like [image.NAME]."""

    image: dict[ImageName, ImageSpec] = Field(default={}, max_length=10)

    @model_validator(mode="after")
    def _usable(self) -> Images:
        for name, one in self.image.items():
            try:
                read_image(name, one.model_dump(), "contest")
            except BadInput as error:
                raise ValueError(str(error)) from None
        if sum(one.default for one in self.image.values()) > 1:
            raise ValueError("two images are the default one")
        return self

    def tables(self) -> dict[str, Any]:
        """As they are kept and sent to workers."""
        return {name: one.model_dump(exclude_defaults=True) for name, one in self.image.items()}


class Award(Strict):
    """A prize: its name, for how many teams, and what it is."""

    name: str = Field(min_length=1, max_length=60)
    name_zh: str = Field(default="", max_length=60)
    teams: Annotated[int, Field(ge=1, le=1000)]
    prize: str = Field(default="", max_length=200)
    prize_zh: str = Field(default="", max_length=200)


class AwardList(Strict):
    """Awards as a contest's folder or a form gives them; ``finalists``: how many its text lets into the final."""

    award: list[Award] = Field(default=[], max_length=20)
    finalists: Annotated[int, Field(ge=1, le=1000)] | None = None


class Part(Strict):
    """The recordings whose scores are told while a phase lasts: by subject, by block of each subject, or both."""

    subjects: list[Annotated[int, Field(ge=1, le=10_000)]] = Field(default=[], max_length=1000)
    blocks: list[Annotated[int, Field(ge=1, le=10_000)]] = Field(default=[], max_length=1000)

    def __bool__(self) -> bool:
        return bool(self.subjects or self.blocks)

    def has(self, subject: int, block: int) -> bool:
        return (not self.subjects or subject in self.subjects) and (not self.blocks or block in self.blocks)


class Calibration(Strict):
    """What entries may learn on the server before they play: see bciarena.jobs.calibration, which reads the same.

    ``sets`` are data folders by the name of the set; they are stored with the phase's own recordings.
    """

    mode: Literal["none", "labelled", "unlabelled", "after_trial"] = "none"
    sets: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,40}$")], Annotated[str, Field(max_length=1000)]] = Field(
        default={}, max_length=10
    )
    blocks: Annotated[int, Field(ge=1, le=1000)] | None = None
    budget_s: Annotated[float, Field(ge=1, le=7 * 86400)] = 3600
    cores: Annotated[int, Field(ge=1, le=64)] | None = None
    memory_mib: Annotated[int, Field(ge=64, le=1 << 20)] | None = None

    @model_validator(mode="after")
    def _whole(self) -> Calibration:
        if self.mode in ("labelled", "unlabelled") and not self.sets:
            raise ValueError(f"mode {self.mode} needs sets to learn from")
        if self.mode == "none" and self.sets:
            raise ValueError("sets are given, but the mode is none")
        return self

    def payload(self, stored: dict[str, str]) -> dict[str, Any]:
        """As a worker is told; ``stored`` names the sets in the storage."""
        limits = {name: value for name in ("cores", "memory_mib") if (value := getattr(self, name)) is not None}
        return {"mode": self.mode, "sets": stored, "blocks": self.blocks, "budget_s": self.budget_s, "limits": limits}


class Terms(Strict):
    """Who may submit to a phase, how often, and what of its recordings is told before the end.

    ``admits``: all; those whom the organiser invites; or the ``first`` N of the phase ``of``. ``carries`` "entry":
    those admitted by their place play with what counted there, unless they submit again. ``public`` names the public
    part of the recordings; where it is given, the rest decides in the end. ``audit``: the phase opens only if leak
    probes stay at chance on its recordings, or on the organiser's written ``waiver``. ``scores``: whether the scores
    on hidden truth are told as they are while the phase lasts, or only as precisely as their intervals allow.
    ``output``: whether a team sees what its entry printed, raised and reported on hidden recordings, which its next
    version could use.
    ``stage``: nobody plays before the organiser says so; then the same recordings are played to one team after the
    other ("replay"), or each plays on its own live session ("live"). See stage.py.
    """

    admits: Literal["all", "invited", "first"] = "all"
    first: Annotated[int, Field(ge=1, le=1000)] | None = None
    of: Slug | None = None
    carries: Literal["nothing", "entry"] = "nothing"
    public: Part = Part()
    total_limit: Annotated[int, Field(ge=0, le=100_000)] = 0
    scores: Literal["rounded", "exact"] = "rounded"
    output: Literal["shown", "hidden"] = "shown"
    audit: bool = False
    waiver: str = Field(default="", max_length=2000)
    calibration: Calibration = Calibration()
    stage: Literal["none", "replay", "live"] = "none"

    @model_validator(mode="after")
    def _whole(self) -> Terms:
        if self.admits == "first" and (self.first is None or self.of is None):
            raise ValueError('admits = "first" needs first (how many) and of (which phase)')
        if self.admits != "first" and (self.first is not None or self.of is not None or self.carries != "nothing"):
            raise ValueError('first, of and carries belong to admits = "first"')
        if self.waiver and len(self.waiver) < LEAST_WORDS:
            raise ValueError(f"waiver: say in {LEAST_WORDS} characters or more why the phase opens all the same")
        return self

    def kept(self) -> dict[str, Any]:
        """As the database keeps them."""
        return self.model_dump(include=set(Terms.model_fields), exclude_defaults=True)


class PhaseSpec(Terms):
    """A stage of a contest; times with zone, or UTC."""

    name: Slug
    starts: datetime | None = None
    ends: datetime | None = None
    freezes: datetime | None = None
    late_until: datetime | None = None
    daily_limit: Annotated[int, Field(ge=0, le=1000)] = 10
    truth: Literal["public", "hidden"] = "hidden"
    board: Literal["public", "hidden"] = "public"
    counts: Literal["best", "last", "chosen"] = "best"
    limits: Granted = Granted()
    data: Data

    @model_validator(mode="after")
    def _order(self) -> PhaseSpec:
        if self.name in RESERVED_PHASES:
            raise ValueError(f"name: {self.name} is taken by the site itself")
        moments = [seconds(one) for one in (self.starts, self.ends, self.freezes, self.late_until)]
        if any(moment is not None and not 0 <= moment <= LAST_S for moment in moments):
            raise ValueError("starts and ends lie between the years 1970 and 3000")
        if why := why_not_dates(*moments):
            raise ValueError(why)
        if self.data.live and self.stage == "none":
            raise ValueError('data: live = true needs stage = "replay" or "live"')
        if self.stage == "live" and (not self.data.live or self.public or self.calibration.mode != "none"):
            raise ValueError(
                'stage = "live": every team has recordings of its own: data = { live = true }, no parts, no calibration'
            )
        if self.public and self.truth == "public":
            raise ValueError('public: a private part needs truth = "hidden"')
        seed = self.data.simulate.seed if self.data.simulate else None
        if self.truth == "hidden" and seed is not None and seed < LEAST_SECRET:
            raise ValueError(
                "seed: whoever guesses it can simulate the hidden truth; leave it out (a secret one is drawn), or give "
                "one of 128 bits from arena simulate --seed secret"
            )
        return self


class ContestSpec(Images):
    slug: Slug
    title: str = Field(min_length=1, max_length=120)
    title_zh: str = Field(default="", max_length=120)
    about: str = Field(default="", max_length=20_000)
    about_zh: str = Field(default="", max_length=20_000)
    rulebook: str = Field(max_length=40)
    joining: Literal["open", "approval"] = "open"
    one_team: bool = False
    award: list[Award] | None = Field(default=None, max_length=20)
    phase: list[PhaseSpec] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _known(self) -> ContestSpec:
        if self.slug in RESERVED:
            raise ValueError(f"slug: {self.slug} is taken by the site itself")
        names = [phase.name for phase in self.phase]
        if len(set(names)) != len(names):
            raise ValueError("phase: two have the same name")
        for at, phase in enumerate(self.phase):
            if phase.of is not None and phase.of not in names[:at]:
                raise ValueError(f"phase {phase.name}: of = {phase.of!r} is no phase before it")
        try:
            registered(self.rulebook)  # by its id: a folder that a visitor names is no contest
        except BadInput as error:
            raise ValueError(str(error)) from None
        return self


def why_not_dates(
    starts: float | None, ends: float | None, freezes: float | None = None, late_until: float | None = None
) -> str:
    """What is wrong with the dates of a phase; empty when nothing is."""
    if starts is not None and ends is not None and starts >= ends:
        return "starts must be before ends"
    if freezes is not None and starts is not None and freezes < starts:
        return "freezes must not be before starts"
    if late_until is not None and (ends is None or late_until < ends):
        return "late_until must be after ends"
    return ""


def seconds(moment: datetime | None) -> float | None:
    """Seconds since 1970; a time without zone is UTC."""
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def parse(values: dict[str, Any], source: str) -> ContestSpec:
    """A checked contest from plain values; the first error is reported with its place."""
    return checked(ContestSpec, values, source)


def checked(kind: type[Kind], values: dict[str, Any], source: str) -> Kind:
    """Plain values as a model; BadInput says what is wrong and where."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "contest"
        raise BadInput(f"{source}: {place}: {first['msg'].removeprefix('Value error, ')}") from None


def parse_toml(text: str, source: str) -> ContestSpec:
    """A checked contest from the text of a contest.toml."""
    return parse(_toml(text, source), source)


def parse_images(text: str) -> Images:
    """Checked images from tables like those of a contest.toml."""
    return checked(Images, _toml(text, "images"), "images")


def images_toml(tables: dict[str, Any]) -> str:
    """The images of a contest as `parse_images` reads them."""
    lines = []
    for name, values in tables.items():
        lines += [f'[image."{name}"]', *(f"{key} = {json.dumps(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


def parse_awards(text: str) -> list[dict[str, Any]]:
    """Checked awards from tables like those of a contest.toml."""
    return [one.model_dump() for one in checked(AwardList, _toml(text, "awards"), "awards").award]


def awards_toml(awards: list[dict[str, Any]]) -> str:
    """The awards of a contest as `parse_awards` reads them."""
    lines = []
    for values in awards:
        own = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value != ""]
        lines += ["[[award]]", *own, ""]
    return "\n".join(lines)


def folder_name(text: str) -> bool:
    """Whether a data folder may have this name."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}", text) is not None


def _toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers with thousands of digits and deeply nested lists
        raise BadInput(f"{source}: is no TOML file: {error}") from None


def read_toml(path: Path) -> ContestSpec:
    """The contest a file describes; its data folders are relative to it."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: is no TOML file: {error}") from None
    spec = parse_toml(text, str(path))
    for phase in spec.phase:
        if phase.data.folder is not None:
            phase.data.folder = str((path.parent / phase.data.folder).resolve())
    return spec
