"""`make bench`: every figure beside its budget; ends with status 1 when one is missed.

The share of each budget that was used is compared with the committed baseline too: more than 1.2 times is a miss.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.bench import (
    agents,
    find,
    heard,
    hostile,
    ingest,
    latency,
    panes,
    prompt,
    robot,
    rules,
    sends,
    soak,
    told,
    upkeep,
)
from tests.bench.figure import Figure, table

BENCHES = {
    "robot": robot.state,
    "status": robot.status_line,
    "prompt": prompt.cost,
    "sends": sends.gate,
    "rules": rules.scanned,
    "ingest": ingest.text,
    "search": find.million,
    "upkeep": upkeep.slices,
    "latency": latency.latencies,
    "heard": heard.records,
    "told": told.states,
    "agents": agents.replayed,
    "flood": ingest.flood,
    "chatty": panes.chatty,
    "quiet": panes.quiet,
    "hostile": hostile.floods,
    "soak": soak.day,
}
BASELINE = Path(__file__).with_name("baseline.json")
SLACK = 1.2
NOISE = 0.5
"""Below half of its budget a figure may move freely: timers of a shared machine do."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make bench", description="Every figure beside its budget.")
    parser.add_argument("name", nargs="*", help=f"only these: {', '.join(BENCHES)}")
    parser.add_argument("--write-baseline", action="store_true", help="what is measured now is the baseline")
    wanted = parser.parse_args(arguments)
    if unknown := [name for name in wanted.name if name not in BENCHES]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(BENCHES)}")
    figures: list[Figure] = []
    for name in wanted.name or BENCHES:
        print(f"{name} …", flush=True)
        figures += BENCHES[name]()
    print("\n" + table(figures))
    if wanted.write_baseline:
        BASELINE.write_text(json.dumps({one.name: round(one.share, 3) for one in figures}, indent=2) + "\n")
    worse = [one for one in figures if one.share > max(NOISE, SLACK * baseline().get(one.name, 1.0))]
    for one in worse:
        was = baseline().get(one.name, 1.0)
        print(f"worse than the baseline: {one.name}: {one.share:.2f}x of its budget, was {was:.2f}x")
    return 1 if worse or not all(one.is_met for one in figures) else 0


def baseline() -> dict[str, float]:
    return json.loads(BASELINE.read_text()) if BASELINE.exists() else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
