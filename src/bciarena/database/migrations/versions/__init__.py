"""One file per revision; the newest names the one before it."""
