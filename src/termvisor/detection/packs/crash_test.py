"""Test in child processes whether Hyperscan survives a pattern; see `termvisor.regex.isolated_compile`.

A process that crashes or does not come to an end convicts the pattern that it tried. One that fails for another reason
convicts nobody. Who is convicted is written down, so that no other process loads it.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import Literal

import msgspec
from msgspec import Struct

from termvisor.model.detection.rule import Rule
from termvisor.regex.isolated_compile_messages import Trial, as_told
from termvisor.regex.relax import loosened
from termvisor.system.subprocesses import ask

_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
_ENDLESS = (124, -signal.SIGPROF)
_FILE = "condemned.json"
Word = Literal["kept", "guilty", "unclear"]


class End(Struct, frozen=True):
    """How one process ended: ``why`` is empty for one that convicts nobody."""

    status: int
    why: str
    last: str
    refused: Mapping[str, str]


class Ordeal(Struct, frozen=True, kw_only=True):
    """``within`` is the backstop, in seconds: the process itself limits its own time."""

    command: tuple[str, ...] = (sys.executable, "-m", "termvisor.regex.isolated_compile")
    within: float = 300.0

    def each(self, rules: Sequence[Rule]) -> dict[str, str]:
        """Of rules tried one by one: by id, why it cannot be used."""
        guilty: dict[str, str] = {}
        left = list(rules) if find_spec("hyperscan") else []
        while left:
            end = self._try(left, "")
            guilty |= {name: f"cannot be used: Hyperscan says: {why}" for name, why in end.refused.items()}
            names = [rule.id for rule in left]
            if not end.why or end.last not in names:
                break
            guilty[end.last] = end.why
            left = left[names.index(end.last) + 1 :]
        return guilty

    def keep(self, rules: Sequence[Rule], suspects: Collection[str], folder: str) -> dict[str, str]:
        """Compile them as one and keep that in the folder, without those suspects that Hyperscan does not survive.

        Each suspect is tried alone first: beside others a bad one may do its harm unseen. The guilty are given back, by
        id; where nobody can be blamed nothing is kept.
        """
        if not suspects:
            keep_here(_trial(rules, folder))
            return {}
        guilty = self.each([rule for rule in rules if rule.id in suspects])
        while self._together(rest := [rule for rule in rules if rule.id not in guilty], folder) == "guilty":
            if (name := self._culprit(rest, suspects, folder)) is None:
                break
            guilty[name] = "cannot be used: together with the other rules it crashes Hyperscan"
        return guilty

    def _culprit(self, rules: Sequence[Rule], suspects: Collection[str], folder: str) -> str | None:
        """The first suspect that is too much for the others, found by halving."""
        others = [rule for rule in rules if rule.id not in suspects]
        some = [rule for rule in rules if rule.id in suspects]
        if not some or self._together(others, folder) != "kept":
            return None
        good, bad = 0, len(some)
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self._together(others + some[:middle], folder) == "kept" else (good, middle)
        return some[bad - 1].id

    def _together(self, rules: Sequence[Rule], folder: str) -> Word:
        if not rules:
            return "kept"
        end = self._try(rules, folder)
        if end.why or end.refused:
            return "guilty"
        return "unclear" if end.status else "kept"

    def _try(self, rules: Sequence[Rule], folder: str) -> End:
        return self.end_of(_trial(rules, folder))

    def end_of(self, trial: Trial) -> End:
        status, out, _ = ask(self.command, stdin=msgspec.json.encode(trial), timeout=self.within)
        return End(status, _why(status), *as_told(out))


def _trial(rules: Sequence[Rule], folder: str) -> Trial:
    patterns = {rule.id: loosened(rule.pattern) for rule in rules}
    texts = {rule.id: (*(hit.text for hit in rule.hits), *(miss.text for miss in rule.misses)) for rule in rules}
    return Trial(patterns=patterns, texts=texts, keep_in=folder)


def keep_here(trial: Trial) -> str:
    """Our own patterns, compiled and tried by this process, which is one that may die; empty, or why they are not kept.

    A daemon's first start waits for it.
    """
    from termvisor.regex.isolated_compile import together  # loads the engine

    told = together(trial)
    return f"Hyperscan says: {told}" if told else ""


def _why(status: int) -> str:
    if -status in _CRASHES:
        return f"cannot be used: Hyperscan crashes on it ({signal.Signals(-status).name}); its repeats are too long"
    return "cannot be used: Hyperscan finds no end with it; its repeats are too long" if status in _ENDLESS else ""


class _Condemned(Struct, frozen=True):
    engine: str
    patterns: dict[str, str]


def condemned(folder: str) -> dict[str, str]:
    """By pattern, as it is scanned for: why it must not be. Another version of Hyperscan is asked anew."""
    try:
        with open(f"{folder}/{_FILE}", "rb") as file:
            found = msgspec.json.decode(file.read(), type=_Condemned)
    except (OSError, msgspec.MsgspecError):
        return {}
    return found.patterns if found.engine == _engine() else {}


def condemn(folder: str, patterns: Mapping[str, str]) -> None:
    found = _Condemned(_engine(), {**condemned(folder), **patterns})
    fresh = f"{folder}/{_FILE}.{os.getpid()}"
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(found))
    with contextlib.suppress(OSError):
        os.replace(fresh, f"{folder}/{_FILE}")


def _engine() -> str:
    if not find_spec("hyperscan"):
        return ""
    import hyperscan  # only where somebody is condemned

    return str(getattr(hyperscan, "__version__", ""))
