"""A season: terms of a phase, awards, admissions, downloads, questions, letters, co-organisers, a history."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ADDED = {
    "contests": ("awards json '[]'", "texts json '{}'", "joining text 'open'", "one_team flag", "revision number 0"),
    "phases": ("freezes_at time", "late_until time", "admitted_at time", "revealed flag", "terms json '{}'"),
    "submissions": ("chosen flag", "late flag", "carried flag"),
    "teams": ("closed_at time",),
    "accounts": ("email word",),
}
TABLES = {
    "contest_organisers": ("contest_id contests key", "account_id accounts key"),
    "registrations": (
        "contest_id contests key", "team_id teams key", "by accounts", "state text", "created_at time!",
        "decided_at time",
    ),
    "admissions": (
        "phase_id phases key", "team_id teams key", "how text", "rank number?", "score time", "created_at time!",
    ),
    "downloads": (
        "id id", "contest_id contests!", "name text", "about text", "stored text", "size number", "login bool",
        "by accounts", "created_at time!",
    ),
    "posts": (
        "id id", "contest_id contests!", "kind text", "account_id accounts!", "title text", "text text", "public bool",
        "answer text", "answered_by accounts?", "answered_at time", "created_at time!",
    ),
    "letters": (
        "id id", "account_id accounts!", "key text", "words json", "link text", "created_at time!", "read_at time",
        "mailed_at time",
    ),
    "changes": (
        "id id", "contest_id contests!", "who text", "what text", "before text", "after text", "created_at time!",
    ),
}  # fmt: skip


def _added(words: str) -> sa.Column[Any]:
    name, kind, *usual = words.split()
    if kind == "time":
        return sa.Column(name, sa.Double(), nullable=True)
    if kind == "word":
        return sa.Column(name, sa.Text(), nullable=True)
    if kind == "flag":
        return sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false())
    types: dict[str, Any] = {"json": sa.JSON(none_as_null=True), "text": sa.Text(), "number": NUMBER}
    return sa.Column(name, types[kind], nullable=False, server_default=usual[0].strip("'"))


def _table(table: str, columns: tuple[str, ...]) -> list[sa.schema.SchemaItem]:
    made: list[sa.schema.SchemaItem] = []
    keys = []
    for words in columns:
        name, kind, *more = words.split()
        target = kind.rstrip("!?")
        if kind == "id" or more == ["key"]:
            keys.append(name)
        if target in ("contests", "accounts", "teams", "phases"):
            made.append(sa.Column(name, NUMBER, nullable=kind.endswith("?")))
            made.append(sa.ForeignKeyConstraint([name], [f"{target}.id"], name=op.f(f"fk_{table}_{name}_{target}")))
        else:
            types: dict[str, Any] = {
                "id": NUMBER, "number": NUMBER, "text": sa.Text(), "time": sa.Double(), "bool": sa.Boolean(),
                "json": sa.JSON(none_as_null=True),
            }  # fmt: skip
            nullable = kind in ("time", "number?")
            made.append(sa.Column(name, types[target], nullable=nullable))
    made.append(sa.PrimaryKeyConstraint(*keys, name=op.f(f"pk_{table}")))
    return made


def upgrade() -> None:
    for table, columns in ADDED.items():
        for words in columns:
            op.add_column(table, _added(words))
    for table, columns in TABLES.items():
        op.create_table(table, *_table(table, columns))
        for words in columns:
            name, kind, *more = words.split()
            if kind in ("contests!", "accounts!") and not more:
                op.create_index(op.f(f"ix_{table}_{name}"), table, [name])
    for table, name in (("contest_organisers", "account_id"), ("registrations", "team_id"), ("admissions", "team_id")):
        op.create_index(op.f(f"ix_{table}_{name}"), table, [name])
    op.create_index("uq_downloads_contest_id_name", "downloads", ["contest_id", "name"], unique=True)


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
    for table, columns in ADDED.items():
        for words in columns:
            op.drop_column(table, words.split()[0])
