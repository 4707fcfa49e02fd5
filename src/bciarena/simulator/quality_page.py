"""The quality page: one HTML file without scripts or outside files, drawn as SVG."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bciarena.recording import open_recording
from bciarena.simulator.beside import Distance, distance
from bciarena.simulator.head import electrodes
from bciarena.simulator.quality import ERD_HZ, ERD_S, LATERAL, TRACE_HZ, Quality, measure
from bciarena.words import read_words
from bciarena.writing import wanted_file

Array = NDArray[np.float64]
PAGES = {"en": "quality.html", "zh": "quality.zh.html"}
LANGUAGES = {"en": "English", "zh": "中文"}
COLOURS = ("#1f6f8b", "#c8553d", "#3a7d44", "#7b4b94", "#b08900", "#444444")
ERD_FULL = 80
"""Change of power in percent that gets the full colour."""
STYLE = """
body{font:15px/1.5 system-ui,"Noto Sans","Noto Sans CJK SC","Microsoft YaHei",sans-serif;max-width:1000px;
margin:2rem auto;padding:0 1rem;color:#1d2126;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left}td.n,th.n{text-align:right}
td.n{font-variant-numeric:tabular-nums}.soft{color:#5d656e;font-size:.9rem}
.row{display:flex;flex-wrap:wrap;gap:1rem 2rem}
.two{display:grid;grid-template-columns:repeat(2,max-content);gap:1rem 3rem}
figure{margin:0}figcaption{font-size:.85rem;color:#555}svg{max-width:100%;height:auto}
.yes{color:#26703a}.no{color:#a4372b;font-weight:600}svg text{font:11px system-ui,sans-serif;fill:#444}
"""


class Say(Protocol):
    """The page's words in one language."""

    def __call__(self, key: str, **values: Any) -> str: ...


@cache
def _words(lang: str) -> Any:
    return read_words(Path(__file__).parent)[lang]["quality"]


def write_quality(folder: Path, challenge: str, beside: Path | None = None) -> Path:
    """Measure a data folder and write ``quality.html`` into it, and beside it the same in Chinese.

    Parameters
    ----------
    beside : Path, optional
        Real recordings of the same contest, to tell the distance to them.
    """
    recording = open_recording(folder)
    found = measure(recording, challenge)
    apart = None if beside is None else distance(recording, open_recording(beside), challenge)
    for lang, name in PAGES.items():
        with wanted_file(folder / name) as path:
            path.write_text(quality_html(found, lang, apart), encoding="utf-8")
    return folder / PAGES["en"]


def quality_html(found: Quality, lang: str = "en", apart: Distance | None = None) -> str:
    """The whole page."""

    def say(key: str, **values: Any) -> str:
        return str(_words(lang).get(key, key)).format(**values)  # channels are called by their names

    other = next(one for one in PAGES if one != lang)
    outside = sum(not item.inside for item in found.measures)
    verdict = say("some_outside", n=outside, m=len(found.measures)) if outside else say("all_inside")
    parts = [f'<p class="soft"><a href="{PAGES[other]}">{LANGUAGES[other]}</a></p>']
    parts += [f"<h1>{found.challenge}: {say('title')}</h1>"]
    parts += [f'<p class="soft">{say("intro", verdict=verdict)}</p>', _table(found, say)]
    parts += [_beside(apart, say, round(found.look.top_hz))] if apart is not None else []
    parts += [f"<h2>{say('example')}</h2>", _traces(found, say)]
    parts += [f"<h2>{say('spectra')}</h2>", _spectra(found, say, apart.spectra if apart else {})]
    if found.maps:
        maps = [_map(found, title, values, say) for title, values in found.maps.items()]
        parts.append(f'<h2>{say("maps")}</h2><div class="row">{"".join(maps)}</div>')
        dead = any(not np.isfinite(values).all() for values in found.maps.values())
        grey = f" {say('maps_grey')}" if dead else ""
        parts.append(f'<p class="soft">{say("maps_average")}{grey}</p>')
    if found.erd:
        changes = "".join(_erd(say(title), change) for title, change in found.erd.items())
        parts.append(f'<h2>{say("erd")}</h2><div class="two">{changes}</div>')
        scale = say("scale_signed", full=ERD_FULL, unit="%")
        parts.append(f'<p class="soft">{say("erd_note")} {scale}</p>')
    if found.snr_db:
        parts.append(f"<h2>{say('harmonics')}</h2>{_bars(found, say)}")
    head = (
        f'<!doctype html><html lang="{lang}"><meta charset="utf-8"><title>{found.challenge}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style><main>'
    )
    return head + "".join(parts) + "</main></html>"


def _table(found: Quality, say: Say) -> str:
    lines = []
    for item in found.measures:
        mark = "inside" if item.inside else "outside"
        shown = f'<span class="{"yes" if item.inside else "no"}">{say(mark)}</span>'
        name = html.escape(say(item.name, top=round(found.look.top_hz)))
        lines.append(
            f'<tr><td>{name}</td><td class="n">{item.value:.3g} {item.unit}</td>'
            f'<td class="n">{say("range", low=item.low, high=item.high)}</td><td>{shown}</td>'
            f"<td>{html.escape(say(item.source))}</td></tr>"
        )
    named = [say(word) for word in ("measure", "here", "people", "source")]
    head = '<tr><th>{}</th><th class="n">{}</th><th class="n">{}</th><td></td><th>{}</th></tr>'.format(*named)
    return f"<table>{head}{''.join(lines)}</table>"


def _beside(apart: Distance, say: Say, top: int) -> str:
    """The same statistics of people simulated and recorded, largest distance first."""
    lines = []
    for row in sorted(apart.statistics, key=lambda one: -one.distance):
        words = row.name.split()  # a key with {top}, or a place and a band, or a kind and a pipeline
        name = say(row.name, top=top) if len(words) == 1 else " ".join(say(word) for word in words)
        sides = "".join(f'<td class="n">{v.mean():.3g} ± {v.std(ddof=1):.2g}</td>' for v in (row.made, row.real))
        lines.append(f'<tr><td>{html.escape(name)}</td>{sides}<td class="n">{row.distance:.1f}</td></tr>')
    named = [say(word) for word in ("statistic", "simulated", "recorded", "distance")]
    head = '<tr><th>{}</th><th class="n">{}</th><th class="n">{}</th><th class="n">{}</th></tr>'.format(*named)
    made, real = apart.people
    told = say("beside_note", whole=apart.whole, chance=apart.by_chance, made=made, real=real)
    return f"<h2>{say('beside')}</h2><p>{told}</p><table>{head}{''.join(lines)}</table>"


def _svg(wide: float, tall: float, body: str, title: str, scale: float = 1.0) -> str:
    name = html.escape(title, quote=True)
    size = f'width="{wide * scale:g}" height="{tall * scale:g}"'
    return f'<svg viewBox="0 0 {wide:g} {tall:g}" {size} role="img" aria-label="{name}">{body}</svg>'


def _traces(found: Quality, say: Say) -> str:
    names, waves = found.traces
    step, left, wide = 52, 50, 960
    seconds = waves.shape[1] / found.rate
    tall = step * len(names)
    lines = []
    for second in range(int(seconds) + 1):
        x = left + (wide - left) * second / seconds
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{tall}" stroke="#eee"/>')
        lines.append(f'<text x="{min(x, wide - 18):.1f}" y="{tall + 14}">{second} s</text>')
    for row, (name, wave) in enumerate(zip(names, waves, strict=True)):
        thin = wave[:: max(1, len(wave) // 1800)]
        full = 1200.0 if name == "ECG" else 100.0  # microvolts that fill a row
        x = np.linspace(left, wide, len(thin))
        middle = step * (row + 0.5)
        y = np.clip(middle - thin / full * step, middle - 0.75 * step, middle + 0.75 * step)
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        dead = "" if wave.any() else ' <tspan fill="#b03020">' + say("dead") + "</tspan>"
        lines.append(f'<text x="2" y="{middle + 4:.0f}">{name}{dead}</text>')
        lines.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-width="0.8"/>')
    note = say("traces_note", hz=TRACE_HZ, heart=say("traces_heart") if "ECG" in names else "")
    drawn = _svg(wide, tall + 18, "".join(lines), say("traces", s=seconds, names=", ".join(names)))
    return f"<figure>{drawn}<figcaption>{note}</figcaption></figure>"


def _spectra(found: Quality, say: Say, real: dict[str, tuple[Array, Array]]) -> str:
    wide, tall, left, base = 720, 330, 50, 290
    top_hz = 50.0 if found.look.state is not None else min(100.0, 0.4 * found.rate)
    curves = {
        name: (hz[kept], power[kept])
        for name, (hz, power) in found.spectra.items()
        if (kept := (hz >= 1) & (hz <= top_hz) & (power > 0)).any()
    }
    values = np.concatenate([power for _, power in curves.values()])
    low, high = np.floor(np.log10(max(values.min(), 1e-3))), np.ceil(np.log10(values.max()))

    def x(hz: Array) -> Array:
        at: Array = left + (wide - left - 20) * np.log(hz) / np.log(top_hz)
        return at

    def y(power: Array) -> Array:
        at: Array = base - (base - 10) * np.clip((np.log10(power) - low) / (high - low), 0, 1)
        return at

    lines = []
    for decade in np.arange(low, high + 1):
        at = float(y(np.array(10.0**decade)))
        lines.append(f'<line x1="{left}" x2="{wide - 20}" y1="{at:.1f}" y2="{at:.1f}" stroke="#eee"/>')
        lines.append(f'<text x="4" y="{at + 4:.1f}">{10.0**decade:g}</text>')
    for tick in (1, 2, 4, 8, 13, 20, 30, 50, 80):
        if tick <= top_hz:
            at = float(x(np.array(float(tick))))
            lines.append(f'<text x="{at - 6:.1f}" y="{base + 16}">{tick}</text>')
            lines.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="10" y2="{base}" stroke="#f3f3f3"/>')
    for index, (name, (hz, power)) in enumerate(curves.items()):
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(hz), y(power), strict=True))
        colour = COLOURS[index % len(COLOURS)]
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        label = html.escape(say(name))
        if name in real:
            shown = (real[name][0] >= 1) & (real[name][0] <= top_hz) & (real[name][1] > 0)
            hz, power = real[name][0][shown], real[name][1][shown]
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(hz), y(power), strict=True))
            lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-dasharray="4 3"/>')
            label += f" ({html.escape(say('dashed'))})"
        lines.append(f'<text x="{wide - 210}" y="{24 + 16 * index}" style="fill:{colour}">{label}</text>')
    lines.append(f'<text x="{wide - 45}" y="{base + 30}">Hz</text><text x="4" y="{base + 30}">uV²/Hz</text>')
    return _svg(wide, tall, "".join(lines), f"{say('spectra')}: {', '.join(map(say, curves))}")


def _flat(names: tuple[str, ...]) -> Array:
    """Places on a head seen from above, shape (electrodes, 2): the rim is the equator."""
    places = electrodes(names)
    angle = np.arccos(np.clip(places[:, 2], -1, 1)) / (np.pi / 2)
    flat: Array = places[:, :2] / np.maximum(np.linalg.norm(places[:, :2], axis=1, keepdims=True), 1e-9)
    return flat * np.minimum(angle, 1.18)[:, None] * 0.84


def _map(found: Quality, title: str, values: Array, say: Say) -> str:
    """A head seen from above, interpolated between the electrodes that recorded something."""
    flat = _flat(tuple(found.channels[row] for row in found.scalp))
    alive = np.isfinite(values)
    own = values[alive]
    grid = np.linspace(-1.0, 1.0, 96)
    points = np.array([(a, b) for b in grid[::-1] for a in grid])
    gap = np.sum((points[:, None] - flat[None, alive]) ** 2, axis=2)
    weight = np.exp(-gap / 0.018) + 1e-6 / (gap + 0.02) ** 2  # near an electrode its own, far away a mixture
    image = ((weight @ own) / weight.sum(axis=1)).reshape(96, 96)
    inside = (np.linalg.norm(points, axis=1) <= 1.0).reshape(96, 96)
    signed = title == LATERAL
    low, high = (-np.abs(own).max(), np.abs(own).max()) if signed else (float(own.min()), float(own.max()))
    share = (image - low) / max(high - low, 1e-9)
    picture = _png(_colour(share if signed else 0.5 + 0.5 * share, inside))
    x, y = 115 + 100 * flat[:, 0], 120 - 100 * flat[:, 1]
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{1.4 if here else 3:g}" fill="{"#222" if here else "#999"}"/>'
        for a, b, here in zip(x, y, alive, strict=True)
    )
    outline = (
        '<path d="M104 22 L115 6 L126 22" fill="#fff" stroke="#444"/>'
        '<path d="M15 105 q-9 15 0 30 M215 105 q9 15 0 30" fill="none" stroke="#444"/>'
    )
    rim = '<circle cx="115" cy="120" r="100" fill="none" stroke="#444"/>'
    body = f'{outline}<image href="{picture}" x="15" y="20" width="200" height="200"/>{rim}{dots}'
    scale = say("scale_signed", full=high, unit="dB") if signed else say("scale", low=low, high=high)
    caption = f"{html.escape(say(title))}<br>{scale}"
    return f"<figure>{_svg(230, 226, body, say(title))}<figcaption>{caption}</figcaption></figure>"


def _erd(title: str, change: Array) -> str:
    picture = _png(_colour(change[::-1] / (2 * ERD_FULL) + 0.5, np.ones(change.shape, dtype=bool)))
    wide, tall, left = 400, 190, 30
    span_s, first_hz, last_hz = ERD_S[1] - ERD_S[0], ERD_HZ[0], ERD_HZ[-1]
    zero = left + (wide - left) * -ERD_S[0] / span_s
    body = (
        f'<image href="{picture}" x="{left}" y="0" width="{wide - left}" height="{tall}" preserveAspectRatio="none"/>'
    )
    body += f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{tall}" stroke="#000"/>'
    for second in range(int(ERD_S[0]), int(ERD_S[1]) + 1):
        at = left + (wide - left) * (second - ERD_S[0]) / span_s
        body += f'<text x="{min(at - 3, wide - 18):.0f}" y="{tall + 14}">{second}{" s" * (second == ERD_S[1])}</text>'
    for hz in (10, 20, 30):
        body += f'<text x="2" y="{tall - tall * (hz - first_hz) / (last_hz - first_hz) + 4:.0f}">{hz}</text>'
    body += '<text x="2" y="10">Hz</text>'
    return f"<figure>{_svg(wide, tall + 20, body, title)}<figcaption>{html.escape(title)}</figcaption></figure>"


def _bars(found: Quality, say: Say) -> str:
    top = max(5.0, *found.snr_db.values())
    parts = ['<line x1="30" x2="320" y1="160" y2="160" stroke="#999"/>']
    for index, (harmonic, value) in enumerate(found.snr_db.items()):
        size = max(0.0, value) * 130 / top
        x = 40 + 70 * index
        parts.append(f'<rect x="{x}" y="{160 - size:.1f}" width="45" height="{size:.1f}" fill="{COLOURS[0]}"/>')
        parts.append(
            f'<text x="{x}" y="{152 - size:.1f}">{value:.1f} dB</text><text x="{x + 14}" y="176">{harmonic}f</text>'
        )
    told = ", ".join(f"{harmonic}f {value:.1f} dB" for harmonic, value in found.snr_db.items())
    return f"<figure>{_svg(330, 185, ''.join(parts), told)}<figcaption>{say('harmonics_note')}</figcaption></figure>"


def _colour(share: Array, shown: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Blue over white to red for 0 to 1, shape (rows, columns, 4)."""
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
