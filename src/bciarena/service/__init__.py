"""The contest site: teams, entries, submissions, boards; pages and an API over one database."""
