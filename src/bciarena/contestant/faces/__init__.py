"""The contests' own classes, under the contests' names: what an entry imports from its framework."""
