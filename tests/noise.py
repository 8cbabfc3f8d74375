"""Ordinary terminal noise, the same for the same seed: builds, logs, code, prose, diffs and searches.

Whatever a rule looks for stands in it too, but as people and programs quote it: in a sentence, in a comment, in a
diff, in what a search found. Nothing in it is an event.
"""

import random
from collections.abc import Callable, Iterator, Sequence

from termvisor.model.detection.rule import Rule

WORDS = [
    "the",
    "a",
    "build",
    "cache",
    "test",
    "server",
    "limit",
    "usage",
    "token",
    "model",
    "session",
    "resume",
    "error",
    "failed",
    "passed",
    "warning",
    "retry",
    "port",
    "disk",
    "memory",
    "login",
    "code",
    "review",
    "merge",
    "conflict",
    "panic",
    "thread",
    "process",
    "killed",
    "denied",
    "permission",
    "file",
    "module",
    "compiled",
    "linked",
    "request",
    "response",
    "status",
    "worker",
    "queue",
    "commit",
    "branch",
    "deploy",
    "release",
    "version",
    "of",
    "in",
    "on",
    "for",
    "with",
    "and",
    "or",
    "not",
    "after",
]
PATHS = ("src/app.py", "lib/store.rs", "web/index.ts", "cmd/main.go", "tests/test_api.py", "docs/usage.md", "Makefile")
QUOTES = (
    "> {}",
    "# {}",
    "// {}",
    "+{}",
    "-    {}",
    "docs/usage.md:12:{}",
    'log.info("{}")',
    "He wrote: {}",
    "It may print `{}` then.",
    "    expected = '{}'",
    "| {} |",
    "1. {}",
)


def lines(seed: int, rules: Sequence[Rule] = (), size: int = 1 << 20) -> Iterator[str]:
    """About ``size`` bytes of lines; texts that ``rules`` find are quoted in them."""
    dice = random.Random(seed)
    hits = [line for rule in rules for hit in rule.hits for line in hit.text.split("\n") if line.strip()]
    kinds: list[Callable[[random.Random], str]] = [
        cargo,
        npm,
        cmake,
        pytest_passed,
        nginx,
        syslog,
        json_log,
        code,
        prose,
    ]
    while size > 0:
        make = dice.choice(kinds)
        for _ in range(dice.randrange(5, 40)):
            line = quoted(dice, hits) if hits and dice.random() < 0.03 else make(dice)
            size -= len(line) + 1
            yield line


def quoted(dice: random.Random, hits: Sequence[str]) -> str:
    return dice.choice(QUOTES).format(dice.choice(hits))


def some(dice: random.Random, count: int) -> str:
    return " ".join(dice.choices(WORDS, k=count))


def cargo(dice: random.Random) -> str:
    crate = f"{dice.choice(WORDS)}-{dice.choice(WORDS)}"
    return dice.choice(
        (
            f"   Compiling {crate} v{dice.randrange(9)}.{dice.randrange(99)}.{dice.randrange(9)}",
            f"warning: unused variable: `{dice.choice(WORDS)}`",
            f"  --> {dice.choice(PATHS)}:{dice.randrange(900)}:{dice.randrange(80)}",
            f"test {crate}::{dice.choice(WORDS)} ... ok",
            f"test result: ok. {dice.randrange(99)} passed; 0 failed; 0 ignored; 0 measured; finished in 0.01s",
        )
    )


def npm(dice: random.Random) -> str:
    return dice.choice(
        (
            f"npm warn deprecated {dice.choice(WORDS)}@{dice.randrange(9)}.0.0: {some(dice, 6)}",
            f"added {dice.randrange(900)} packages, and audited {dice.randrange(999)} packages in 4s",
            f"{dice.randrange(9)} packages are looking for funding",
            f"  vite v5.{dice.randrange(9)}.0 building for production...",
            f"Tests:       {dice.randrange(1, 99)} passed, {dice.randrange(99, 199)} total",
        )
    )


def cmake(dice: random.Random) -> str:
    number = dice.randrange(100)
    return dice.choice(
        (
            f"[{number:3}%] Building CXX object src/CMakeFiles/app.dir/{dice.choice(WORDS)}.cc.o",
            f"-- Looking for {dice.choice(WORDS)} - not found",
            f"-- Performing Test HAS_{dice.choice(WORDS).upper()} - Failed",
            f"make[2]: Entering directory '/build/{dice.choice(WORDS)}'",
            f"{dice.choice(PATHS)}:{number}:7: warning: {some(dice, 5)} [-Wunused]",
            f"100% tests passed, 0 tests failed out of {number}",
        )
    )


def pytest_passed(dice: random.Random) -> str:
    return dice.choice(
        (
            f"tests/test_{dice.choice(WORDS)}.py::test_{dice.choice(WORDS)} PASSED [{dice.randrange(100):3}%]",
            f"====== {dice.randrange(99)} passed, {dice.randrange(9)} skipped in {dice.randrange(9)}.12s ======",
            f"ok  \texample.org/app/{dice.choice(WORDS)}\t0.0{dice.randrange(99):02}s",
            "." * dice.randrange(10, 72),
        )
    )


def nginx(dice: random.Random) -> str:
    return (
        f'10.0.{dice.randrange(256)}.{dice.randrange(256)} - - [16/Nov/2026:07:{dice.randrange(60):02}:00 +0000] "GET'
        f' /{dice.choice(WORDS)}/{dice.randrange(9999)} HTTP/1.1" {dice.choice((200, 301, 401, 404, 429, 500))}'
        f" {dice.randrange(99999)}"
    )


def syslog(dice: random.Random) -> str:
    return f"Nov 16 07:{dice.randrange(60):02}:00 host {dice.choice(WORDS)}[{dice.randrange(99999)}]: {some(dice, 8)}"


def json_log(dice: random.Random) -> str:
    level = dice.choice(("info", "warn", "error"))
    return f'{{"level":"{level}","at":{dice.getrandbits(40)},"msg":"{some(dice, 7)}","status":{dice.randrange(600)}}}'


def code(dice: random.Random) -> str:
    name, other = dice.choice(WORDS), dice.choice(WORDS)
    return dice.choice(
        (
            f"    if {name}.{other}({dice.randrange(99)}) is None:",
            f'        raise {name.title()}Error("{some(dice, 4)}: Permission denied")',
            f'    let {name} = {other}.unwrap_or_else(|e| panic!("{some(dice, 3)}: {{e}}"));',
            f"  if (error.code === 'EADDRINUSE') {{ return {name}.{other}(); }}",
            f'\treturn fmt.Errorf("{name}: %w", err) // {some(dice, 4)}',
            "",
        )
    )


def prose(dice: random.Random) -> str:
    lead = dice.choice(("● ", "• ", "✦ ", "  ", "- ", "", "⏺ "))
    return f"{lead}{some(dice, dice.randrange(4, 16))}{dice.choice(('.', ',', ':', ''))}"
