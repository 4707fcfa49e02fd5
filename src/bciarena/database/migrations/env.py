"""Called by Alembic with the connection `bciarena.database.db.upgrade` opened; the transaction is the caller's."""

from alembic import context

from bciarena.database.db import Base
from bciarena.jobs import model  # noqa: F401 - fills the metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
