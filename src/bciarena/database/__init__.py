"""The database: where it is, its schema and migrations, one for the queue and the site."""
