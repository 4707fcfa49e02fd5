"""The command line: one small file per verb, found by its name.

A verb's file has a function ``main`` (annotated for typer, its docstring is the help) or, for a group of verbs, an
``app``. Heavy imports belong inside the functions, so that help comes at once, and so that Ctrl-C is ours as early as
possible: this file imports nothing that takes time.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from bciarena.errors import ArenaError, BadInput, EntryFailed, Fault

if TYPE_CHECKING:
    import typer

PASSWORD_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]+@")
DONE, ENTRY_FAILED, WRONG_USE, OUR_FAULT, STOPPED = 0, 1, 2, 3, 130
MENDED_BY_USER = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENAMETOOLONG}
"""Problems of the machine that one line explains: a full or read-only disk, permissions, names."""


LINUX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios"}
"""Python has them only there (and partly on macOS)."""


def build() -> typer.Typer:
    """The whole command tree."""
    from bciarena.cli._tree import build

    return build()


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
    words = sys.argv[1:] if arguments is None else arguments
    before = os.environ.get("ARENA_LANG")
    try:
        return _main(words)
    except KeyboardInterrupt:
        return _failed(STOPPED, "stopped", "stopped", words)
    finally:
        if before is None:
            os.environ.pop("ARENA_LANG", None)
        else:
            os.environ["ARENA_LANG"] = before


def _main(words: list[str]) -> int:
    import typer

    from bciarena import writing
    from bciarena.cli import _say, _tree

    _say.forget()
    writing.rehearse(False)
    try:
        refuse_secrets(words)
        _tree.choose_language(words)
        command = typer.main.get_command(build())
        result = command(
            args=words, prog_name="arena", standalone_mode=False, default_map=_tree.defaults(command, words)
        )
        for line in writing.rehearsed() or ():
            _say.say(line, err="--json" in words)
        return result if isinstance(result, int) else DONE
    except typer.Exit as leave:
        return int(leave.exit_code)
    except typer.Abort:
        return _failed(STOPPED, "stopped", "stopped", words)
    except BadInput as error:
        return _failed(WRONG_USE, "bad_input", _text(error), words)
    except EntryFailed as error:
        return _failed(ENTRY_FAILED, "entry_failed", _text(error), words, verdict=error.verdict)
    except Fault as error:
        return _failed(OUR_FAULT, "our_fault", f"our fault: {error}", words)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads our output any more
        return DONE
    except Exception as error:
        return _unexpected(error, words)


def _text(error: ArenaError) -> str:
    """The sentence as it was raised: it may know itself in other languages."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def _failed(code: int, kind: str, message: str, words: list[str], **more: Any) -> int:
    """One line on stderr; with ``--json`` also the document on stdout, unless the command has printed its own."""
    from bciarena.cli._say import give, is_given, say
    from bciarena.words import shown

    say("arena: ", message, err=True)
    if "--json" in words and not is_given():
        give({"error": {"kind": kind, "message": shown(message), "exit_code": code, **more}})
    return code


def _unexpected(error: Exception, words: list[str]) -> int:
    import traceback

    # The type of a usage error differs between versions of typer and click; all of them have this method.
    if hasattr(error, "format_message"):
        return _failed(WRONG_USE, "bad_input", f"{error.format_message()} (see arena --help)", words)
    if os.environ.get("ARENA_DEBUG"):
        traceback.print_exc()
    if told := _theirs(error, words[:1]):
        return _failed(WRONG_USE, "bad_input", told, words)
    where = traceback.extract_tb(error.__traceback__)[-1]
    told = (
        f"our fault: {type(error).__name__}: {error} ({where.name}, line {where.lineno}); "
        "set ARENA_DEBUG=1 for the traceback"
    )
    return _failed(OUR_FAULT, "our_fault", told, words)


def _theirs(error: Exception, verb: list[str]) -> str:
    """What the user can fix, in words; empty for our own bugs."""
    if isinstance(error, OSError) and error.errno in MENDED_BY_USER:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}; make room or choose another place, and try again"
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing in LINUX_MODULES:
        return f"arena {' '.join(verb)} works on Linux only; docs/systems.md says what works here"
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
