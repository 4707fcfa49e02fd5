"""Looking after a site: is everything there that the database names, and the whole of it to a file and back."""
