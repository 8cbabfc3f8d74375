"""Test in child processes whether Hyperscan survives a pattern; see `termvisor.regex.isolated_compile`.

A process that crashes or times out proves that the pattern it was compiling is bad; any other failure proves nothing.
Bad patterns are stored, so that no other process compiles them.
"""

import contextlib
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import Literal

import msgspec
from msgspec import Struct

from termvisor.model.detection.rule import Rule
from termvisor.regex.isolated_compile import IsolatedCompileRequest, TriedPattern, compile_in_process
from termvisor.regex.relax import relax_pattern
from termvisor.system.files import write_private_file
from termvisor.system.worker import TIMED_OUT, WorkerResult, run_worker

_CRASH_SIGNALS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
# SIGPROF ends a worker at its own CPU time limit.
_TIMEOUT_STATUSES = (TIMED_OUT, -signal.SIGPROF)
_CRASHING_FILE = "condemned.json"
CompileVerdict = Literal["compiled", "crashed", "unclear"]


class CrashTestEnd(Struct, frozen=True):
    """How a process ended; ``why`` is empty if its end proves nothing about ``last``, the pattern it tried last."""

    status: int
    why: str
    last: str
    refused: Mapping[str, str]


class CrashTest(Struct, frozen=True, kw_only=True):
    """Test of rules in child processes; ``timeout_s`` is only a backstop, because they limit their own CPU time."""

    run_worker: Callable[..., WorkerResult[TriedPattern]] = run_worker
    timeout_s: float = 300.0

    def find_crashing(self, rules: Sequence[Rule]) -> dict[str, str]:
        """Compile the rules one by one; return the reason for each bad rule, by id."""
        crashing: dict[str, str] = {}
        left = list(rules) if find_spec("hyperscan") else []
        while left:
            end = self._try_rules(left, "")
            crashing |= {name: f"cannot be used: Hyperscan reports: {why}" for name, why in end.refused.items()}
            names = [rule.id for rule in left]
            # The process ended for another reason, such as lack of memory, which proves nothing about a rule.
            if not end.why or end.last not in names:
                break
            crashing[end.last] = end.why
            left = left[names.index(end.last) + 1 :]
        return crashing

    def compile_surviving(self, rules: Sequence[Rule], suspects: Collection[str], folder: str) -> dict[str, str]:
        """Compile the rules into one Hyperscan database in ``folder``, leaving out those that crash the compiler.

        Each suspect is first compiled alone: in combination a bad one may do harm without a crash. Returns the reason
        for each bad rule, by id. If no single rule is to blame, nothing is stored.
        """
        # Built-in rules need no trial, and the first start of a daemon waits for this.
        if not suspects:
            compile_in_process(_build_request(rules, folder))
            return {}
        crashing = self.find_crashing([rule for rule in rules if rule.id in suspects])
        while self._try_together(rest := [rule for rule in rules if rule.id not in crashing], folder) == "crashed":
            if (name := self._find_culprit(rest, suspects, folder)) is None:
                break
            crashing[name] = "cannot be used: together with the other rules it crashes Hyperscan"
        return crashing

    def _find_culprit(self, rules: Sequence[Rule], suspects: Collection[str], folder: str) -> str | None:
        """Return the first suspect that crashes together with the others, found by bisection."""
        trusted = [rule for rule in rules if rule.id not in suspects]
        suspected = [rule for rule in rules if rule.id in suspects]
        if not suspected or self._try_together(trusted, folder) != "compiled":
            return None
        good, bad = 0, len(suspected)
        while bad - good > 1:
            middle = (good + bad) // 2
            is_good = self._try_together(trusted + suspected[:middle], folder) == "compiled"
            good, bad = (middle, bad) if is_good else (good, middle)
        return suspected[bad - 1].id

    def _try_together(self, rules: Sequence[Rule], folder: str) -> CompileVerdict:
        if not rules:
            return "compiled"
        end = self._try_rules(rules, folder)
        if end.why or end.refused:
            return "crashed"
        return "unclear" if end.status else "compiled"

    def _try_rules(self, rules: Sequence[Rule], folder: str) -> CrashTestEnd:
        return self.run_trial(_build_request(rules, folder))

    def run_trial(self, trial: IsolatedCompileRequest) -> CrashTestEnd:
        done = self.run_worker(
            "termvisor.regex.isolated_compile:try_patterns", (trial,), returns=TriedPattern, timeout_s=self.timeout_s
        )
        last = next((tried.id for tried in reversed(done.values) if not tried.reason), "")
        refused = {tried.id: tried.reason for tried in done.values if tried.reason}
        return CrashTestEnd(done.status, _describe_status(done.status), last, refused)


def _build_request(rules: Sequence[Rule], folder: str) -> IsolatedCompileRequest:
    patterns = {rule.id: relax_pattern(rule.pattern) for rule in rules}
    texts = {rule.id: (*(hit.text for hit in rule.hits), *(miss.text for miss in rule.misses)) for rule in rules}
    return IsolatedCompileRequest(patterns=patterns, texts=texts, keep_in=folder)


def _describe_status(status: int) -> str:
    if -status in _CRASH_SIGNALS:
        return f"cannot be used: Hyperscan crashes on it ({signal.Signals(-status).name}); its repeats are too long"
    is_timeout = status in _TIMEOUT_STATUSES
    return "cannot be used: compiling it with Hyperscan times out; its repeats are too long" if is_timeout else ""


class _CrashingPatterns(Struct, frozen=True):
    engine: str
    patterns: dict[str, str]


def load_crashing_rules(folder: str) -> dict[str, str]:
    """Return the stored bad patterns with their reasons; none if they were found with another Hyperscan version."""
    try:
        with open(f"{folder}/{_CRASHING_FILE}", "rb") as file:
            stored = msgspec.json.decode(file.read(), type=_CrashingPatterns)
    except (OSError, msgspec.MsgspecError):
        # None were stored, or the file is unreadable. At worst a pattern crashes its worker again.
        return {}
    return stored.patterns if stored.engine == _read_engine_version() else {}


def save_crashing_rules(folder: str, patterns: Mapping[str, str]) -> None:
    crashing = _CrashingPatterns(_read_engine_version(), {**load_crashing_rules(folder), **patterns})
    # Without the file the patterns are tested again at the next start.
    with contextlib.suppress(OSError):
        write_private_file(f"{folder}/{_CRASHING_FILE}", msgspec.json.encode(crashing))


def _read_engine_version() -> str:
    if not find_spec("hyperscan"):
        return ""
    import hyperscan  # imported only if there are bad patterns

    return str(getattr(hyperscan, "__version__", ""))
