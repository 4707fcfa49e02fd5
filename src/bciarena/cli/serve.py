"""arena serve: the contest site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli import _say


def main(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on. [default: 8000, or the next that is free]")
    ] = None,
    home: Annotated[Path | None, typer.Option(help="Folder of the site; default: ARENA_HOME or this user's.")] = None,
    database: Annotated[str | None, typer.Option(help="URL; default: SQLite in the site's folder.")] = None,
    storage: Annotated[str | None, typer.Option(help="Folder or fsspec URL; default: in the site's folder.")] = None,
    workers: Annotated[int | None, typer.Option(min=0, help="Runs at once here; 0: workers run elsewhere.")] = None,
    data_root: Annotated[
        list[Path] | None, typer.Option(help="Organisers may choose data folders below this; default: HOME/data.")
    ] = None,
    https: Annotated[bool, typer.Option("--https", help="Behind https: cookies are sent over https only.")] = False,
    proxy: Annotated[
        list[str] | None, typer.Option(help="Address or network of a proxy in front: its X-Forwarded-For is trusted.")
    ] = None,
    url: Annotated[str, typer.Option(help="The address people use, for links: https://arena.example")] = "",
    closed: Annotated[bool, typer.Option("--closed", help="No new accounts can be made.")] = False,
    upload_mb: Annotated[int, typer.Option(min=1, help="Largest upload.")] = 256,
    contest: Annotated[
        list[str] | None,
        typer.Option(help="A contest folder to host beside the known ones; may be given several times."),
    ] = None,
    team_gb: Annotated[float, typer.Option(min=0.1, help="Quota for the packages of a team, unpacked.")] = 20,
    demo: Annotated[
        bool, typer.Option("--demo", help="First build the demo contests in demo/ and play the reference entries.")
    ] = False,
) -> None:
    """Serve the contest site, with workers that play what is submitted."""
    import os

    from bciarena.errors import BadInput
    from bciarena.ports import free_port, refuse_busy_port
    from bciarena.processes import LINUX

    if not LINUX:
        raise BadInput("arena serve works on Linux only; docs/systems.md says what works here")
    try:
        import uvicorn

        from bciarena.service import children
        from bciarena.service.accounts import first_operator
        from bciarena.service.app import create_app
        from bciarena.service.settings import Settings, networks, public_url
        from bciarena.service.site import Site
    except ImportError as error:
        raise BadInput(f"the site needs {error.name}: pip install 'bciarena[site]'") from error
    from bciarena.contests import known
    from bciarena.sandbox import why_not

    def say(line: str) -> None:
        _say.say("arena: ", line, err=True)

    known(*(contest or ()))
    trouble = why_not()
    if trouble:
        say(f"entries cannot be boxed here: {trouble}")
        say("uploads are refused until then; reference entries run unboxed and are not ranked")
    settings = Settings.at(
        home or (Path("demo") if demo else None),
        database,
        storage,
        tuple(data_root or ()),
        boxed=trouble is None,
        https=https,
        proxies=networks(proxy or []),
        url=public_url(url),
        team_bytes=int(team_gb * 1e9),
        open_signup=not closed,
        upload_limit=upload_mb << 20,
    )
    if port is None:
        port = free_port(host, say)
    else:
        refuse_busy_port(host, port)
    if demo:  # of an older version: it can be made again, so nobody has to be asked
        from bciarena.database.db import upgrade

        upgrade(settings.database)
    site = Site(settings)
    with site.session(writes=True) as session:
        made = first_operator(session)
    if made:
        say(f"operator account made: name {made[0]}, {children.told_password(settings.home, made[1])}")
    slots = (os.cpu_count() or 1) if workers is None else workers
    if demo:
        from bciarena.demo import build

        build(site)
    with children.Children(children.commands(settings, slots), children.places(settings), say):
        say(f"http://{host}:{port} (Ctrl-C ends it)")
        # By default Uvicorn trusts X-Forwarded-For from 127.0.0.1, whoever wrote it; `address_of` reads it instead.
        uvicorn.run(
            create_app(settings, site),
            host=host,
            port=port,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
        )
