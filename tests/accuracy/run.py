"""`make accuracy`: how well each agent is known, on what was recorded of the real programs.

Prints the confusion matrices, what was wrong, and every figure beside its budget; ends with status 1 when one is
missed, or when a scene has no truth to be compared with.
"""

import sys

from termvisor.agents import BUILTIN_AGENTS, load_adapters
from tests.accuracy.agent_accuracy import measure_accuracy
from tests.accuracy.labeled_scene import list_unlabeled_scenes
from tests.bench.figure import render_table


def main() -> int:
    adapters = [adapter for adapter in load_adapters() if adapter.name in BUILTIN_AGENTS]
    found = measure_accuracy(adapters)
    print("\n\n".join(text for one in found if (text := one.format_matrices())))
    print("\nnot as it should be:")
    print("\n".join(f"  {one.name}: {what}" for one in found for what in one.mistakes) or "  nothing")
    print("\nknown holes, which only the screen fills:")
    print("\n".join(f"  {one.name}: {what}" for one in found for what in one.known_holes) or "  none")
    figures = [figure for one in found for figure in one.build_figures()]
    print(f"\n{render_table(figures)}")
    unknown = [f"{adapter.name}/{name}" for adapter in adapters for name in list_unlabeled_scenes(adapter.name)]
    for scene in unknown:
        print(f"{scene}: write into tests/recordings/truth.json what the agent was doing", file=sys.stderr)
    return 0 if not unknown and all(one.is_within_budget for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
