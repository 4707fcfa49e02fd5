"""Looking after a site: checking that everything the database names is stored, backup and restore."""
