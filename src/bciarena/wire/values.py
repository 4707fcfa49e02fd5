"""What may travel as an answer: an integer, a float, a short text, or the description of anything else.

Used on both sides, in the box before sending and by the referee for entries in its own process, so that an answer
means the same wherever the entry ran.
"""

import numbers

import numpy as np

LONGEST = 64


class _Shown(str):
    """A text whose repr has no quotes."""

    def __repr__(self):
        return str(self)


def plain_value(value):
    """Reduce an answer to what a ledger can hold.

    Integers, finite floats and texts (numpy scalars and 0-d arrays too) stay what they are; everything else
    becomes ``{"other": text}``, an invalid answer shown as given and cut to 64 characters. Reducing twice changes
    nothing.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        return {"other": str(bool(value))}
    if isinstance(value, numbers.Integral):
        number = int(value)
        return (
            number
            if abs(number) < 2**53
            else {"other": str(number)[:LONGEST] if abs(number) < 10**80 else "huge integer"}
        )
    if isinstance(value, (float, np.floating)):
        real = float(value)
        return real if np.isfinite(real) else {"other": str(real)}
    if isinstance(value, str):
        text = str(value)
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return clean if len(clean) <= LONGEST else {"other": clean[:LONGEST]}
    if isinstance(value, dict) and list(value) == ["other"] and isinstance(value["other"], str):
        value = _Shown(value["other"])  # reduced before, on the other side of the wire
    try:
        text = repr(value)
    except Exception as error:  # the entry's own __repr__ may do anything
        text = "unprintable: " + type(error).__name__
    return {"other": text[:LONGEST].encode("utf-8", "replace").decode("utf-8")}
