"""``arena live check``: the signal on a page before a session and beside it, or in a few lines of text."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.contests.rulebook import Rulebook
from bciarena.live.amplifier import Wiring
from bciarena.live.signal import LOOK_S, Watch
from bciarena.live.streams import LiveIn
from bciarena.recording.montages import NOT_SCALP
from bciarena.simulator.head import electrodes
from bciarena.words import read_words

HERE = Path(__file__).parent
POLICY = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'"
WAIT_S = 30.0


def watched(
    book: Rulebook, name: str, wiring: Wiring, mains_hz: float, stop: threading.Event, say: Callable[[str], None]
) -> tuple[LiveIn, Watch, threading.Thread]:
    """A stream that is being looked at, from a thread of its own."""
    watch = Watch(book, mains_hz)

    def tell(text: str) -> None:
        watch.note(text)
        say(text)

    source = LiveIn(name, book, wiring, tell=tell, mark=watch.mark, hold_s=0.0)
    watch.absent = source.amplifier.absent

    def run() -> None:
        while not stop.is_set():
            watch.add(source.read()[0])
            watch.ohms = source.amplifier.ohms
        source.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return source, watch, thread


def checked_once(watch: Watch, stop: threading.Event) -> dict[str, Any]:
    """What can be said after the first seconds."""
    until = time.monotonic() + WAIT_S
    while not watch.ready and not stop.wait(0.05) and time.monotonic() < until:
        pass
    return told(watch)


def told(watch: Watch) -> dict[str, Any]:
    """The signal's quality as plain values."""
    if not watch.ready:
        return {"fit": False, "waiting": True, "channels": [], "bridged": [], "ohms": {}, "notes": watch.notes}
    found = watch.quality()
    rows = [
        {"name": name, "spread_uv": round(float(spread), 2), "mains_uv": round(float(mains), 2), "faults": faults}
        for name, spread, mains, faults in zip(
            watch.book.channels, found.spread_uv, found.mains_uv, found.faults, strict=True
        )
    ]
    ohms = {name: round(value) for name, value in watch.ohms.items() if np.isfinite(value)}
    about = {"bridged": found.bridged, "ohms": ohms, "notes": watch.notes}
    return {"fit": found.fit, "waiting": False, "channels": rows, **about}


def places(book: Rulebook) -> dict[str, tuple[float, float]]:
    """Where electrodes lie on a disc seen from above, nose up, the head's rim at 1."""
    names = tuple(name for name in book.channels if name not in NOT_SCALP)
    found = {}
    for name, (x, y, z) in zip(names, electrodes(names), strict=True):
        flat = hypot(x, y)
        away = np.arctan2(flat, z) / (np.pi / 2)  # from the crown; the rim is at the ears
        found[name] = (round(away * x / flat, 4), round(away * y / flat, 4)) if flat > 1e-9 else (0.0, 0.0)
    return found


def make_check(watch: Watch, described: str) -> Any:
    """The page's server."""
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse
    from fastapi.staticfiles import StaticFiles
    from jinja2 import Environment, FileSystemLoader

    app = FastAPI(title="BCI Arena signal check", openapi_url=None)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    page = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True).get_template("check.html")
    words = {language: tables["check"] for language, tables in read_words(HERE).items()}

    @app.get("/")
    def root(lang: str = "en") -> HTMLResponse:
        language = lang if lang in words else "en"
        other = next(code for code in words if code != language)
        text = page.render(t=words[language], language=language, other=other, about=described, look_s=f"{LOOK_S:g}")
        return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})

    @app.get("/signal.json")
    def signal(
        low: float = 1.0, high: float = 40.0, notch: bool = True, reference: str = "", lang: str = "en"
    ) -> dict[str, Any]:
        low, high = min(max(low, 0.0), 30.0), min(max(high, 0.0), 1000.0)
        shown = watch.traces(low, high, notch, reference[:20])
        return told(watch) | {"traces": shown.round(1).tolist(), "places": spots, "words": words.get(lang, words["en"])}

    spots = places(watch.book)
    return app
