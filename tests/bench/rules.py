"""How fast two hundred rules are looked for, beside a plain loop of ``re``; and 20 MB of noise without an event."""

from __future__ import annotations

import time

from msgspec.structs import replace

from termvisor.detection.packs import load
from termvisor.detection.packs.pattern_match import compiled
from termvisor.detection.scanner import RuleScan
from termvisor.model.detection.rule import Rule
from tests.bench.figure import Figure, percentile
from tests.compiled import kept
from tests.noise import lines

COUNT = 200
BLOCK = 64 << 10
NOISE = 20 << 20


def scanned() -> list[Figure]:
    own = [rule for rule in load().rules if rule.scope in ("line", "stream")]
    rules = _many(own)
    scan = RuleScan(rules, cache=kept())
    scan.warm()
    texts = list(lines(3, (), 4 << 20))
    data = "\n".join(texts).encode("ascii", "replace")
    blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
    speed = max(_speed(scan, blocks) for _ in range(3))
    plain = _plain(rules, texts[:2000])
    return [
        Figure(f"scan with {COUNT} rules", speed, 500, "MB/s", f"a loop of re: {plain:.2g} MB/s", is_floor=True),
        Figure("detection on 4 KB, miss", _missed(scan, data[:4096].decode().split("\n")), 10, "us", "the middle run"),
        Figure("detection on 4 KB, hit, p99", _hit(scan, own, texts[:60]), 1, "ms"),
        Figure("events in 20 MB of noise", _false(RuleScan(own, cache=kept()), own), 0, ""),
    ]


def _many(own: list[Rule]) -> list[Rule]:
    """Ours, and as many more of their kind about other programs."""
    more = [
        replace(
            rule,
            id=f"{rule.id}.x{number}",
            pattern=rf"^tool{number}[a-z]{{0,9}}: {('limit', 'login', 'crash')[number % 3]} (?P<what>\w+) at \d+",
            scope="line",
        )
        for number, rule in enumerate((own * 3)[: COUNT - len(own)])
    ]
    return own + more


def _speed(scan: RuleScan, blocks: list[bytes]) -> float:
    matcher = scan._matcher
    assert matcher is not None
    matcher.ids(blocks[0])
    start = time.process_time()
    for block in blocks:
        matcher.ids(block)
    return sum(map(len, blocks)) / (time.process_time() - start) / 1e6


def _plain(rules: list[Rule], texts: list[str]) -> float:
    patterns = [compiled(rule.pattern) for rule in rules]
    start = time.process_time()
    for text in texts:
        for pattern in patterns:
            pattern.search(text)
    return sum(map(len, texts)) / (time.process_time() - start) / 1e6


def _missed(scan: RuleScan, texts: list[str]) -> float:
    """The middle of many runs of many: what the code costs, not the reading of a clock or what else a machine did."""
    return 1e6 * percentile([_timed(scan, texts, 20) / 20 for _ in range(1000)], 0.5)


def _hit(scan: RuleScan, own: list[Rule], texts: list[str]) -> float:
    hits = [hit.text.split("\n") for rule in own for hit in rule.hits]
    return 1e3 * percentile([_timed(scan, [*texts, *hit, *texts[:5]]) for hit in hits for _ in range(10)], 0.99)


def _timed(scan: RuleScan, texts: list[str], times: int = 1) -> float:
    start = time.process_time()
    for _ in range(times):
        scan.lines(texts)
    return time.process_time() - start


def _false(scan: RuleScan, own: list[Rule]) -> float:
    texts = list(lines(11, own, NOISE))
    return sum(len(scan.lines(texts[start : start + 800])) for start in range(0, len(texts), 800))
