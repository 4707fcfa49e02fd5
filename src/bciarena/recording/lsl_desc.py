"""What an EEG stream says of itself, as LSL's and XDF's metadata lay it down: one description for both."""

from __future__ import annotations

from xml.etree import ElementTree as XML

from bciarena.recording.bids_sides import positions
from bciarena.recording.montages import NOT_SCALP

MAKER = "BCI Arena"
MM = 1000.0  # positions are in metres


def eeg_desc(channels: tuple[str, ...], ohms: tuple[str, ...] = (), maker: str = MAKER, model: str = "") -> XML.Element:
    """``desc`` of an EEG stream: every channel with type, unit and place, the amplifier, the cap.

    Places are those of the 10-05 system on a template head, in millimetres; what is no electrode of it has none.
    """
    known = {name.casefold(): place for name, place in positions().items()}
    desc = XML.Element("desc")
    rows = XML.SubElement(desc, "channels")
    for name in channels:
        row = XML.SubElement(rows, "channel")
        kind = "ECG" if name == "ECG" else "EOG" if name in NOT_SCALP else "EEG"
        for key, text in (("label", name), ("type", kind), ("unit", "microvolts")):
            XML.SubElement(row, key).text = text
        if kind == "EEG" and name.casefold() in known:
            place = XML.SubElement(row, "location")
            for axis, value in zip("XYZ", known[name.casefold()], strict=True):
                XML.SubElement(place, axis).text = f"{value * MM:.1f}"
    for name in ohms:
        row = XML.SubElement(rows, "channel")
        for key, text in (("label", name), ("type", "impedance"), ("unit", "ohms")):
            XML.SubElement(row, key).text = text
    acquisition = XML.SubElement(desc, "acquisition")
    for key, text in (("manufacturer", maker), ("model", model), ("precision", "32")):
        XML.SubElement(acquisition, key).text = text or "unknown"
    cap = XML.SubElement(desc, "cap")
    XML.SubElement(cap, "labelscheme").text = "10-05"
    XML.SubElement(cap, "size").text = "unknown"
    XML.SubElement(XML.SubElement(desc, "reference"), "label").text = "unknown"
    return desc


def codes_desc(maker: str = MAKER) -> XML.Element:
    """``desc`` of a stream of trigger codes."""
    desc = XML.Element("desc")
    row = XML.SubElement(XML.SubElement(desc, "channels"), "channel")
    for key, text in (("label", "code"), ("type", "stim"), ("unit", "none")):
        XML.SubElement(row, key).text = text
    XML.SubElement(XML.SubElement(desc, "acquisition"), "manufacturer").text = maker
    return desc
