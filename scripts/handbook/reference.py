"""The reference pages, made from the code each time the handbook is built."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import tempfile
from pathlib import Path
from typing import Any


@functools.cache
def pages() -> dict[str, str]:
    """Markdown, and the files it links to, by place in the handbook."""
    from bciarena.runs import schema
    from bciarena.verdicts import verdict_table

    document = _openapi()
    run_schema = Path(schema.__file__).with_name("run.schema.json").read_text("utf-8")
    verdicts = (
        "# Verdicts\n\nHow a run can end, as far as the entry is responsible. A verdict is final and explained to the "
        "contestant; what goes wrong on our side is a *fault*, says nothing about the entry and is tried again. "
        "[Entries](../entries.md) says what leads to each, [clocks](../explain/clocks.md) what the budget is.\n\n"
    )
    return {
        "reference/commands.md": _commands(),
        "reference/verdicts.md": verdicts + verdict_table() + "\n",
        "reference/schemas.md": _schemas(json.loads(run_schema)),
        "reference/run.schema.json": run_schema,
        "reference/http.md": _http(document),
        "reference/openapi.json": json.dumps(document, indent=1, ensure_ascii=False),
        "reference/python.md": _python(),
    }


def _commands() -> str:
    """Every command with the help it prints."""
    import typer.main
    from typer.testing import CliRunner

    from bciarena.cli import build

    app = build()
    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})

    def told(*words: str) -> str:
        text = runner.invoke(app, [*words, "--help"], prog_name="arena").output
        return f"```text\n{text.strip()}\n```\n"

    parts = [
        "# Commands\n\nWhat `arena COMMAND --help` prints. Exit codes: 0 done; 1 the entry failed, with the reason; 2 "
        "wrong use or bad input, in one line; 3 a fault on our side.\n",
        told(),
    ]
    for name, command in sorted(typer.main.get_command(app).commands.items()):
        parts += [f"## arena {name}\n", told(name)]
        for part in sorted(getattr(command, "commands", {})):
            if part != "show":
                parts += [f"### arena {name} {part}\n", told(name, part)]
    return "\n".join(parts)


def _schemas(document: dict[str, Any]) -> str:
    parts = [
        "# JSON schemas\n\n"
        "[run.schema.json](run.schema.json) (installed as `bciarena/runs/run.schema.json`) describes every file of a "
        "run folder, or line of a `.jsonl` file, under `$defs`; [the files of a run](../runs.md) puts it in tables. "
        "[openapi.json](openapi.json) holds the schemas of the [HTTP API](http.md).\n"
    ]
    for name, schema in document["$defs"].items():
        parts += [f"## {name}\n", f"```json\n{json.dumps(schema, indent=1, ensure_ascii=False)}\n```\n"]
    return "\n".join(parts)


def _openapi() -> dict[str, Any]:
    """The document of a site that nobody runs."""
    from bciarena.service.app import create_app
    from bciarena.service.settings import Settings

    with tempfile.TemporaryDirectory() as home:
        app = create_app(Settings.at(Path(home), None, None, (), boxed=False))
        document = app.openapi()
        app.state.site.engine.dispose()
    return document


def _http(document: dict[str, Any]) -> str:
    parts = [
        "# HTTP API\n\n"
        "Made from [openapi.json](openapi.json), which every site also gives out at `/api/openapi.json`. A token of "
        "the account page goes into the header `Authorization: Bearer TOKEN` ([hosting](../hosting.md) says what its "
        "scope allows). Errors are JSON with `error` (a sentence) and `key`.\n"
    ]
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            parts.append(f"## {method.upper()} {path}\n")
            parts += [text + "\n" for text in (about.get("description") or about.get("summary"),) if text]
            rows = [
                f"| `{one['name']}` | {one['in']} | {_kind(one['schema'])} | {'yes' if one.get('required') else 'no'} |"
                for one in about.get("parameters", [])
            ]
            if rows:
                parts.append("\n".join(["| parameter | in | type | required |", "|---|---|---|---|", *rows]) + "\n")
            for kind, content in about.get("requestBody", {}).get("content", {}).items():
                parts.append(f"Body: `{kind}`{_shape(content.get('schema', {}))}\n")
            parts.append("Answers: " + ", ".join(about["responses"]) + "\n")
    parts.append("## Schemas {: #schemas }\n")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += [f"### {name}\n", f"```json\n{json.dumps(schema, indent=1, ensure_ascii=False)}\n```\n"]
    return "\n".join(parts)


def _kind(schema: dict[str, Any]) -> str:
    return schema.get("type") or " or ".join(part.get("type", "") for part in schema.get("anyOf", [])) or "any"


def _shape(schema: dict[str, Any]) -> str:
    name = schema.get("$ref", "").split("/")[-1]
    return f", [{name}](#{name.lower()})" if name else ""


def _python() -> str:
    parts = [
        "# Python API\n\n"
        "The public names, made from their docstrings: `bciarena` for scripts and notebooks ([from Python]"
        "(../python.md) shows them at work), `bciarena.decoders` for what goes into an entry.\n"
    ]
    for module in ("bciarena", "bciarena.decoders"):
        home = importlib.import_module(module)
        parts += [f"## {module}\n", _docstring(inspect.getdoc(home) or "")]
        for name in home.__all__:
            if not name.startswith("_"):
                parts += [f"### {name} {{: #{module}.{name} }}\n", _member(getattr(home, name), name)]
    return "\n".join(parts)


def _member(thing: Any, name: str) -> str:
    if not callable(thing) or not hasattr(thing, "__module__") or not hasattr(thing, "__name__"):
        kind = type(thing).__name__
        return (
            f"`{name}`: {kind} of {len(thing)}: " + ", ".join(f"`{key}`" for key in thing) + "\n"
            if isinstance(thing, dict)
            else f"```python\n{name} = {thing}\n```\n"
        )
    parts = [f"```python\n{_signature(thing, name)}\n```\n", _docstring(_own_doc(thing))]
    if inspect.isclass(thing):
        for key, member in vars(thing).items():
            if key.startswith("_") or not (
                callable(member) or isinstance(member, (property, classmethod, staticmethod))
            ):
                continue
            call = getattr(thing, key)
            shown = f".{key}" if isinstance(member, property) else _signature(call, f".{key}")
            parts += [f"```python\n{shown}\n```\n", _docstring(inspect.getdoc(member) or "")]
    return "\n".join(parts)


def _own_doc(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    return "" if text.startswith((f"{getattr(thing, '__name__', '')}(", "dict() ->")) else text


class _Plain(str):
    """An annotation that is shown without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _signature(thing: Any, name: str) -> str:
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    plain = {
        key: one.replace(annotation=_Plain(one.annotation) if isinstance(one.annotation, str) else one.annotation)
        for key, one in found.parameters.items()
    }
    back = found.return_annotation
    shown = found.replace(
        parameters=list(plain.values()), return_annotation=_Plain(back) if isinstance(back, str) else back
    )
    text = re.sub(r"<(?:object|function|class) [^>]*>", "...", str(shown))
    if len(text) < 90:
        return name + text
    lines = ",\n".join(f"    {re.sub(r'<(?:object|function|class) [^>]*>', '...', str(one))}" for one in plain.values())
    ending = text[text.rindex(")") :]
    return f"{name}(\n{lines},\n{ending}"


def _docstring(text: str) -> str:
    """A numpydoc docstring as Markdown: its sections become lists, its examples code."""
    text = re.sub(
        r"^(Parameters|Returns|Yields|Attributes|Raises|Notes|References|Examples)\n-+\n",
        r"**\1**\n\n",
        text,
        flags=re.M,
    )
    text = text.replace("``", "`")
    lines: list[str] = []
    example = False
    for line in text.split("\n"):
        if line.startswith(">>>") and not example:
            lines.append("```python")
            example = True
        elif example and not line.strip():
            lines.append("```")
            example = False
        if not example and (found := re.match(r"^(\*?\w[\w*, ]*) : (.+)$", line)):
            lines += ["", f"`{found[1]}` : {found[2]}", ""]
            continue
        lines.append(line if example else line.strip())
    return "\n".join([*lines, *(["```"] if example else [])]) + "\n"
