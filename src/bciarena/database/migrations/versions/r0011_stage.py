"""A stage for finals: runs that are held and played on one machine alone; guesses of visitors."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("jobs", sa.Column("only", sa.Text(), nullable=True))
    op.create_index("ix_jobs_only", "jobs", ["only"])
    op.create_table(
        "stages",
        sa.Column("phase_id", NUMBER, nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        sa.Column("teams", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("drawn_at", sa.Double(), nullable=False),
        sa.Column("machine", sa.Text(), nullable=True),
        sa.Column("playing", sa.Boolean(), nullable=False),
        sa.Column("seals", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("open_to", sa.Text(), nullable=False),
        sa.Column("at", NUMBER, nullable=False),
        sa.Column("shown_s", sa.Double(), nullable=False),
        sa.Column("since", sa.Double(), nullable=True),
        sa.Column("speed", sa.Double(), nullable=False),
        sa.Column("live", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_stages_phase_id_phases")),
        sa.PrimaryKeyConstraint("phase_id", name=op.f("pk_stages")),
    )
    op.create_table(
        "guesses",
        sa.Column("contest_id", NUMBER, nullable=False),
        sa.Column("truth", sa.Boolean(), nullable=False),
        sa.Column("said", sa.Boolean(), nullable=False),
        sa.Column("count", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_guesses_contest_id_contests")),
        sa.PrimaryKeyConstraint("contest_id", "truth", "said", name=op.f("pk_guesses")),
    )


def downgrade() -> None:
    op.drop_table("guesses")
    op.drop_table("stages")
    op.drop_index("ix_jobs_only", "jobs")
    op.drop_column("jobs", "only")
