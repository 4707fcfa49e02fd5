"""arena bridge."""

from __future__ import annotations

from typing import Annotated

import typer

from bciarena.cli._say import say


def main(
    stream: Annotated[
        str, typer.Option(help="Name of the headset's LSL stream: codes go out beside it as NAME-codes.")
    ] = "bciarena",
    port: Annotated[int, typer.Option(help="Port of the bridge.")] = 8011,
    origin: Annotated[
        list[str] | None, typer.Option(help="A site whose pages may send codes, too, e.g. https://lab.example.org.")
    ] = None,
    allow_file: Annotated[
        bool, typer.Option("--allow-file", help="Pages opened as files may send codes, too.")
    ] = False,
) -> None:
    """Codes of experiments made with other software (jsPsych, lab.js, ...) as an LSL stream, at their frames' time."""
    import uvicorn

    from bciarena.cli.live import _say
    from bciarena.lab.bridge import bridge_app
    from bciarena.live.streams import CodesOut
    from bciarena.ports import refuse_busy_port

    refuse_busy_port("127.0.0.1", port)
    address = f"http://127.0.0.1:{port}"
    say(
        f'codes as {stream}-codes; in the page: <script src="{address}/bridge.js"></script>; example: {address}/example'
    )
    app = bridge_app(CodesOut(stream).push, _say, origin or (), files=allow_file)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
