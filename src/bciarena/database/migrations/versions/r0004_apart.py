"""Matches that must not run at the same time."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("apart", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("jobs", "apart")
