"""Performing a job: the same function in a local child process and in a Ray task. It knows nothing of the queue."""

from __future__ import annotations

import errno
import functools
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bciarena.clocks import Reference, disturbed_factor, reference_load
from bciarena.errors import BadInput, EntryFailed, Fault
from bciarena.jobs.lease import Lease, Outcome
from bciarena.jobs.storage import Damaged, Storage, Unwell
from bciarena.scratch import scratch

if TYPE_CHECKING:
    from bciarena.match import End, Match, Player
    from bciarena.runs import Result

Tell = Callable[[dict[str, Any]], None]
"""Called now and then with the progress of a job."""

TELL_EVERY_S = 0.5
NOTES_KEPT = 200
ATTEMPTS_FOR_QUIET = 5  # from then on a ranked run is played even on a disturbed machine, and says so


def perform(lease: Lease, storage: Storage, tell: Tell) -> Outcome:
    """Do a job to its end. Never raises: whatever happens is an outcome, the entry's or ours."""
    try:
        return KINDS[lease.kind]({**lease.payload, "attempt": lease.attempt}, storage, tell)
    except EntryFailed as failed:
        result = {"challenge": lease.payload.get("challenge"), "verdict": failed.verdict, "score": 0.0}
        return Outcome(failed.verdict, {**result, "reason": failed.reason}, error=failed.reason)
    except Disturbed as busy:
        return Outcome(error=str(busy), later=True)
    except Unwell as trouble:
        return Outcome(error=str(trouble), unwell=True)
    except Exception as error:
        if _disk_full(error):
            return Outcome(error="the disk of this machine is full", unwell=True)
        if isinstance(error, (Fault, BadInput)):
            return Outcome(error=str(error), final=isinstance(error, Hopeless))
        if isinstance(error, KeyError) and lease.kind not in KINDS:
            return Outcome(error=f"this version knows no job of kind {lease.kind!r}", final=True)
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(
            error=f"{type(error).__name__}: {error} ({where.name}, {Path(where.filename).name}:{where.lineno})"
        )


class Hopeless(Fault):
    """A fault of ours that trying again cannot fix."""


class Disturbed(Fault):
    """The machine is busy with something else: an entry's time could not be measured fairly."""


def _disk_full(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__ or error.__context__
    return False


def noop(payload: dict[str, Any], storage: Storage, tell: Tell) -> Outcome:
    """Nothing but the queue's own work, for measurements and tests: waits, then ends as the payload says."""
    until = time.monotonic() + float(payload.get("wait_s", 0.0))
    while (left_s := until - time.monotonic()) > 0:
        tell({"left_s": round(left_s, 1)})
        time.sleep(min(left_s, 0.2))
    if "fault" in payload:
        raise Fault(payload["fault"])
    return Outcome(payload.get("verdict", "ok"), {"score": 0.0, "echo": payload.get("echo")})


def match(payload: dict[str, Any], storage: Storage, tell: Tell) -> Outcome:
    """Play one entry on one recording, or on one subject of it, and store the run folder.

    The payload: ``challenge``; ``entry`` (a stored file or folder, or ``@name``), with ``file`` (``module.py:Class``
    inside the stored folder) or ``target`` where needed; ``data`` and ``model`` (stored); ``data_digest`` of the
    recording; ``clock``, ``sandbox``, ``python``, ``seed``, ``budget_s``; ``subject`` for a shard;
    ``ranked`` for uploads; ``calibration`` (see calibration.py); ``attempt`` is set by `perform`. Defaults are those of
    ``arena run``.
    """
    from bciarena.contests import rulebook as find_rulebook
    from bciarena.entries.opened import opened
    from bciarena.jobs.calibration import calibrated
    from bciarena.match import LEAST_BUDGET_S
    from bciarena.recording import open_recording
    from bciarena.runs import run_match
    from bciarena.sandbox.limits import Limits

    sandbox = payload.get("sandbox", "bwrap")
    if sandbox == "bwrap" and (reason := _no_box()):
        raise Unwell(reason)
    ranked = payload.get("ranked", False)
    if ranked and (reason := _no_ranking()):
        raise Unwell(reason)
    book = find_rulebook(payload["challenge"])
    with ExitStack() as stack:
        folder = stack.enter_context(scratch(temporary=True))
        tell({"stage": "fetching"})
        data = storage.fetch(payload["data"])
        recording = open_recording(data)
        budget_s = payload.get("budget_s") or max(recording.seconds, LEAST_BUDGET_S)
        if payload.get("subject"):  # a shard may use the whole match's budget: time may be spread unevenly
            recording = recording.part(payload["subject"])
        model = storage.fetch(payload["model"]) if payload.get("model") else None
        tell({"stage": "preparing"})
        try:
            entry = stack.enter_context(
                opened(
                    entry_spec(payload, storage),
                    book,
                    entry=payload.get("target"),
                    python=payload.get("python"),
                    images=payload.get("images"),
                    sandbox=sandbox,
                    model=model,
                    boxed=sandbox == "bwrap",
                    ranked=ranked,
                )
            )
        except BadInput as error:
            if _disk_full(error):
                raise
            raise EntryFailed("invalid_entry", str(error)) from error
        entry, calibration = calibrated(entry, payload.get("calibration"), storage, folder, tell)
        clock = payload.get("clock", "think")
        reference = reference_load() if clock == "think" else None
        busy = disturbance(reference) if ranked and reference else ""
        if busy and payload["attempt"] < ATTEMPTS_FOR_QUIET:
            raise Disturbed(busy)
        limits = Limits(**payload.get("limits", {}))
        play = _Twice(entry.player(limits), (f"played all the same: {busy}",) if busy else ())
        out, name = folder / "run", entry.package.name
        run = functools.partial(
            run_match,
            book,
            recording,
            play,
            out=out,
            force=True,
            clock=clock,
            reference=reference,
            sandbox=sandbox,
            seed=payload.get("seed", 0),
            entry_digest=entry.package.digest,
            about={"data": "", "stored_data": payload["data"], "entry": name, "stored_entry": payload["entry"]},
            on_progress=Pace(tell),
            budget_s=budget_s,
            calibration=calibration,
        )
        result = run()
        if play.ends[0].outside:
            tell({"stage": "preparing"})
            result = run()
        tell({"stage": "storing"})
        if not storage.is_whole(payload["data"], data):
            raise Damaged(f"{data}: the recording was changed while it was played")
        return outcome_of(result, out, storage, None if payload.get("subject") else payload.get("data_digest"))


class _Twice:
    """A player that may play a second time, and says so in the run's notes.

    The sender of a signal cannot be known. An entry whose process was killed is played once more before it is blamed:
    accidents rarely happen twice, and an entry that kills itself gets its verdict all the same.
    """

    def __init__(self, player: Player, notes: tuple[str, ...] = ()) -> None:
        self.player, self.notes = player, notes
        self.ends: list[End] = []

    def __call__(self, match: Match) -> End:
        end = self.player(match)
        end = end._replace(notes=(*self.notes, *end.notes))
        if self.ends:
            first = self.ends[0].reason.partition(";")[0]
            end = end._replace(notes=(*end.notes, f"played a second time: the first time {first}"))
        self.ends.append(end)
        return end


def disturbance(reference: Reference) -> str:
    """What is wrong with the machine's clock; empty when it is quiet enough."""
    factor = disturbed_factor()
    if reference.times <= factor:
        return ""
    return f"the machine is disturbed: the reference load took {reference.times:.1f} times its best (limit {factor:g})"


@functools.cache
def _no_box() -> str | None:
    """Why boxes do not work on this machine; tried once per process, since it takes a moment."""
    from bciarena.sandbox import why_not

    return why_not()


@functools.cache
def _no_ranking() -> str | None:
    from bciarena.sandbox.probe import why_not_ranked

    return why_not_ranked()


def entry_spec(payload: dict[str, Any], storage: Storage) -> str:
    """What `open_entry` takes, for a stored entry."""
    if payload["entry"].startswith("@"):
        return str(payload["entry"])
    place = storage.fetch(payload["entry"])
    return f"{place}/{payload['file']}" if payload.get("file") else str(place)


def join(payload: dict[str, Any], storage: Storage, tell: Tell) -> Outcome:
    """Put the runs of a match's shards together; they were added to the payload when the job was leased."""
    from bciarena.jobs.joining import join_runs

    bad = [shard for shard in payload["shards"] if not shard["run"]]
    if bad:
        shard = bad[0]
        if shard["verdict"]:
            raise EntryFailed(shard["verdict"], shard["error"] or "")
        raise Hopeless(
            f"the shard of subject {shard['subject']} (job {shard['job']}) is {shard['state']}: {shard['error']}"
        )
    with scratch(temporary=True) as folder:
        out = folder / "run"
        result = join_runs(payload, [storage.fetch(shard["run"]) for shard in payload["shards"]], storage, out)
        return outcome_of(result, out, storage, payload.get("data_digest"))


def outcome_of(result: Result, run: Path, storage: Storage, data_digest: str | None) -> Outcome:
    """A run as the queue keeps it: its score without the trials, what it used, and the name of its stored folder.

    A run on a recording other than the job's is not a result.
    """
    from bciarena.runs import RunFolder

    kept = {name: value for name, value in result.items() if name != "trials"}
    kept["notes"] = result["notes"][:NOTES_KEPT]
    header, _, end = RunFolder(run).ledger()
    assert end is not None  # the run was played to its end line
    if data_digest and header["data"] != data_digest:
        raise Fault(
            "the recording that was played is not the job's: its digest differs; arena verify --digests tells more"
        )
    kept["timing"], kept["tally"] = dict(result.timing), dict(result.tally)
    if "calibration" in header:
        kept["calibration"] = header["calibration"]
    kept |= {name: end[name] for name in ("packets", "cpu_s", "wall_s")}
    return Outcome(result["verdict"], kept, storage.put(run), result["reason"])


class Pace:
    """Passes on a match's progress and speed, not too often."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.start = self.told = time.monotonic()

    def __call__(self, progress: Any) -> None:
        now = time.monotonic()
        if now - self.told >= TELL_EVERY_S:
            self.told = now
            speed = progress.packets / (now - self.start)
            self.tell({"stage": "playing", **progress._asdict(), "packets_per_s": round(speed, 1)})


KINDS: dict[str, Callable[[dict[str, Any], Storage, Tell], Outcome]] = {"noop": noop, "match": match, "join": join}
