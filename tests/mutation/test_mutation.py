"""The mutation run finds a condition whose terms are never false alone, and leaves the checkout as it was."""

import os
import subprocess
import sys
from pathlib import Path

from tests.mutation.operators import list_mutants
from tests.mutation.run import EQUIVALENT

ROOT = Path(__file__).parents[2]
SOURCE = '''"""Opening hours."""

def is_open(hour, *, is_holiday):
    """Return True from 8 o'clock."""
    log.debug("asked")
    return hour >= 8 and not is_holiday
'''
TEST = """
from toy.shop.hours import is_open

def test_hours():
    assert is_open(8, is_holiday=False)
    assert not is_open(7, is_holiday=True)
"""

FAILING_TEST = """
from toy.shop.hours import is_open

def test_fails():
    assert not is_open(8, is_holiday=False)
"""


def write_project(root: Path) -> dict[Path, bytes]:
    files = {
        "src/toy/__init__.py": "class log:\n    def debug(*_): pass\n",
        "src/toy/shop/__init__.py": "",
        "src/toy/shop/hours.py": "from toy import log\n" + SOURCE,
        "tests/unit/shop/test_hours.py": TEST,
        "tests/property/test_fails.py": FAILING_TEST,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return read_sources(root)


def run_mutation(root: Path, package: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.mutation.run", package, "--root", str(root), "--seed", "1"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False, capture_output=True, text=True)


def read_sources(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(root.glob("src/**/*.py"))}


def test_a_planted_hole_is_reported_and_everything_restored(tmp_path: Path) -> None:
    before, work = write_project(tmp_path / "toy"), tmp_path / "work"
    work.mkdir()
    done = run_mutation(tmp_path / "toy", "shop", TMPDIR=str(work))
    where = "src/toy/shop/hours.py:7"
    assert (
        done.stdout.splitlines()[1] == "left out, because it fails by itself: tests/property/test_fails.py::test_fails"
    )
    assert sorted(done.stdout.splitlines()[2:-1]) == [
        f"{where}: and/or swapped: hour >= 8 and (not is_holiday)  →  hour >= 8 or not is_holiday",
        f"{where}: term dropped: hour >= 8 and (not is_holiday)  →  hour >= 8",
        f"{where}: term dropped: hour >= 8 and (not is_holiday)  →  not is_holiday",
    ]
    assert (done.stdout.splitlines()[-1], done.returncode) == ("2 of 5 mutants noticed: 40%", 1)
    assert read_sources(tmp_path / "toy") == before
    assert list(work.iterdir()) == []


def test_an_unknown_package_is_an_error(tmp_path: Path) -> None:
    write_project(tmp_path)
    done = run_mutation(tmp_path, "shpo")
    assert (done.returncode, done.stderr) == (1, "shpo is not a folder of src/toy\n")


def test_every_mutant_changes_one_place_and_the_next_starts_from_the_original() -> None:
    text = (ROOT / "src/termvisor/actions/gate.py").read_text()
    mutants = list(list_mutants("gate.py", text))
    rendered = [mutant.render() for mutant in mutants[::20]]
    assert len(set(rendered)) == len(rendered) > 5
    assert {mutant.render() for mutant in mutants[::20]} == set(rendered)
    assert {mutant.kind for mutant in mutants} == {
        "and/or swapped", "argument dropped", "comparison changed", "condition negated", "handler emptied",
        "raise removed", "return changed", "statement deleted", "term dropped", "text changed",
    }  # fmt: skip


def test_what_no_test_should_notice_is_not_changed() -> None:
    untested = [
        "import a", '"""Doc."""', "log.info('x')", "class A(Protocol):\n    def f(self): return 1", "x: Literal['a']",
        "def __repr__(self): return 'a'", "x = f'a{b}'", "if a == b: log.info(c)", "class B(C, frozen=True): ...",
    ]  # fmt: skip
    found = [mutant.change for text in untested for mutant in list_mutants("a.py", text)]
    assert found == ["x = f'a{b}'  →  pass"]


def test_every_equivalent_mutant_names_its_file_and_a_reason() -> None:
    for line in EQUIVALENT.read_text().splitlines():
        change, _, reason = line.rpartition("  # ")
        assert (ROOT / change.partition(": ")[0]).is_file() and "  →  " in change and reason, line
