"""What explains a result in one line, and the images that belong to a contest."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
ADDED = (("results", "tally"), ("contests", "images"))


def upgrade() -> None:
    for table, name in ADDED:
        op.add_column(table, sa.Column(name, sa.JSON(none_as_null=True), nullable=False, server_default="{}"))


def downgrade() -> None:
    for table, name in ADDED:
        op.drop_column(table, name)
