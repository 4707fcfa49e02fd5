"""A run as a page a person reads, as a comparison, and as tidy tables."""
