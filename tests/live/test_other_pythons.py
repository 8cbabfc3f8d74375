"""What turns bytes into stored text is right on every Python of this machine, Debian's own among them.

Python 3.11.2 of Debian 12 matches some patterns wrongly (CPython gh-106052), so that text was stored wrongly there.
"""

import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.live
ROOT = Path(__file__).parents[2]
PYTHONS = {path.parents[1].name: path for path in sorted(ROOT.glob(".parts/pythons/*/bin/python"))}
SUITES = ("terminal", "redaction", "detection", "regex", "search", "store/sqlite/test_index_text.py")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[subprocess.Popen[bytes], Path]]]:
    """The suites on each interpreter, started together: they take ten seconds of one core each."""
    folder = tmp_path_factory.mktemp("pythons")
    suites = [f"tests/unit/{suite}" for suite in SUITES]
    started = {}
    for version, python in PYTHONS.items():
        output = folder / version
        command = [python, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", f"--basetemp={output}-tmp", *suites]
        with output.open("wb") as file:
            process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        started[version] = process, output
    yield started
    for process, _ in started.values():
        process.kill()
        process.wait()


@pytest.mark.parametrize("version", PYTHONS)
def test_the_suites_of_text_pass_on_every_python(
    runs: dict[str, tuple[subprocess.Popen[bytes], Path]], version: str
) -> None:
    process, output = runs[version]
    status = process.wait(timeout=110)
    assert status == 0, output.read_text("utf-8", "replace")[-4000:]


def test_the_systems_own_python_is_among_them() -> None:
    printed = subprocess.run(["/usr/bin/python3", "-V"], capture_output=True, text=True, check=True).stdout
    assert printed.split()[1] in {*PYTHONS, platform.python_version()}
