"""The database: where it lies, its schema and migrations, one for the queue and the site."""
