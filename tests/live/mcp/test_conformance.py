"""The official conformance suite, with the requirements of both eras; no failure is expected.

Over HTTP, because the suite speaks nothing else, and with the fixtures that it asks for; both are only for this test.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.live.mcp.installed_suites import CONFORMANCE, build_node_environment, find_node

pytestmark = pytest.mark.live
EXPECTED_FAILURES = Path(__file__).with_name("expected_failures.yaml")


@pytest.fixture
def address() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.live.mcp.conformance_server"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize(("requirements", "scenarios"), [("2026-07-28", 37), ("2025-11-25", 30)])
def test_every_required_scenario_passes(address: str, requirements: str, scenarios: int, tmp_path: Path) -> None:
    command = [find_node(), str(CONFORMANCE), "server", "--url", address, "--requirements", requirements]
    command += ["--expected-failures", str(EXPECTED_FAILURES), "-o", str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=110, cwd=tmp_path, env=build_node_environment(), check=False
    )
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    marks = {name: mark for mark, name in re.findall(r"^([✓✗]) (\S+):", summary, re.MULTILINE)}
    frozen = yaml.safe_load((CONFORMANCE.parents[1] / "requirements" / f"{requirements}.yaml").read_text())
    required = {name: marks[name] for name in frozen["server"]}
    assert set(required.values()) == {"✓"}, summary
    assert len(required) == scenarios
    assert done.returncode == 0, done.stdout[-2000:]
