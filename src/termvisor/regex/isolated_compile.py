"""Compile and test patterns with Hyperscan in a worker process, because some patterns crash it.

In: an `IsolatedCompileRequest` on stdin. Out: on stdout ``? id`` before a pattern is tried and ``! id reason`` if it is
rejected. If the process crashes, its last line names the pattern.

Invariant: a database in the cache has scanned all test texts without a crash.
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
"""CPU time limit for one pattern, and for all together; CPU time does not depend on the load of the machine."""
_TEXT_LENGTHS = (7, 64, 512, 4097, 20_000)
_TEXT_ALPHABET = "eeo  \t01129..::--/_xxZZA[](){}'\"$%é€│─✻\x07"


def main() -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=IsolatedCompileRequest)
    if not request.keep_in:
        compile_each(request)
    elif reason := compile_together(request):
        _write_line(f"! - {reason}")
    return 0


def compile_each(request: IsolatedCompileRequest) -> None:
    """Compile and test every pattern by itself."""
    for name, pattern in request.patterns.items():
        _write_line(f"? {name}")
        _limit_cpu_time(SINGLE_CPU_LIMIT_S)
        try:
            _scan_texts(HyperscanMatcher({name: pattern}), generate_texts(request.texts.get(name, ()), [pattern]))
        except ValueError as error:
            _write_line(f"! {name} {error}")


def compile_together(request: IsolatedCompileRequest) -> str:
    """Compile all patterns as one database, test it and put it into the cache; return why they are rejected, or ""."""
    _limit_cpu_time(COMBINED_CPU_LIMIT_S)
    patterns = list(request.patterns.values())
    with TemporaryDirectory(dir=request.keep_in) as folder:
        try:
            HyperscanMatcher(request.patterns, folder)
        except ValueError as error:
            return str(error)
        matcher = HyperscanMatcher(request.patterns, folder)  # loaded from the file, as the daemon will do
        example_texts = (text for texts in request.texts.values() for text in texts)
        _scan_texts(matcher, generate_texts(example_texts, ["".join(patterns)]))
        os.replace(cache_file(patterns, folder), cached := cache_file(patterns, request.keep_in))
    remove_unused_cache_files(cached)
    _limit_cpu_time(0)
    return ""


def generate_texts(example_texts: Iterable[str], patterns: Iterable[str]) -> Iterator[str]:
    """Yield test texts: the examples, as long lines and as many lines, then random text from general characters and
    from those of the patterns, because an automaton only advances on characters that it knows.
    """
    examples = [text for text in example_texts if text]
    for text in examples:
        yield from (text, text * (9000 // len(text) + 1))
    if examples:
        yield "\n".join(examples * (70_000 // sum(map(len, examples)) + 1))
    random = Random(1)  # noqa: S311 - a fixed seed makes the result reproducible
    for characters in (_TEXT_ALPHABET, *patterns):
        for length in _TEXT_LENGTHS:
            yield "".join(random.choices(f"aaab 1\n{characters}", k=length))
            yield from (characters[-1] * length, "a" * length)


def _scan_texts(matcher: HyperscanMatcher, texts: Iterable[str]) -> None:
    for text in texts:
        matcher.find_ids(text.encode(errors="replace"))


def _limit_cpu_time(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF kills the process even during a scan


def _write_line(line: str) -> None:
    os.write(1, line.encode(errors="replace") + b"\n")


if __name__ == "__main__":
    sys.exit(main())
