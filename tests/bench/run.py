"""`make bench`: print every figure with its budget; exit with status 1 if a budget is missed.

The share of each budget that was used is compared with the committed baseline too: more than 1.2 times is a miss.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.accuracy import version_accuracy
from tests.bench import (
    cockpit_cost,
    hostile_floods,
    ingest_speed,
    job_throughput,
    maintenance_cost,
    mcp_cost,
    output_latency,
    overlap_speed,
    own_ptys,
    pane_cost,
    prompt_cost,
    record_latency,
    repaint_cost,
    replayed_agents,
    robot_call_cost,
    rule_scan_speed,
    search_speed,
    send_cost,
    server_memory,
    soak,
    state_latency,
    topology_latency,
    viewer_cost,
)
from tests.bench.figure import BudgetedFigure, render_table

BENCHMARKS = {
    "robot": robot_call_cost.measure_robot_state,
    "status": robot_call_cost.measure_status_line,
    "mcp": mcp_cost.measure_mcp_bridge,
    "prompt": prompt_cost.measure_prompt_cost,
    "sends": send_cost.measure_send_cost,
    "jobs": job_throughput.measure_jobs,
    "rules": rule_scan_speed.measure_rule_scan,
    "overlap": overlap_speed.measure_overlap,
    "ingest": ingest_speed.measure_ingest,
    "search": search_speed.measure_search,
    "upkeep": maintenance_cost.measure_maintenance,
    "latency": output_latency.measure_output_latency,
    "heard": record_latency.measure_record_latency,
    "told": state_latency.measure_state_latency,
    "topology": topology_latency.measure_topology,
    "recorder": topology_latency.measure_recorder_loss,
    "memory": server_memory.measure_server_memory,
    "versions": version_accuracy.measure_released_versions,
    "agents": replayed_agents.measure_replayed_agents,
    "flood": ingest_speed.measure_flood,
    "chatty": pane_cost.measure_chatty_panes,
    "quiet": pane_cost.measure_quiet_panes,
    "repaint": repaint_cost.measure_repaints,
    "hostile": hostile_floods.measure_floods,
    "neighbours": hostile_floods.measure_neighbours,
    "cockpit": cockpit_cost.measure_cockpit,
    "ptyhost": own_ptys.measure_host_memory,
    "attach": own_ptys.measure_attach,
    "viewers": viewer_cost.measure_viewers,
    "soak": soak.measure_soak,
}
BASELINE = Path(__file__).with_name("baseline.json")
MAX_BASELINE_RATIO = 1.2
IGNORED_BUDGET_SHARE = 0.5
"""Below half of its budget a figure may vary freely, because timings on a shared machine do."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make bench", description="Every figure beside its budget.")
    parser.add_argument("name", nargs="*", help=f"only these: {', '.join(BENCHMARKS)}")
    parser.add_argument("--write-baseline", action="store_true", help="what is measured now is the baseline")
    wanted = parser.parse_args(arguments)
    if unknown := [name for name in wanted.name if name not in BENCHMARKS]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    figures: list[BudgetedFigure] = []
    for name in wanted.name or BENCHMARKS:
        print(f"{name} …", flush=True)
        figures += BENCHMARKS[name]()
    print("\n" + render_table(figures))
    if wanted.write_baseline:
        BASELINE.write_text(json.dumps({one.name: round(one.budget_share, 3) for one in figures}, indent=2) + "\n")
    worse = [
        one
        for one in figures
        if one.budget_share > max(IGNORED_BUDGET_SHARE, MAX_BASELINE_RATIO * load_baseline().get(one.name, 1.0))
    ]
    for one in worse:
        was = load_baseline().get(one.name, 1.0)
        print(f"worse than the baseline: {one.name}: {one.budget_share:.2f}x of its budget, was {was:.2f}x")
    return 1 if worse or not all(one.is_within_budget for one in figures) else 0


def load_baseline() -> dict[str, float]:
    return json.loads(BASELINE.read_text()) if BASELINE.exists() else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
