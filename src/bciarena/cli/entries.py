"""arena entries: our own reference entries."""

from bciarena.cli._options import AsJson
from bciarena.cli._say import give, say


def main(as_json: AsJson = False) -> None:
    """List the reference entries that every command takes by name."""
    from bciarena.entries.reference import references

    known = references()
    if as_json:
        rows = [
            {"name": item.name, "challenge": item.challenge, "needs_model": item.needs_model, "about": item.about}
            for item in known
        ]
        give(rows)
        return
    for item in known:
        need = "train first" if item.needs_model else "no training"
        say(f"{item.name:<19} {item.challenge:<9} {need:<12} {item.about}")
