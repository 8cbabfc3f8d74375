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

from termvisor.regex.hyperscan_engine import HyperscanMatcher, cache_file, remove_unused_cache_files
from termvisor.regex.isolated_compile_messages import IsolatedCompileRequest

SINGLE_CPU_LIMIT_S, COMBINED_CPU_LIMIT_S = 10.0, 120.0
"""Seconds of this process' own time that one pattern, or all together, may take: a busy machine convicts nobody."""
_TEXT_LENGTHS = (7, 64, 512, 4097, 20_000)
_TEXT_ALPHABET = "eeo  \t01129..::--/_xxZZA[](){}'\"$%é€│─✻\x07"


def main() -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    trial = msgspec.json.decode(sys.stdin.buffer.read(), type=IsolatedCompileRequest)
    if not trial.keep_in:
        compile_each(trial)
    elif why := compile_together(trial):
        _write_line(f"! - {why}")
    return 0


def compile_each(request: IsolatedCompileRequest) -> None:
    for name, pattern in request.patterns.items():
        _write_line(f"? {name}")
        _limit_cpu_time(SINGLE_CPU_LIMIT_S)
        try:
            _scan_texts(HyperscanMatcher({name: pattern}), generate_texts(request.texts.get(name, ()), [pattern]))
        except ValueError as error:
            _write_line(f"! {name} {error}")


def compile_together(request: IsolatedCompileRequest) -> str:
    """Empty, or why they are refused."""
    _limit_cpu_time(COMBINED_CPU_LIMIT_S)
    patterns = list(request.patterns.values())
    with TemporaryDirectory(dir=request.keep_in) as fresh:
        try:
            HyperscanMatcher(request.patterns, fresh)
        except ValueError as error:
            return str(error)
        as_loaded = HyperscanMatcher(request.patterns, fresh)  # from the file, as whoever uses it will
        _scan_texts(
            as_loaded, generate_texts((own for some in request.texts.values() for own in some), ["".join(patterns)])
        )
        os.replace(cache_file(patterns, fresh), kept := cache_file(patterns, request.keep_in))
    remove_unused_cache_files(kept)
    _limit_cpu_time(0)
    return ""


def generate_texts(example_texts: Iterable[str], patterns: Iterable[str]) -> Iterator[str]:
    """The given ones, alone, as long lines and as many lines; then lines of anything, and of what stands in a pattern.

    An automaton comes far only on letters that it knows.
    """
    given = [text for text in example_texts if text]
    for text in given:
        yield from (text, text * (9000 // len(text) + 1))
    if given:
        yield "\n".join(given * (70_000 // sum(map(len, given)) + 1))
    chance = Random(1)  # noqa: S311 - the same at every run: what is guilty once is guilty again
    for letters in (_TEXT_ALPHABET, *patterns):
        for length in _TEXT_LENGTHS:
            yield from ("".join(chance.choices(f"aaab 1\n{letters}", k=length)), letters[-1] * length, "a" * length)


def _scan_texts(matcher: HyperscanMatcher, given: Iterable[str]) -> None:
    for text in given:
        matcher.find_ids(text.encode(errors="replace"))


def _limit_cpu_time(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)  # its signal ends the process, also in the middle of a scan


def _write_line(line: str) -> None:
    os.write(1, line.encode(errors="replace") + b"\n")


if __name__ == "__main__":
    sys.exit(main())
