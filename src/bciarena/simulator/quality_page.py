"""The quality page: one HTML file without scripts or outside files, drawn as SVG."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bciarena.recording import open_recording
from bciarena.simulator.head import electrodes
from bciarena.simulator.quality import ERD_HZ, ERD_S, Quality, measure

Array = NDArray[np.float64]
COLOURS = ("#1f6f8b", "#c8553d", "#3a7d44", "#7b4b94", "#b08900", "#444444")
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left}
td.n{text-align:right;font-variant-numeric:tabular-nums}
.row{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0}figcaption{font-size:.85rem;color:#555}
.yes{color:#2a7a2a}.no{color:#b03020;font-weight:600}svg text{font:11px system-ui,sans-serif;fill:#444}
"""


def write_quality(folder: Path, challenge: str) -> Path:
    """Measure a data folder and write ``quality.html`` into it."""
    page = folder / "quality.html"
    page.write_text(quality_html(measure(open_recording(folder), challenge)), encoding="utf-8")
    return page


def quality_html(found: Quality) -> str:
    """The whole page."""
    parts = [f"<h1>{found.challenge}: is this EEG like EEG?</h1>", _table(found)]
    parts += ["<h2>Six seconds</h2>", _traces(found), "<h2>Spectra</h2>", _spectra(found)]
    if found.maps:
        maps = [_map(found, title, values) for title, values in found.maps.items()]
        parts.append(f'<h2>Topographies</h2><div class="row">{"".join(maps)}</div>')
    if found.erd:
        changes = "".join(_erd(title, change) for title, change in found.erd.items())
        parts.append(f'<h2>Change of power around imagery</h2><div class="row">{changes}</div>')
        parts.append("<p>Blue: less power than before the cue (ERD), red: more (ERS), full colour at 80 %.</p>")
    if found.snr_db:
        parts.append(f"<h2>Flicker response at Oz by harmonic</h2>{_bars(found)}")
    head = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{found.challenge}</title><style>{STYLE}</style>'
    )
    return head + "".join(parts) + "</html>"


def _table(found: Quality) -> str:
    lines = []
    for item in found.measures:
        mark = '<span class="yes">inside</span>' if item.inside else '<span class="no">outside</span>'
        lines.append(
            f'<tr><td>{html.escape(item.name)}</td><td class="n">{item.value:.3g} {item.unit}</td>'
            f'<td class="n">{item.low:g} to {item.high:g}</td><td>{mark}</td><td>{html.escape(item.source)}</td></tr>'
        )
    head = "<tr><th>measure</th><th>here</th><th>people</th><th></th><th>source</th></tr>"
    return f"<table>{head}{''.join(lines)}</table>"


def _traces(found: Quality) -> str:
    names, waves = found.traces
    step, wide = 46, 940
    lines = []
    for row, (name, wave) in enumerate(zip(names, waves, strict=True)):
        thin = wave[:: max(1, len(wave) // 1500)]
        full = 800.0 if name == "ECG" else 100.0  # microvolts that fill a row
        x = np.linspace(50, wide, len(thin))
        y = step * (row + 0.5) - thin / full * step
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        lines.append(f'<text x="2" y="{step * (row + 0.5) + 4:.0f}">{name}</text>')
        lines.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-width="0.8"/>')
    tall = step * len(names)
    note = "One row is 100 uV (ECG 800 uV)."
    drawn = f'<svg viewBox="0 0 {wide} {tall}" width="100%">{"".join(lines)}</svg>'
    return f"<figure>{drawn}<figcaption>{note}</figcaption></figure>"


def _spectra(found: Quality) -> str:
    wide, tall, left, base = 700, 320, 50, 285
    top_hz = min(100.0, 0.4 * found.rate)

    def x(hz: Array) -> Array:
        at: Array = left + (wide - left - 20) * np.log(hz) / np.log(top_hz)
        return at

    def y(power: Array) -> Array:
        at: Array = base - (base - 10) * (np.log10(np.maximum(power, 1e-3)) + 3) / 6
        return at

    lines = []
    for decade in range(-3, 4):
        at = float(y(np.array(10.0**decade)))
        lines.append(f'<line x1="{left}" x2="{wide - 20}" y1="{at:.1f}" y2="{at:.1f}" stroke="#eee"/>')
        lines.append(f'<text x="4" y="{at + 4:.1f}">{10.0**decade:g}</text>')
    for tick in (1, 2, 4, 8, 13, 20, 30, 50, 80):
        if tick < top_hz:
            at = float(x(np.array(float(tick))))
            lines.append(f'<text x="{at - 6:.1f}" y="{base + 16}">{tick}</text>')
            lines.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="10" y2="{base}" stroke="#f3f3f3"/>')
    for index, (name, (hz, power)) in enumerate(found.spectra.items()):
        kept = (hz >= 1) & (hz <= top_hz)
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(hz[kept]), y(power[kept]), strict=True))
        colour = COLOURS[index % len(COLOURS)]
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        lines.append(f'<text x="{wide - 170}" y="{24 + 16 * index}" style="fill:{colour}">{html.escape(name)}</text>')
    lines.append(f'<text x="{wide - 150}" y="{tall - 4}">Hz; up: uV²/Hz</text>')
    return f'<svg viewBox="0 0 {wide} {tall}" width="{wide}">{"".join(lines)}</svg>'


def _map(found: Quality, title: str, values: Array) -> str:
    """A head seen from above, interpolated between electrodes."""
    places = electrodes(tuple(found.channels[row] for row in found.scalp))
    angle = np.arccos(np.clip(places[:, 2], -1, 1)) / (np.pi / 2)
    flat = places[:, :2] / np.maximum(np.linalg.norm(places[:, :2], axis=1, keepdims=True), 1e-9) * angle[:, None] * 0.8
    grid = np.linspace(-1.1, 1.1, 64)
    points = np.array([(a, b) for b in grid[::-1] for a in grid])
    weight = 1 / (np.sum((points[:, None] - flat[None]) ** 2, axis=2) + 0.004) ** 2
    image = ((weight @ values) / weight.sum(axis=1)).reshape(64, 64)
    inside = (np.linalg.norm(points, axis=1) <= 1.02).reshape(64, 64)
    signed = values.min() < 0 < values.max() and "less" in title
    span = np.abs(values).max() if signed else None
    low, high = (-span, span) if span else (float(values.min()), float(values.max()))
    picture = _png(_colour((image - low) / max(high - low, 1e-9), inside))
    dots = "".join(f'<circle cx="{110 + 100 * a:.1f}" cy="{110 - 100 * b:.1f}" r="1.4"/>' for a, b in flat)
    nose = '<path d="M102 8 L110 -4 L118 8" fill="none" stroke="#444"/>'
    body = f'<image href="{picture}" x="0" y="0" width="220" height="220" preserveAspectRatio="none"/>{dots}{nose}'
    caption = f"{html.escape(title)}: {low:.2g} to {high:.2g}"
    return f'<figure><svg viewBox="-5 -8 230 235" width="230">{body}</svg><figcaption>{caption}</figcaption></figure>'


def _erd(title: str, change: Array) -> str:
    picture = _png(_colour(np.clip(change[::-1] / 160 + 0.5, 0, 1), np.ones(change.shape, dtype=bool)))
    wide, tall, left = 300, 180, 30
    zero = left + (wide - left) * (0 - ERD_S[0]) / (ERD_S[1] - ERD_S[0])
    ticks = "".join(
        f'<text x="{left + (wide - left) * (s - ERD_S[0]) / (ERD_S[1] - ERD_S[0]) - 3:.0f}" y="{tall + 14}">{s}</text>'
        for s in range(int(ERD_S[0]), int(ERD_S[1]) + 1)
    )
    rows = "".join(
        f'<text x="2" y="{tall - tall * (hz - ERD_HZ[0]) / (ERD_HZ[-1] - ERD_HZ[0]) + 4:.0f}">{hz}</text>'
        for hz in (10, 20, 30)
    )
    line = f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{tall}" stroke="#000"/>'
    image = (
        f'<image href="{picture}" x="{left}" y="0" width="{wide - left}" height="{tall}" preserveAspectRatio="none"/>'
    )
    drawn = f'<svg viewBox="0 0 {wide} {tall + 20}" width="{wide}">{image}{line}{ticks}{rows}</svg>'
    return f"<figure>{drawn}<figcaption>{html.escape(title)} (s, Hz)</figcaption></figure>"


def _bars(found: Quality) -> str:
    parts = []
    for index, (harmonic, value) in enumerate(found.snr_db.items()):
        size = max(0.0, value) * 8
        x = 30 + 70 * index
        parts.append(f'<rect x="{x}" y="{160 - size:.1f}" width="45" height="{size:.1f}" fill="{COLOURS[0]}"/>')
        parts.append(
            f'<text x="{x}" y="{152 - size:.1f}">{value:.1f} dB</text><text x="{x + 14}" y="176">{harmonic}f</text>'
        )
    return f'<svg viewBox="0 0 330 185" width="330">{"".join(parts)}</svg>'


def _colour(share: Array, shown: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Blue over white to red, shape (rows, columns, 4)."""
    share = np.clip(share, 0, 1)
    down, up = np.minimum(1, 2 * share), np.minimum(1, 2 - 2 * share)
    red, green, blue = 40 + 215 * down, 60 + 195 * np.minimum(down, up), 60 + 195 * up
    return np.stack([red, green, blue, 255 * shown], axis=2).astype(np.uint8)


def _png(pixels: NDArray[np.uint8]) -> str:
    """An image of shape (rows, columns, 4) as a data address."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows, columns = pixels.shape[:2]
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    whole = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(whole).decode()
