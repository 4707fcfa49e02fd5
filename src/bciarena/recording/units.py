"""Units of voltage, as files and streams write them."""

from __future__ import annotations

TO_MICROVOLT = {
    "v": 1e6, "volt": 1e6, "volts": 1e6, "0": 1e6, "mv": 1e3, "millivolt": 1e3, "millivolts": 1e3, "-3": 1e3,
    "uv": 1.0, "µv": 1.0, "μv": 1.0, "microvolt": 1.0, "microvolts": 1.0, "-6": 1.0, "-06": 1.0,
    "nv": 1e-3, "nanovolt": 1e-3, "nanovolts": 1e-3, "-9": 1e-3, "-09": 1e-3,
}  # fmt: skip
"""Numbers are powers of ten of a volt, as LSL streams may declare them."""


def to_microvolt(unit: str) -> float | None:
    """The factor that turns this unit into microvolts; None if it is not a unit of voltage."""
    return TO_MICROVOLT.get(unit.strip().casefold())
