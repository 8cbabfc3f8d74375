"""Patterns tried on Hyperscan in a process of its own: some crash it, and whoever scans for them goes with it.

In: a `Trial` on stdin. Out: on stdout a line for what comes next (``? id``) and one for what is refused (``! id why``);
the exit status says the rest. A process that dies names the guilty pattern by its last line.

Invariant: what is put into the cache has scanned all these texts without harm.
"""

import os
import resource
import signal
import sys
from collections.abc import Iterable, Iterator
from random import Random
from tempfile import TemporaryDirectory

import msgspec

from termvisor.regex.hyperscan_engine import HyperscanMatcher, cache_file, sweep
from termvisor.regex.isolated_compile_messages import Trial

ALONE_FOR, TOGETHER_FOR = 10.0, 120.0
"""Seconds of this process' own time that one pattern, or all together, may take: a busy machine convicts nobody."""
_LENGTHS = (7, 64, 512, 4097, 20_000)
_ALPHABET = "eeo  \t01129..::--/_xxZZA[](){}'\"$%é€│─✻\x07"


def main() -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    trial = msgspec.json.decode(sys.stdin.buffer.read(), type=Trial)
    if not trial.keep_in:
        each(trial)
    elif why := together(trial):
        _tell(f"! - {why}")
    return 0


def each(trial: Trial) -> None:
    for name, pattern in trial.patterns.items():
        _tell(f"? {name}")
        _limit(ALONE_FOR)
        try:
            _scan(HyperscanMatcher({name: pattern}), texts(trial.texts.get(name, ()), [pattern]))
        except ValueError as error:
            _tell(f"! {name} {error}")


def together(trial: Trial) -> str:
    """Empty, or why they are refused."""
    _limit(TOGETHER_FOR)
    patterns = list(trial.patterns.values())
    with TemporaryDirectory(dir=trial.keep_in) as fresh:
        try:
            HyperscanMatcher(trial.patterns, fresh)
        except ValueError as error:
            return str(error)
        as_loaded = HyperscanMatcher(trial.patterns, fresh)  # from the file, as whoever uses it will
        _scan(as_loaded, texts((own for some in trial.texts.values() for own in some), ["".join(patterns)]))
        os.replace(cache_file(patterns, fresh), kept := cache_file(patterns, trial.keep_in))
    sweep(kept)
    _limit(0)
    return ""


def texts(own: Iterable[str], patterns: Iterable[str]) -> Iterator[str]:
    """The given ones, alone, as long lines and as many lines; then lines of anything, and of what stands in a pattern.

    An automaton comes far only on letters that it knows.
    """
    given = [text for text in own if text]
    for text in given:
        yield from (text, text * (9000 // len(text) + 1))
    if given:
        yield "\n".join(given * (70_000 // sum(map(len, given)) + 1))
    chance = Random(1)  # noqa: S311 - the same at every run: what is guilty once is guilty again
    for letters in (_ALPHABET, *patterns):
        for length in _LENGTHS:
            yield from ("".join(chance.choices(f"aaab 1\n{letters}", k=length)), letters[-1] * length, "a" * length)


def _scan(matcher: HyperscanMatcher, given: Iterable[str]) -> None:
    for text in given:
        matcher.ids(text.encode(errors="replace"))


def _limit(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)  # its signal ends the process, also in the middle of a scan


def _tell(line: str) -> None:
    os.write(1, line.encode(errors="replace") + b"\n")


if __name__ == "__main__":
    sys.exit(main())
