"""Mutation testing: which changes of one place in the code does no test notice?

    python scripts/mutants.py [PATH ...] [--most N] [--seed N] [--list] [--tests PATH ...]

PATH is a file or folder of src/bciarena; without one, ROOMS. A mutant differs from the code in one place: an operator,
a constant, a word, a negated condition, a dropped statement. All tests are collected once. A mutant inside a function
is put into a forked copy of that process, where the tests that call the function run, shortest first, until one fails.
Code that runs while modules are imported is put into a process of its own. Survivors that CONTRIBUTING.md explains are
counted as equal; any other is shown, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.util
import inspect
import math
import os
import pickle
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings

TREE = Path(__file__).resolve().parents[1]
SOURCE = TREE / "src" / "bciarena"
PAGE = TREE / "CONTRIBUTING.md"
ROOMS = ["referee/*.py", "stream/*.py", "match.py", "contests/*.py", "contests/*/rules.py", "contests/*/score.py"]
TESTS = [
    "tests/contests/test_rulebooks.py",
    "tests/contests/test_scoring.py",
    "tests/contests/test_kept.py",
    "tests/referee",
    "tests/stream",
]
CPU_S, WALL_S = 10, 900
"""A mutant that computes longer than this, and than three times what its tests take, counts as noticed."""

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Pow: ast.Mult,
    ast.USub: ast.UAdd,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Continue, ast.Break)
QUIET = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning", "--no-header", "--no-summary"]
NO_RULE = ("__all__", "RULINGS", "T")


class Mutant(NamedTuple):
    """One change, and where it is: ``where`` is the function's qualified name, or empty."""

    path: Path
    number: int
    line: int
    where: str
    change: str
    code: CodeType

    @property
    def key(self) -> tuple[str, str, str]:
        return self.path.relative_to(SOURCE).as_posix(), self.where, self.change


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file, always in the same order."""
    tree = ast.parse(path.read_text("utf-8"))
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module) or _left_alone(node, above):
            continue
        for owner, name, new in _edits(node):
            old = owner[name] if isinstance(owner, list) else getattr(owner, name)
            shown = old if isinstance(old, ast.stmt) else _shown(node, above)
            before = _text(shown)
            _put(owner, name, new)
            after = "pass" if isinstance(old, ast.stmt) else _text(shown)
            change = " → ".join(_difference(before, after))
            code = compile(ast.fix_missing_locations(tree), str(path), "exec")
            _put(owner, name, old)
            found.append(Mutant(path, len(found), shown.lineno, _where(shown, above), change, code))
    return found


def _put(owner: Any, name: Any, value: Any) -> None:
    if isinstance(owner, list):
        owner[name] = value
    else:
        setattr(owner, name, value)


def _edits(node: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Changes of a node: what holds the changed thing, its name or place there, and what it becomes."""
    if isinstance(node, ast.Compare):
        yield from ((node.ops, place, SWAPS[type(op)]()) for place, op in enumerate(node.ops))
    elif type(getattr(node, "op", None)) in SWAPS:
        yield node, "op", SWAPS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, "operand", ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, "value", not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node, "value", node.value + 1
        yield node, "value", node.value - 1
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"\w*", node.value):
        yield node, "value", node.value + "_"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
        yield node.func, "id", NAMES[node.func.id]
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield node, "value", ast.Constant(None)
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not _negated_by_itself(node.test):
        yield node, "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            if not _negated_by_itself(test):
                yield node.ifs, place, ast.UnaryOp(ast.Not(), test)
    for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
        for place, statement in enumerate(body if isinstance(body, list) else ()):
            if isinstance(statement, DROPPED) and not _is_text(statement):
                yield body, place, ast.Pass()


def _negated_by_itself(test: Any) -> bool:
    """Whether a change of the condition's own operator negates it already."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _left_alone(node: Any, above: dict[ast.AST, Any]) -> bool:
    """Texts, annotations, what refusals say, and what only type checkers read."""
    while (owner := above.get(node)) is not None:
        if _is_text(owner) or isinstance(owner, ast.Raise | ast.arg):
            return True
        if node is getattr(owner, "annotation", None) or node is getattr(owner, "returns", None):
            return True
        if isinstance(owner, ast.If) and ast.unparse(owner.test) == "TYPE_CHECKING":
            return True
        if isinstance(owner, ast.Assign) and ast.unparse(owner.targets[0]) in NO_RULE:
            return True
        if isinstance(owner, ast.Subscript) and ast.unparse(owner.value) == "Literal":
            return True
        node = owner
    return False


def _shown(node: Any, above: dict[ast.AST, Any]) -> Any:
    """The node, or what is around it where alone it would say nothing."""
    while not hasattr(node, "lineno") or isinstance(node, ast.Constant | ast.Slice | ast.UnaryOp | ast.keyword):
        node = above[node]
    return node


def _text(node: ast.AST) -> str:
    """A node in one line; of a statement that holds others, its head."""
    lines = [line for line in ast.unparse(node).splitlines() if not line.startswith("@")]
    return lines[0] if hasattr(node, "body") and isinstance(node, ast.stmt) else " ".join(" ".join(lines).split())


def _difference(before: str, after: str) -> tuple[str, str]:
    """Two texts; of long ones what differs, with a little around it."""
    if max(len(before), len(after)) <= 80:
        return before, after
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    start = max(0, head - 30)
    return before[start : len(before) - tail + 15], after[start : len(after) - tail + 15]


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _where(node: Any, above: dict[ast.AST, Any]) -> str:
    names: list[str] = []
    while (owner := above.get(node)) is not None:
        if isinstance(owner, ast.ClassDef) or (isinstance(owner, ast.FunctionDef) and node in owner.body):
            names.insert(0, owner.name)
        node = owner
    return ".".join(names)


def function_of(mutant: Mutant) -> tuple[Any, CodeType] | None:
    """The live function that a mutant is in, and the code it would have; None for code that runs on import."""
    name = "bciarena." + ".".join(mutant.path.relative_to(SOURCE).with_suffix("").parts)
    found: Any = importlib.import_module(name.removesuffix(".__init__"))
    code: CodeType | None = mutant.code
    for part in mutant.where.split("."):
        found = inspect.getattr_static(found, part, None)
        code = next((one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == part), None)
        for inner in ("fget", "func", "__func__", "__wrapped__"):
            found = getattr(found, inner, found) if not isinstance(found, type) else found
        if code is None or found is None:
            return None
        if inspect.isfunction(found):  # what is nested in it comes along
            return found, code
    return None


class Calls:
    """Notes which functions of our package are called between start and stop."""

    def __init__(self) -> None:
        self.seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self.seen.add(frame.f_code)

    def __enter__(self) -> Calls:
        threading.setprofile(self)
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def names(self) -> set[tuple[str, str]]:
        return {(code.co_filename, code.co_qualname) for code in self.seen if code.co_filename.startswith(str(SOURCE))}


class Runner:
    """A pytest plugin that runs mutants in place of the tests' usual round."""

    def __init__(self, mutants: list[Mutant], on_import: set[tuple[str, str]], tests: list[str]) -> None:
        self.mutants, self.on_import, self.tests = mutants, on_import, tests
        self.failed = False
        self.fate: dict[Mutant, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def _passes(self, item: pytest.Item) -> bool:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def _forked(self, run: Any, cpu_s: float) -> int:
        """The exit code of a copy of this process that runs a function; negative where it had to be ended."""
        sys.stdout.flush()
        child = os.fork()
        if not child:
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 1)
                os.dup2(quiet, 2)
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu_s), math.ceil(cpu_s) + 1))
                os._exit(run())
            finally:
                os._exit(3)
        until = time.monotonic() + WALL_S
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > until:
                os.kill(child, 9)
            time.sleep(0.01)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "calls"

            def baseline() -> int:
                called: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
                for index, item in enumerate(session.items):
                    start = time.process_time()
                    with Calls() as calls:
                        if not self._passes(item):
                            kept.write_bytes(pickle.dumps(item.nodeid))
                            return 1
                    for name in calls.names():
                        called[name].append((time.process_time() - start, index))
                kept.write_bytes(pickle.dumps(dict(called)))
                return 0

            if self._forked(baseline, 3600):
                raise pytest.UsageError(f"fails without any mutant: {pickle.loads(kept.read_bytes())}")
            called = pickle.loads(kept.read_bytes())
        start = time.monotonic()
        for count, mutant in enumerate(self.mutants, 1):
            self.fate[mutant] = self._fate(mutant, called, session.items)
            if sys.stderr.isatty() or count % 100 == 0:
                print(f"{count} of {len(self.mutants)}, {time.monotonic() - start:.0f} s", file=sys.stderr)
            if self.fate[mutant] != "killed":
                at = f"{mutant.key[0]}:{mutant.line} {mutant.where}"
                print(f"  {self.fate[mutant]:<9} {at}: {mutant.change}", flush=True)
        return True

    def _fate(self, mutant: Mutant, called: dict[tuple[str, str], list[tuple[float, int]]], items: Any) -> str:
        """ "killed", "survived", or "unseen" where no test calls the function."""
        live = function_of(mutant) if mutant.where else None
        name = (str(mutant.path), live[0].__code__.co_qualname) if live else None
        tests = sorted(called.get(name, ())) if name else []
        if live and tests:
            function, code = live

            def run() -> int:
                function.__code__ = code
                return 0 if all(self._passes(items[index]) for _, index in tests) else 1

            if self._forked(run, CPU_S + 3 * sum(took for took, _ in tests)):
                return "killed"
        if live is None or name in self.on_import:
            command = [sys.executable, __file__, "--inside", str(mutant.path), str(mutant.number), *self.tests]
            return "killed" if self._forked(lambda: subprocess.call(command), 300) else "survived"
        return "survived" if tests else "unseen"


class Planted(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports one module as the mutant has it."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                if spec.origin == str(self.mutant.path):
                    spec.loader = self
                return spec
        return None

    def get_source(self, _: str) -> str:
        return self.mutant.path.read_text("utf-8")

    def get_code(self, _: str) -> CodeType:
        return self.mutant.code


def explained() -> set[tuple[str, str, str]]:
    """File, function and change of every mutant that the page says is equal."""
    rows = re.findall(r"^\| `(.+?)` \| `(.*?)` \| `(.+)` \| .+ \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {(file, where, change.replace(r"\|", "|")) for file, where, change in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=ROOMS)
    parser.add_argument("--most", type=int, help="draw so many of the mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument("--tests", nargs="+", default=TESTS)
    given = parser.parse_args()
    files = [file for path in given.paths for file in sorted(SOURCE.glob(path))]
    mutants = [mutant for file in files for mutant in mutants_of(file)]
    whole = len(mutants)
    if given.most and given.most < whole:
        mutants = sorted(random.Random(given.seed).sample(mutants, given.most), key=lambda one: one.key[0])
    if given.list:
        for one in mutants:
            print(f"{one.key[0]}:{one.line} {one.where}: {one.change}")
        return 0
    os.chdir(TREE)
    with Calls() as calls:
        importlib.import_module("bciarena.contests")
    settings.register_profile("mutants", derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")
    runner = Runner(mutants, calls.names(), given.tests)
    ended = pytest.main(["-qqs", *QUIET, *given.tests], plugins=[runner])
    if len(runner.fate) < len(mutants):
        return int(ended) or 2
    known = explained()
    fates = {one: "equal" if fate == "survived" and one.key in known else fate for one, fate in runner.fate.items()}
    print(f"\n{'file':<32} {'mutants':>7} {'killed':>7} {'equal':>7} {'survived':>8} {'unseen':>7}")
    for file in dict.fromkeys(one.key[0] for one in mutants):
        counts = Counter(fate for one, fate in fates.items() if one.key[0] == file)
        told = [counts[fate] for fate in ("killed", "equal", "survived", "unseen")]
        print(f"{file:<32} {sum(told):>7} {told[0]:>7} {told[1]:>7} {told[2]:>8} {told[3]:>7}")
    left = [one for one, fate in fates.items() if fate in ("survived", "unseen")]
    print(f"{len(mutants)} of {whole} mutants; {len(left)} noticed by no test and not explained")
    for one in left:
        print(f"| `{one.key[0]}` | `{one.where}` | `{one.change.replace('|', chr(92) + '|')}` | |")
    return 1 if left else 0


def inside(path: str, number: str, *tests: str) -> int:
    """Run the tests with one mutant imported in place of its file."""
    sys.meta_path.insert(0, Planted(mutants_of(Path(path))[int(number)]))
    return int(pytest.main(["-xqq", *QUIET, *tests]))


if __name__ == "__main__":
    sys.exit(inside(*sys.argv[2:]) if sys.argv[1:2] == ["--inside"] else main())
