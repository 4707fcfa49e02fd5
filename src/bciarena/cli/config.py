"""arena config: defaults and where they come from."""

from typing import Annotated, Any

import typer

from bciarena.cli._options import AsJson


def main(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]", help="All options of this command, e.g. run.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which defaults are set, and in which file; with a command's name, every option of it."""
    from typer.main import get_command

    from bciarena.cli import build
    from bciarena.cli._config import files, options_of, read
    from bciarena.cli._say import give, say
    from bciarena.errors import BadInput
    from bciarena.words import VARIABLE, reader_language

    tree = get_command(build())
    found = read(tree)
    rows = [
        {"command": words, "option": name, "value": value, "from": str(path)}
        for (words, name), (value, path) in found.sources.items()
    ]
    if command:
        at: Any = tree
        for word in command:
            if word not in getattr(at, "commands", {}):
                raise BadInput(f"{' '.join(command)}: there is no such command (arena --help lists them)")
            at = at.commands[word]
        words = " ".join(command)
        set_here = {row["option"]: row for row in rows if row["command"] == words}
        rows = [
            set_here.get(name, {"command": words, "option": name, "value": _built_in(option), "from": None})
            for name, option in options_of(at)
        ]
    read_here = [{"file": str(path), "exists": path.is_file()} for path in files()]
    if as_json:
        give({"files": read_here, "language": reader_language(), "defaults": rows})
        return
    for row in read_here:
        say(f"{row['file']}: read" if row["exists"] else f"{row['file']}: there is none")
    say(f"language {reader_language()} (--lang, {VARIABLE}, lang in a file, or the locale)")
    if not rows:
        say('nothing is set; a file may say, for example: [run] and below it clock = "data"')
    for row in rows:
        where = row["from"] or "built in"
        value = "-" if row["value"] is None else row["value"]
        say(f"arena {row['command']} --{row['option']:<14} {value!s:<20} {where}")


def _built_in(option: object) -> object:
    value = getattr(option, "default", None)
    value = value() if callable(value) else value
    return value if isinstance(value, str | int | float | bool | None) else str(value)
