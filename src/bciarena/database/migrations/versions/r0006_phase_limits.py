"""What a phase grants its entries and asks of them."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("phases", sa.Column("limits", sa.JSON(none_as_null=True), nullable=False, server_default="{}"))


def downgrade() -> None:
    op.drop_column("phases", "limits")
