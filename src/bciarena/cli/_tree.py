"""The command tree, the defaults it starts from, and the language it speaks."""

from __future__ import annotations

import importlib
import os
import pkgutil
from typing import Annotated, Any

import typer

import bciarena.cli
from bciarena.cli import _config
from bciarena.errors import BadInput
from bciarena.words import LANGUAGES, VARIABLE, reader_language, shown


def build() -> typer.Typer:
    """The whole command tree."""
    app = typer.Typer(
        name="arena",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_top)
    for item in pkgutil.iter_modules(bciarena.cli.__path__):
        if item.name.startswith("_"):
            continue
        module = importlib.import_module(f"bciarena.cli.{item.name}")
        verb = getattr(module, "NAME", item.name)
        if hasattr(module, "app"):
            app.add_typer(module.app, name=verb)
        else:
            app.command(name=verb)(module.main)
    return app


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"arena {bciarena.__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_say_version)
    ] = False,
    lang: Annotated[
        str | None,
        typer.Option("--lang", help="Speak en or zh. [default: ARENA_LANG, lang in arena config, or the locale]"),
    ] = None,
) -> None:
    """Plays EEG recordings to decoding algorithms and scores them by contest rules."""


def choose_language(words: list[str]) -> None:
    """Look for --lang before the command: errors of the command line itself are told in it, too."""
    for at, word in enumerate(words):
        if not word.startswith("-"):
            return
        name, _, value = word.partition("=")
        if name == "--lang":
            value = value or next(iter(words[at + 1 :]), "")
            if value not in LANGUAGES:
                raise BadInput(f"--lang {value}: choose one of {', '.join(LANGUAGES)}")
            os.environ[VARIABLE] = value
            return


def defaults(command: Any, words: list[str]) -> dict[str, Any]:
    """What the files of arena config say, for Click; help and completion come also where a file is wrong."""
    try:
        found = _config.read(command)
    except BadInput:
        if {"--help", "--version"} & set(words) or "_ARENA_COMPLETE" in os.environ:
            return {}
        raise
    if found.language and VARIABLE not in os.environ:
        os.environ[VARIABLE] = found.language
    if reader_language() != "en":
        _translate(command)
    return found.by_command


def _translate(command: Any) -> None:
    """Help in the reader's language, as far as the catalogue has it."""
    if command.help:
        command.help = shown(command.help)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = shown(parameter.help)
    for one in getattr(command, "commands", {}).values():
        _translate(one)
