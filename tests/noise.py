"""Generate ordinary terminal output, reproducible by seed: builds, logs, code, prose, diffs and searches.

It also contains the texts that rules match, but quoted: in a sentence, a comment, a diff or a search result. Nothing
in it is an event.
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
QUOTE_TEMPLATES = (
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


def generate_lines(seed: int, rules: Sequence[Rule] = (), size: int = 1 << 20) -> Iterator[str]:
    """Yield about ``size`` bytes of lines; hits of ``rules`` are quoted in some of them."""
    dice = random.Random(seed)
    hits = [line for rule in rules for hit in rule.hits for line in hit.text.split("\n") if line.strip()]
    kinds: list[Callable[[random.Random], str]] = [
        make_cargo_line,
        make_npm_line,
        make_cmake_line,
        make_pytest_line,
        make_nginx_line,
        make_syslog_line,
        make_json_log_line,
        make_code_line,
        make_prose_line,
    ]
    while size > 0:
        make = dice.choice(kinds)
        for _ in range(dice.randrange(5, 40)):
            line = quote_rule_hit(dice, hits) if hits and dice.random() < 0.03 else make(dice)
            size -= len(line) + 1
            yield line


def quote_rule_hit(dice: random.Random, hits: Sequence[str]) -> str:
    return dice.choice(QUOTE_TEMPLATES).format(dice.choice(hits))


def pick_words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choices(WORDS, k=count))


def make_cargo_line(dice: random.Random) -> str:
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


def make_npm_line(dice: random.Random) -> str:
    return dice.choice(
        (
            f"npm warn deprecated {dice.choice(WORDS)}@{dice.randrange(9)}.0.0: {pick_words(dice, 6)}",
            f"added {dice.randrange(900)} packages, and audited {dice.randrange(999)} packages in 4s",
            f"{dice.randrange(9)} packages are looking for funding",
            f"  vite v5.{dice.randrange(9)}.0 building for production...",
            f"Tests:       {dice.randrange(1, 99)} passed, {dice.randrange(99, 199)} total",
        )
    )


def make_cmake_line(dice: random.Random) -> str:
    number = dice.randrange(100)
    return dice.choice(
        (
            f"[{number:3}%] Building CXX object src/CMakeFiles/app.dir/{dice.choice(WORDS)}.cc.o",
            f"-- Looking for {dice.choice(WORDS)} - not found",
            f"-- Performing Test HAS_{dice.choice(WORDS).upper()} - Failed",
            f"make[2]: Entering directory '/build/{dice.choice(WORDS)}'",
            f"{dice.choice(PATHS)}:{number}:7: warning: {pick_words(dice, 5)} [-Wunused]",
            f"100% tests passed, 0 tests failed out of {number}",
        )
    )


def make_pytest_line(dice: random.Random) -> str:
    return dice.choice(
        (
            f"tests/test_{dice.choice(WORDS)}.py::test_{dice.choice(WORDS)} PASSED [{dice.randrange(100):3}%]",
            f"====== {dice.randrange(99)} passed, {dice.randrange(9)} skipped in {dice.randrange(9)}.12s ======",
            f"ok  \texample.org/app/{dice.choice(WORDS)}\t0.0{dice.randrange(99):02}s",
            "." * dice.randrange(10, 72),
        )
    )


def make_nginx_line(dice: random.Random) -> str:
    return (
        f'10.0.{dice.randrange(256)}.{dice.randrange(256)} - - [16/Nov/2026:07:{dice.randrange(60):02}:00 +0000] "GET'
        f' /{dice.choice(WORDS)}/{dice.randrange(9999)} HTTP/1.1" {dice.choice((200, 301, 401, 404, 429, 500))}'
        f" {dice.randrange(99999)}"
    )


def make_syslog_line(dice: random.Random) -> str:
    program = f"{dice.choice(WORDS)}[{dice.randrange(99999)}]"
    return f"Nov 16 07:{dice.randrange(60):02}:00 host {program}: {pick_words(dice, 8)}"


def make_json_log_line(dice: random.Random) -> str:
    level = dice.choice(("info", "warn", "error"))
    at, words = dice.getrandbits(40), pick_words(dice, 7)
    return f'{{"level":"{level}","at":{at},"msg":"{words}","status":{dice.randrange(600)}}}'


def make_code_line(dice: random.Random) -> str:
    name, other = dice.choice(WORDS), dice.choice(WORDS)
    return dice.choice(
        (
            f"    if {name}.{other}({dice.randrange(99)}) is None:",
            f'        raise {name.title()}Error("{pick_words(dice, 4)}: Permission denied")',
            f'    let {name} = {other}.unwrap_or_else(|e| panic!("{pick_words(dice, 3)}: {{e}}"));',
            f"  if (error.code === 'EADDRINUSE') {{ return {name}.{other}(); }}",
            f'\treturn fmt.Errorf("{name}: %w", err) // {pick_words(dice, 4)}',
            "",
        )
    )


def make_prose_line(dice: random.Random) -> str:
    lead = dice.choice(("● ", "• ", "✦ ", "  ", "- ", "", "⏺ "))
    return f"{lead}{pick_words(dice, dice.randrange(4, 16))}{dice.choice(('.', ',', ':', ''))}"
