"""Alembic's folder: one history for jobs and site."""
