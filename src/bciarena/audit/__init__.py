"""Leak probes: small entries that see only what must not help. Each must stay at chance."""

from bciarena.audit.asking import ALPHA, audit, verdict
from bciarena.audit.text import markdown

__all__ = ["ALPHA", "audit", "markdown", "verdict"]
