"""Measure the scan speed of two hundred rules, compared with a plain ``re`` loop, and the false matches in 20 MB."""

from __future__ import annotations

import time

from msgspec.structs import replace

from termvisor.detection.packs import load_packs
from termvisor.detection.packs.rule_match import compile_pattern
from termvisor.detection.scanner import RuleScanner
from termvisor.model.detection.rule import Rule
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.noise import generate_lines
from tests.pattern_cache import get_pattern_cache_dir

RULE_COUNT = 200
BLOCK_BYTES = 64 << 10
NOISE_BYTES = 20 << 20


def measure_rule_scan() -> list[BudgetedFigure]:
    own = [rule for rule in load_packs().rules if rule.scope in ("line", "stream")]
    rules = _extend_rules(own)
    scan = RuleScanner(rules, cache=get_pattern_cache_dir())
    scan.compile_now()
    texts = list(generate_lines(3, (), 4 << 20))
    data = "\n".join(texts).encode("ascii", "replace")
    blocks = [data[start : start + BLOCK_BYTES] for start in range(0, len(data), BLOCK_BYTES)]
    speed = max(_measure_scan_speed(scan, blocks) for _ in range(3))
    plain = _measure_plain_speed(rules, texts[:2000])
    return [
        BudgetedFigure(
            f"scan with {RULE_COUNT} rules", speed, 500, "MB/s", f"a loop of re: {plain:.2g} MB/s", is_floor=True
        ),
        BudgetedFigure(
            "detection on 4 KB, miss", _measure_miss(scan, data[:4096].decode().split("\n")), 10, "us", "the middle run"
        ),
        BudgetedFigure("detection on 4 KB, hit, p99", _measure_hits(scan, own, texts[:60]), 1, "ms"),
        BudgetedFigure(
            "events in 20 MB of noise",
            _count_false_matches(RuleScanner(own, cache=get_pattern_cache_dir()), own),
            0,
            "",
        ),
    ]


def _extend_rules(own: list[Rule]) -> list[Rule]:
    """Return the built-in rules and as many similar rules about other programs."""
    more = [
        replace(
            rule,
            id=f"{rule.id}.x{number}",
            pattern=rf"^tool{number}[a-z]{{0,9}}: {('limit', 'login', 'crash')[number % 3]} (?P<what>\w+) at \d+",
            scope="line",
        )
        for number, rule in enumerate((own * 3)[: RULE_COUNT - len(own)])
    ]
    return own + more


def _measure_scan_speed(scan: RuleScanner, blocks: list[bytes]) -> float:
    matcher = scan._matcher
    assert matcher is not None
    matcher.find_ids(blocks[0])
    start = time.process_time()
    for block in blocks:
        matcher.find_ids(block)
    return sum(map(len, blocks)) / (time.process_time() - start) / 1e6


def _measure_plain_speed(rules: list[Rule], texts: list[str]) -> float:
    patterns = [compile_pattern(rule.pattern) for rule in rules]
    start = time.process_time()
    for text in texts:
        for pattern in patterns:
            pattern.search(text)
    return sum(map(len, texts)) / (time.process_time() - start) / 1e6


def _measure_miss(scan: RuleScanner, texts: list[str]) -> float:
    """Return the median of many repeated runs, to exclude timer cost and other load."""
    return 1e6 * compute_percentile([_time_scan(scan, texts, 20) / 20 for _ in range(1000)], 0.5)


def _measure_hits(scan: RuleScanner, own: list[Rule], texts: list[str]) -> float:
    hits = [hit.text.split("\n") for rule in own for hit in rule.hits]
    return 1e3 * compute_percentile(
        [_time_scan(scan, [*texts, *hit, *texts[:5]]) for hit in hits for _ in range(10)], 0.99
    )


def _time_scan(scan: RuleScanner, texts: list[str], times: int = 1) -> float:
    start = time.process_time()
    for _ in range(times):
        scan.scan_lines(texts)
    return time.process_time() - start


def _count_false_matches(scan: RuleScanner, own: list[Rule]) -> float:
    texts = list(generate_lines(11, own, NOISE_BYTES))
    return sum(len(scan.scan_lines(texts[start : start + 800])) for start in range(0, len(texts), 800))
