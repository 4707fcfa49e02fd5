"""Measures, taken as ratios within one run because machines are noisy: `arena bench`, never timed tests.

A module here has ``main() -> list[dict]``: one row per measure, each with a key ``measure``.
"""
