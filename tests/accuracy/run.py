"""`make accuracy`: measure the state detection of each agent on recordings of the real programs.

Prints the confusion matrices, the mistakes, and every figure with its budget. Exits with status 1 if a budget is missed
or a scene has no true state.
"""

import sys

from termvisor.agents.adapters.loader import BUILTIN_AGENTS, load_adapters
from tests.accuracy.agent_accuracy import measure_accuracy
from tests.accuracy.labeled_scene import list_unlabeled_scenes
from tests.bench.figure import render_table


def main() -> int:
    adapters = [adapter for adapter in load_adapters() if adapter.name in BUILTIN_AGENTS]
    results = measure_accuracy(adapters)
    print("\n\n".join(text for result in results if (text := result.format_matrices())))
    print("\nmistakes:")
    print("\n".join(f"  {result.name}: {text}" for result in results for text in result.mistakes) or "  none")
    print("\nknown holes, which only the screen covers:")
    print("\n".join(f"  {result.name}: {text}" for result in results for text in result.known_holes) or "  none")
    figures = [figure for result in results for figure in result.build_figures()]
    print(f"\n{render_table(figures)}")
    unlabeled = [f"{adapter.name}/{name}" for adapter in adapters for name in list_unlabeled_scenes(adapter.name)]
    for scene in unlabeled:
        print(f"{scene}: add the true state to tests/recordings/truth.json", file=sys.stderr)
    return 0 if not unlabeled and all(figure.is_within_budget for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
