"""`make accuracy`: how well each agent is known, on what was recorded of the real programs.

Prints the confusion matrices, what was wrong, and every figure beside its budget; ends with status 1 when one is
missed, or when a scene has no truth to be compared with.
"""

import sys

from termvisor.agents import BUILTIN, load
from tests.accuracy.moment import without_truth
from tests.accuracy.verdict import verdicts
from tests.bench.figure import table


def main() -> int:
    adapters = [adapter for adapter in load() if adapter.name in BUILTIN]
    found = verdicts(adapters)
    print("\n\n".join(text for one in found if (text := one.matrices())))
    print("\nnot as it should be:")
    print("\n".join(f"  {one.name}: {what}" for one in found for what in one.wrong) or "  nothing")
    print("\nknown holes, which only the screen fills:")
    print("\n".join(f"  {one.name}: {what}" for one in found for what in one.holes) or "  none")
    figures = [figure for one in found for figure in one.figures()]
    print(f"\n{table(figures)}")
    unknown = [f"{adapter.name}/{name}" for adapter in adapters for name in without_truth(adapter.name)]
    for scene in unknown:
        print(f"{scene}: write into tests/recordings/truth.json what the agent was doing", file=sys.stderr)
    return 0 if not unknown and all(one.is_met for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
