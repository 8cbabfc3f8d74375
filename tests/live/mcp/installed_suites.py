"""Where `.ci/mcp-suites` installs the inspector and the conformance suite, and the node that runs them."""

import os
from pathlib import Path

MODULES = Path(__file__).parents[3] / ".parts" / "mcp" / "node_modules"
INSPECTOR = MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CONFORMANCE = MODULES / "@modelcontextprotocol/conformance/dist/index.js"


def find_node() -> str:
    """Return the installed node; both programs need a newer one than Debian has."""
    found = next(iter(sorted(MODULES.glob("node-*/bin/node"))), None)
    if found is None or not INSPECTOR.exists() or not CONFORMANCE.exists():
        raise AssertionError("the inspector and the conformance suite are not installed: run .ci/setup live")
    return str(found)


def build_node_environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(find_node()).parent}:{os.environ['PATH']}"}
