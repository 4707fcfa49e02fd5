"""A site with a scored run, for upkeep."""

from tests.postgres import database_url, postgres
from tests.service.conftest import sqlite_town, town

__all__ = ["database_url", "postgres", "sqlite_town", "town"]
