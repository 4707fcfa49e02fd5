"""The queue: jobs and workers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("team", sa.Text(), nullable=False),
        sa.Column("team_limit", NUMBER, nullable=True),
        sa.Column("priority", NUMBER, nullable=False),
        sa.Column("cpus", sa.Double(), nullable=False),
        sa.Column("memory_mb", NUMBER, nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("parent", NUMBER, nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", NUMBER, nullable=False),
        sa.Column("faults", NUMBER, nullable=False),
        sa.Column("ready_at", sa.Double(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("machine", sa.Text(), nullable=True),
        sa.Column("leased_until", sa.Double(), nullable=True),
        sa.Column("heartbeat_at", sa.Double(), nullable=True),
        sa.Column("progress", sa.JSON(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "state in ('queued', 'leased', 'finished', 'failed', 'faulted', 'cancelled')", name=op.f("ck_jobs_state")
        ),
        sa.ForeignKeyConstraint(["parent"], ["jobs.id"], name=op.f("fk_jobs_parent_jobs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("key", name=op.f("uq_jobs_key")),
    )
    op.create_index("ix_jobs_waiting", "jobs", ["state", "team", "priority", "id"])
    op.create_index("ix_jobs_turns", "jobs", ["team", "started_at"])
    op.create_index("ix_jobs_parent", "jobs", ["parent"])
    op.create_table(
        "workers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("slots", NUMBER, nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=True),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )


def downgrade() -> None:
    op.drop_table("workers")
    op.drop_table("jobs")
