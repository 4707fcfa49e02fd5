"""A session of a plan with the package of a finalist."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bciarena.errors import BadInput
from bciarena.service.models import Version
from bciarena.service.site import Site


def played(
    site: Site, version: Version, path: Path, name: str, virtual: bool, host: str, port: int,
    stop: threading.Event, say: Callable[[str], None],
) -> tuple[Path, Path]:  # fmt: skip
    """Play the session in a folder of that name; returns the run folder and the recordings."""
    from bciarena.session.plan import read_plan
    from bciarena.session.running import run_session

    plan = read_plan(path)
    if len(plan.parts) != 1 or plan.parts[0].entry:
        raise BadInput(f"{path}: for a final, name one [[part]] and no entry: the team's package is it")
    if version.about.get("entry"):
        raise BadInput(f"{version.filename}: names its class only on the site; have the team put it into config.toml")
    reference = version.package.startswith("@")
    if plan.sandbox != "bwrap" and not reference:
        raise BadInput(f'{path}: sandbox = "{plan.sandbox}": the package of a team plays in a box only; leave it out')
    package = version.package if reference else str(site.storage.fetch(version.package))
    model = site.storage.fetch(version.model) if version.model else None
    part = replace(plan.parts[0], entry=package, model=model)
    own = replace(plan, parts=(part,), out=plan.out / name)
    run_session(own, virtual=virtual, host=host, port=port, stop=stop, say=say)
    return own.out / "runs" / part.split, own.out / "data" / part.split
