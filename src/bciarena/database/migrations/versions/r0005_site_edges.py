"""The site: visits that end, tokens with scope and expiry, invitations that are listed, an audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
YEAR_S = 365 * 86400
NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())::double precision",
}


def upgrade() -> None:
    kind = op.get_bind().dialect.name
    op.create_table(
        "visits",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("account_id", NUMBER, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_visits_account_id_accounts")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_visits")),
    )
    op.create_index(op.f("ix_visits_account_id"), "visits", ["account_id"])
    op.create_index(op.f("ix_visits_expires_at"), "visits", ["expires_at"])
    # Plain ALTERs: SQLite can do these in place, and it cannot easily remake a table that others refer to.
    number = "integer" if kind == "sqlite" else "bigint"
    for change in (
        "accounts drop column epoch",
        "tokens add column scope text not null default 'organise'",  # existing ones could do everything
        "tokens add column expires_at double precision not null default 0",
        f'invitations add column "by" {number} constraint fk_invitations_by_accounts references accounts (id)',
        "invitations add column created_at double precision not null default 0",
        f"versions add column unpacked {number} not null default 0",
    ):
        op.execute(f"alter table {change}")
    op.execute(f"update tokens set expires_at = {NOW[kind]} + {YEAR_S}")
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("account_id", NUMBER, nullable=True),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_audit_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.execute(
        "insert into audit (account_id, who, what, about, created_at) select deeds.account_id, accounts.name, what, "
        "about, deeds.created_at from deeds join accounts on accounts.id = deeds.account_id order by deeds.id"
    )
    op.drop_table("deeds")
    if kind == "sqlite":
        for act in ("update", "delete"):
            op.execute(
                f"create trigger audit_no_{act} before {act} on audit "
                "begin select raise(abort, 'the audit log only grows'); end"
            )
    else:
        op.execute(
            "create function audit_only_grows() returns trigger language plpgsql as "
            "$$ begin raise exception 'the audit log only grows'; end $$"
        )
        op.execute(
            "create trigger audit_only_grows before update or delete or truncate on audit "
            "for each statement execute function audit_only_grows()"
        )


def downgrade() -> None:
    raise NotImplementedError("the audit log is not thrown away; restore a copy made before the upgrade")
