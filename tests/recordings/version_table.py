"""Write the table of recorded agent versions into docs/states.md: `python -m tests.recordings.version_table [--check]`.

`make docs` writes it, `make check` compares it.
"""

import re
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

from termvisor.agents.adapters.loader import list_recorded_versions, load_adapters
from termvisor.model.agent.program_version import order_versions
from tests.recordings.version_recording import list_recordings, load_recording

PAGE = Path(__file__).parents[2] / "docs" / "states.md"
_BLOCK = re.compile(r"(?<=<!-- recorded versions, by `make docs` -->\n).*?(?=<!-- end -->)", re.DOTALL)
_WITHOUT_STATES = ("generic",)


def render_table() -> str:
    """Return the table of recorded versions, and the agents without any."""
    held_out, moments = set(), defaultdict[str, int](int)
    for recording in map(load_recording, list_recordings()):
        moments[recording.agent] += len(recording.moments)
        if recording.is_held_out:
            held_out.add((recording.agent, recording.version))
    rows, unproven = [], []
    for agent in sorted(adapter.name for adapter in load_adapters() if adapter.name not in _WITHOUT_STATES):
        versions = [
            f"**{one}**" if (agent, one) in held_out else one for one in order_versions(list_recorded_versions(agent))
        ]
        if versions:
            rows.append(f"| `{agent}` | {', '.join(versions)} | {moments[agent]} |")
        else:
            unproven.append(f"`{agent}`")
    table = "\n".join(["| agent | versions | moments |", "|---|---|---|", *rows])
    others = textwrap.fill(f"Recognised, states unproven: {', '.join(unproven)}.", 120)
    return f"\n{table}\n\n{others}\n\n"


def main(arguments: list[str]) -> int:
    page = PAGE.read_text("utf-8")
    written = _BLOCK.sub(lambda _: render_table(), page)
    if "--check" not in arguments:
        PAGE.write_text(written, "utf-8")
    elif written != page:
        print(f"stale: {PAGE.name}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
