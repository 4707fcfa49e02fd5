"""Names without what a reader confuses; of names that are alike already, the first alone has it."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None
TABLES = ("accounts", "teams")
# As names.skeleton made it when this was written.
ALIKE = str.maketrans({"i": "l", "1": "l", "|": "l", "!": "l", "0": "o", "m": "rn", "w": "vv"})


def upgrade() -> None:
    for name in TABLES:
        op.add_column(name, sa.Column("looks", sa.Text(), nullable=True))
        table = sa.table(name, sa.column("id", sa.BigInteger), sa.column("folded"), sa.column("looks"))
        connection, seen = op.get_bind(), set[str]()
        for key, folded in connection.execute(sa.select(table.c.id, table.c.folded).order_by(table.c.id)).all():
            looks = folded.translate(ALIKE)
            if looks not in seen:
                seen.add(looks)
                connection.execute(sa.update(table).where(table.c.id == key).values(looks=looks))
        op.create_index(f"ix_{name}_looks", name, ["looks"], unique=True)


def downgrade() -> None:
    for name in TABLES:
        op.drop_index(f"ix_{name}_looks", name)
        op.drop_column(name, "looks")
