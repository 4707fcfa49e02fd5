"""Storms: faults at random, by seed, against real workers; all is counted and compared with an undisturbed run."""
