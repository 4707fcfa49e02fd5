"""The command line: one small file per verb, found by its name.

A verb's file has a function ``main`` (annotated for typer, its docstring is the help) or, for a group of verbs, an
``app``. Heavy imports belong inside the functions, so that help comes at once.
"""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import re
import sys
import traceback
from typing import Annotated

import typer

from bciarena.errors import BadInput, EntryFailed, Fault
from bciarena.plaintext import clean

PASSWORD_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]+@")
DONE, ENTRY_FAILED, WRONG_USE, OUR_FAULT = 0, 1, 2, 3
MENDED_BY_USER = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENAMETOOLONG}
"""Problems of the machine that one line explains: a full or read-only disk, permissions, names."""


def build() -> typer.Typer:
    """The whole command tree."""
    app = typer.Typer(
        name="arena",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_top)
    for item in pkgutil.iter_modules(__path__):
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
        import bciarena

        print(f"arena {bciarena.__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Plays EEG recordings to decoding algorithms and scores them by contest rules."""


def run(arguments: list[str] | None = None) -> None:
    """Entry point: every error ends as one clear line and its exit code."""
    sys.exit(main(arguments))


def refuse_secrets(arguments: list[str]) -> None:
    """No password in a URL on the command line: every user of the machine can read those."""
    for text in arguments:
        if PASSWORD_IN_URL.search(text):
            raise BadInput(
                f"{PASSWORD_IN_URL.sub(r'://…@', text)}: a password on the command line can be read by everybody here; "
                "give the URL in ARENA_DATABASE or ARENA_STORAGE, or the password in a file (~/.pgpass, PGPASSFILE)"
            )


def main(arguments: list[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    try:
        refuse_secrets(sys.argv[1:] if arguments is None else arguments)
        result = build()(args=arguments, prog_name="arena", standalone_mode=False)
        return result if isinstance(result, int) else DONE
    except typer.Exit as leave:
        return int(leave.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("arena: stopped", file=sys.stderr)
        return 130
    except BadInput as error:
        print(f"arena: {clean(str(error))}", file=sys.stderr)
        return WRONG_USE
    except EntryFailed as error:
        print(f"arena: {clean(str(error))}", file=sys.stderr)
        return ENTRY_FAILED
    except Fault as error:
        print(f"arena: our fault: {clean(str(error))}", file=sys.stderr)
        return OUR_FAULT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads our output any more
        return DONE
    except Exception as error:
        # The type of a usage error differs between versions of typer and click; all of them have this method.
        if hasattr(error, "format_message"):
            print(f"arena: {clean(error.format_message())} (see arena --help)", file=sys.stderr)
            return WRONG_USE
        if os.environ.get("ARENA_DEBUG"):
            traceback.print_exc()
        if words := _theirs(error, (sys.argv[1:] if arguments is None else arguments)[:1]):
            print(f"arena: {clean(words)}", file=sys.stderr)
            return WRONG_USE
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(
            f"arena: our fault: {type(error).__name__}: {clean(str(error))} ({where.name}, line {where.lineno}); "
            "set ARENA_DEBUG=1 for the traceback",
            file=sys.stderr,
        )
        return OUR_FAULT


def _theirs(error: Exception, verb: list[str]) -> str:
    """What the user can fix, in words; empty for our own bugs."""
    if isinstance(error, OSError) and error.errno in MENDED_BY_USER:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}; make room or choose another place, and try again"
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing and missing.split(".")[0] != "bciarena":
        from importlib.metadata import metadata, requires

        from bciarena.entries.requirements import libraries

        package = libraries()["modules"].get(missing.split(".")[0], missing.split(".")[0].replace("_", "-"))
        own = [line for line in requires("bciarena") or [] if line.lower().startswith(package.lower())]
        extras = [found[1] for line in own if (found := re.search(r"extra == ['\"]([\w-]+)", line))]
        whole = set(verb) & set(metadata("bciarena").get_all("Provides-Extra") or [])  # named as the verb: brings all
        extra = next(iter([*whole, *extras]), None)
        return f"this needs {package}, which is not installed: pip install " + (
            f"'bciarena[{extra}]'" if extra else package
        )
    return ""
