"""Random identifiers that are no secrets stay readable, and both engines find the same kinds."""

import base64
import random
import string
import uuid

import pytest

from termvisor.redaction import redact
from termvisor.redaction.ruleset import build_rules
from termvisor.regex import compile_patterns
from tests.unit.redaction import test_context_patterns, test_provider_prefixes

RNG = random.Random(7)
WORDS = ("parse_value", "renderPage", "user-list", "getById", "Main", "http2", "layoutGrid4", "x86_64", "v2")


def build_words(separator: str) -> str:
    return separator.join(RNG.choices(WORDS, k=8))


def encode_random(size: int) -> str:
    return base64.b64encode(RNG.randbytes(size)).decode()


BUILDERS = {
    "a git commit": lambda: f"commit {RNG.randbytes(20).hex()}",
    "a docker digest": lambda: f"sha256:{RNG.randbytes(32).hex()}",
    "an npm integrity hash": lambda: f'"integrity": "sha512-{encode_random(64)}"',
    "a hash of pip": lambda: f"--hash=sha256:{RNG.randbytes(32).hex()}",
    "a hash of go": lambda: f"example.com/mod v1.2.3 h1:{encode_random(32)}",
    "a UUID": lambda: f"request {uuid.UUID(bytes=RNG.randbytes(16))} done",
    "a row of a PEM certificate": lambda: encode_random(48),
    "a row of base64": lambda: encode_random(57),
    "an image": lambda: f"url(data:image/png;base64,{encode_random(300)})",
    "a file path": lambda: f"/srv/{build_words('/')}.cpython-311-x86_64-linux-gnu.so",
    "a test name": lambda: f"tests/unit/test_x.py::test_{build_words('_')}[{build_words('-')}] PASSED",
    "minified JavaScript": lambda: "".join(
        f"function {RNG.choice(string.ascii_letters)}({RNG.choice('abc')}){{return {build_words('.')}}}"
        for _ in range(4)
    ),
    "an asset": lambda: f"dist/assets/index-{encode_random(6).replace('/', '_')}.js  142.31 kB",
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
def test_ordinary_identifiers_are_unchanged(build):
    rows = [build() for _ in range(300)]
    assert [row for row in rows if redact(row) != row] == []


def test_both_engines_find_the_same_kinds():
    rules = build_rules()
    hits = test_provider_prefixes.HITS | test_context_patterns.HITS
    misses = test_provider_prefixes.MISSES | test_context_patterns.MISSES
    rows = ["".join(case) for cases in hits.values() for case in cases]
    rows += [text for texts in misses.values() for text in texts]
    engines = [compile_patterns(rules.patterns, engine) for engine in ("hyperscan", "re2")]
    found = [engine.find_line_ids("\n".join(rows).encode()) for engine in engines]
    assert found[0] == found[1]
    assert {name for _, name in found[0]} >= set(hits)
