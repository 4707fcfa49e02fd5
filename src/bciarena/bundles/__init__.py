"""Runs that a stranger can verify: a run, its rules, its truth and its surroundings in one file."""

from bciarena.bundles.making import make_bundle
from bciarena.bundles.verifying import Findings, is_bundle, verify_bundle

__all__ = ["Findings", "is_bundle", "make_bundle", "verify_bundle"]
