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
from termvisor.regex.isolated_compile_messages import IsolatedCompileRequest, parse_compile_output
from termvisor.regex.relax import relax_pattern
from termvisor.system.subprocesses import run_and_capture

_CRASH_SIGNALS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
_TIMEOUT_STATUSES = (124, -signal.SIGPROF)
_CRASHING_FILE = "condemned.json"
CompileVerdict = Literal["kept", "guilty", "unclear"]


class CrashTestEnd(Struct, frozen=True):
    """How one process ended: ``why`` is empty for one that convicts nobody."""

    status: int
    why: str
    last: str
    refused: Mapping[str, str]


class CrashTest(Struct, frozen=True, kw_only=True):
    """``within`` is the backstop, in seconds: the process itself limits its own time."""

    command: tuple[str, ...] = (sys.executable, "-m", "termvisor.regex.isolated_compile")
    timeout_s: float = 300.0

    def find_crashing(self, rules: Sequence[Rule]) -> dict[str, str]:
        """Of rules tried one by one: by id, why it cannot be used."""
        guilty: dict[str, str] = {}
        left = list(rules) if find_spec("hyperscan") else []
        while left:
            end = self._try_rules(left, "")
            guilty |= {name: f"cannot be used: Hyperscan says: {why}" for name, why in end.refused.items()}
            names = [rule.id for rule in left]
            if not end.why or end.last not in names:
                break
            guilty[end.last] = end.why
            left = left[names.index(end.last) + 1 :]
        return guilty

    def compile_surviving(self, rules: Sequence[Rule], suspects: Collection[str], folder: str) -> dict[str, str]:
        """Compile them as one and keep that in the folder, without those suspects that Hyperscan does not survive.

        Each suspect is tried alone first: beside others a bad one may do its harm unseen. The guilty are given back, by
        id; where nobody can be blamed nothing is kept.
        """
        if not suspects:
            compile_in_process(_build_trial(rules, folder))
            return {}
        guilty = self.find_crashing([rule for rule in rules if rule.id in suspects])
        while self._try_together(rest := [rule for rule in rules if rule.id not in guilty], folder) == "guilty":
            if (name := self._find_culprit(rest, suspects, folder)) is None:
                break
            guilty[name] = "cannot be used: together with the other rules it crashes Hyperscan"
        return guilty

    def _find_culprit(self, rules: Sequence[Rule], suspects: Collection[str], folder: str) -> str | None:
        """The first suspect that is too much for the others, found by halving."""
        others = [rule for rule in rules if rule.id not in suspects]
        some = [rule for rule in rules if rule.id in suspects]
        if not some or self._try_together(others, folder) != "kept":
            return None
        good, bad = 0, len(some)
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (
                (middle, bad) if self._try_together(others + some[:middle], folder) == "kept" else (good, middle)
            )
        return some[bad - 1].id

    def _try_together(self, rules: Sequence[Rule], folder: str) -> CompileVerdict:
        if not rules:
            return "kept"
        end = self._try_rules(rules, folder)
        if end.why or end.refused:
            return "guilty"
        return "unclear" if end.status else "kept"

    def _try_rules(self, rules: Sequence[Rule], folder: str) -> CrashTestEnd:
        return self.run_trial(_build_trial(rules, folder))

    def run_trial(self, trial: IsolatedCompileRequest) -> CrashTestEnd:
        status, out, _ = run_and_capture(self.command, stdin=msgspec.json.encode(trial), timeout_s=self.timeout_s)
        return CrashTestEnd(status, _describe_status(status), *parse_compile_output(out))


def _build_trial(rules: Sequence[Rule], folder: str) -> IsolatedCompileRequest:
    patterns = {rule.id: relax_pattern(rule.pattern) for rule in rules}
    texts = {rule.id: (*(hit.text for hit in rule.hits), *(miss.text for miss in rule.misses)) for rule in rules}
    return IsolatedCompileRequest(patterns=patterns, texts=texts, keep_in=folder)


def compile_in_process(trial: IsolatedCompileRequest) -> str:
    """Our own patterns, compiled and tried by this process, which is one that may die; empty, or why they are not kept.

    A daemon's first start waits for it.
    """
    from termvisor.regex.isolated_compile import compile_together  # loads the engine

    told = compile_together(trial)
    return f"Hyperscan says: {told}" if told else ""


def _describe_status(status: int) -> str:
    if -status in _CRASH_SIGNALS:
        return f"cannot be used: Hyperscan crashes on it ({signal.Signals(-status).name}); its repeats are too long"
    return (
        "cannot be used: Hyperscan finds no end with it; its repeats are too long"
        if status in _TIMEOUT_STATUSES
        else ""
    )


class _CrashingPatterns(Struct, frozen=True):
    engine: str
    patterns: dict[str, str]


def load_crashing_rules(folder: str) -> dict[str, str]:
    """By pattern, as it is scanned for: why it must not be. Another version of Hyperscan is asked anew."""
    try:
        with open(f"{folder}/{_CRASHING_FILE}", "rb") as file:
            found = msgspec.json.decode(file.read(), type=_CrashingPatterns)
    except (OSError, msgspec.MsgspecError):
        return {}
    return found.patterns if found.engine == _read_engine_version() else {}


def save_crashing_rules(folder: str, patterns: Mapping[str, str]) -> None:
    found = _CrashingPatterns(_read_engine_version(), {**load_crashing_rules(folder), **patterns})
    fresh = f"{folder}/{_CRASHING_FILE}.{os.getpid()}"
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(found))
    with contextlib.suppress(OSError):
        os.replace(fresh, f"{folder}/{_CRASHING_FILE}")


def _read_engine_version() -> str:
    if not find_spec("hyperscan"):
        return ""
    import hyperscan  # only where somebody is condemned

    return str(getattr(hyperscan, "__version__", ""))
