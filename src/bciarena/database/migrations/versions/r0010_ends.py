"""Both intervals of a result, of all recordings and of each part of them; the keeper makes those of earlier results."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("results", sa.Column("ends", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("results", "ends")
