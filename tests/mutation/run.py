"""Change the source of a package in one place at a time, and report the changes that no test notices.

    make mutate PKG=actions SEED=7 MINUTES=5

Works on a copy of the source; the checkout is never changed. First the tests of the package, and others that import it,
run once, to record which functions each of them calls. A mutant is then shown to the tests that call its function:
those of its module first, then those of its package, quick files first. It counts as noticed if one of them fails or
does not end. Mutants that `equivalent.txt` lists with a reason are left out.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FrameType

import hypothesis  # noqa: F401 - imported once here instead of in the process of every mutant
import pytest
import pytest_asyncio.plugin  # noqa: F401 - likewise

from tests.mutation.operators import Mutant, list_mutants

GOAL = 0.9
# Tests that take longer than this together are not worth the wait for one mutant.
MAX_TEST_S = 20.0
EQUIVALENT = Path(__file__).with_name("equivalent.txt")
OPTIONS = ["-q", "-m", "not live", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
TestRecord = tuple[float, list[tuple[str, int]]]
"""Seconds of a test, and file and first line of every function of the project that it called."""


class CallRecorder:
    """A pytest plugin that writes the record of each test; null if it fails."""

    def __init__(self, source: Path, output: Path):
        self._source, self._output = f"{source}/", output
        self._records: dict[str, TestRecord | None] = {}
        self._called: set[CodeType] = set()
        self._has_failed = False

    def _add_call(self, frame: FrameType, event: str, _argument: object) -> None:
        self._called.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._called.clear()
        self._has_failed, began = False, time.monotonic()
        threading.setprofile(self._add_call)
        sys.setprofile(self._add_call)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            places = {(code.co_filename, code.co_firstlineno) for code in self._called}
            own = [(file[len(self._source) :], line) for file, line in places if file.startswith(self._source)]
            self._records[item.nodeid] = None if self._has_failed else (time.monotonic() - began, own)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed |= report.failed

    def pytest_sessionfinish(self) -> None:
        self._output.write_text(json.dumps(self._records))


class TestSelection:
    """A pytest plugin that runs only the given tests, in the given order."""

    def __init__(self, tests: list[str]):
        self._tests = tests

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_id = {item.nodeid: item for item in items}
        items[:] = [by_id[test] for test in self._tests if test in by_id]


class MutationRun:
    def __init__(self, root: Path, package: str, work: Path, seed: int):
        self._root, self._work, self._seed = root, work, seed
        (name,) = (path.parent.name for path in root.glob("src/*/__init__.py"))
        self._sources = sorted((root / "src" / name / package).rglob("*.py"))
        if not self._sources:
            sys.exit(f"{package} is not a folder of src/{name}")
        own, imported = root / "tests/unit" / package, re.compile(rf"\b{name}\.{package.replace('/', '.')}\b")
        tests = (path for room in ("unit", "property", "fuzz") for path in (root / "tests" / room).rglob("test_*.py"))
        self._tests = sorted(path for path in tests if own in path.parents or imported.search(path.read_text()))
        shutil.copytree(root / "src", work / "src")
        self._records = self._load_records()
        self._file_seconds: defaultdict[str, float] = defaultdict(float)
        for test, (seconds, _) in self._records.items():
            self._file_seconds[test.partition("::")[0]] += seconds

    def _load_records(self) -> dict[str, TestRecord]:
        """Run the tests on the unchanged copy, unless that was done before with the same source and tests."""
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in [*self._sources, *self._tests])).hexdigest()
        recorded = self._root / ".pytest_cache" / "mutation" / f"{digest[:16]}.json"
        if not recorded.exists():
            recorded.parent.mkdir(parents=True, exist_ok=True)
            recorder = CallRecorder(self._work / "src", recorded)
            self._run_tests([str(path) for path in self._tests], recorder, timeout=3600)
        records: dict[str, TestRecord | None] = json.loads(recorded.read_text())
        for test in (test for test, record in records.items() if record is None):
            print(f"left out, because it fails by itself: {test}", flush=True)
        return {test: record for test, record in records.items() if record is not None}

    def choose_mutants(self) -> list[Mutant]:
        """Return all mutants in random order, the kinds in turn, without those known to be equivalent."""
        known = {line.rpartition("  # ")[0] for line in EQUIVALENT.read_text().splitlines()}
        kinds: defaultdict[str, list[Mutant]] = defaultdict(list)
        for path in self._sources:
            name = path.relative_to(self._root).as_posix()
            mutants = [(f"{name}: {mutant.change}", mutant) for mutant in list_mutants(name, path.read_text())]
            for stale in sorted(change for change in known - dict(mutants).keys() if change.startswith(f"{name}: ")):
                print(f"{EQUIVALENT.name} lists a change that is not possible: {stale}", flush=True)
            for change, mutant in mutants:
                if change not in known:
                    kinds[mutant.kind].append(mutant)
        source = random.Random(self._seed)
        shuffled = [source.sample(mutants, len(mutants)) for mutants in kinds.values()]
        return [mutant for turn in zip_longest(*shuffled) for mutant in turn if mutant is not None]

    def is_noticed(self, mutant: Mutant) -> bool:
        tests, seconds = self._find_tests(mutant)
        if not tests:
            return False
        module = self._work / mutant.path
        original = module.read_bytes()
        try:
            self._write_module(module, mutant.render().encode())
            files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
            return self._run_tests(files, TestSelection(tests), "-x", timeout=20 + 4 * seconds) != 0
        finally:
            self._write_module(module, original)

    def _find_tests(self, mutant: Mutant) -> tuple[list[str], float]:
        """Return the tests that can notice the mutant, the most specific files first, and their seconds.

        Code that runs on import is shown to the tests that call a function of its module, or to all if there are none.
        """
        costs = {
            test: seconds
            for test, (seconds, called) in self._records.items()
            if any(f"src/{file}" == mutant.path and (line in (mutant.lines or [line])) for file, line in called)
        }
        if not costs and not mutant.lines:
            costs = {test: seconds for test, (seconds, _) in self._records.items()}
        chosen, total = [], 0.0
        for test in sorted(costs, key=lambda test: self._rank_file(mutant, test.partition("::")[0])):
            if not chosen or total + costs[test] <= MAX_TEST_S:
                chosen, total = [*chosen, test], total + costs[test]
        return chosen, total

    def _rank_file(self, mutant: Mutant, file: str) -> tuple[bool, bool, float]:
        folder, module = mutant.path.split("/", 2)[2].rsplit("/", 1)
        own = f"tests/unit/{folder}/test_{module}"
        return file != own, os.path.dirname(file) != os.path.dirname(own), self._file_seconds[file]

    @staticmethod
    def _write_module(path: Path, data: bytes) -> None:
        path.write_bytes(data)
        # Cached bytecode is recognized by size and second of the source, in which two mutants may agree.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def _run_tests(self, files: list[str], plugin: object, *options: str, timeout: float) -> int:
        """Run pytest in a child process and return its exit status; -9 if it was killed after the timeout."""
        places = [f"--rootdir={self._root}", f"--basetemp={self._work}/t", f"--hypothesis-seed={self._seed}"]
        child = os.fork()
        if child == 0:
            status = -1
            try:
                self._enter_copy()
                status = int(pytest.main([*OPTIONS, *places, *options, *files], plugins=[plugin]))
            finally:
                os._exit(status)  # never return into the code of the parent
        descriptor = os.pidfd_open(child)
        try:
            select.select([descriptor], [], [], timeout)
        finally:  # also after Ctrl-C, which does not reach the session of the child
            os.close(descriptor)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    def _enter_copy(self) -> None:
        os.setsid()
        silent = os.open(os.devnull, os.O_RDWR)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.path.insert(0, f"{self._work}/src")
        os.environ |= {"PYTHONPATH": sys.path[0], "HYPOTHESIS_STORAGE_DIRECTORY": f"{self._work}/hypothesis"}
        os.chdir(self._root)


def run_mutants(run: MutationRun, minutes: float) -> float:
    """Try mutants until the time is over, print those that live, and return the share that was noticed."""
    counts: Counter[bool] = Counter()
    deadline = time.monotonic() + 60 * minutes
    for mutant in run.choose_mutants():
        if time.monotonic() > deadline:
            break
        counts[is_noticed := run.is_noticed(mutant)] += 1
        if not is_noticed:
            print(f"{mutant.path}:{mutant.line}: {mutant.kind}: {mutant.change}", flush=True)
    score = counts[True] / (counts.total() or 1)
    print(f"{counts[True]} of {counts.total()} mutants noticed: {score:.0%}")
    return score


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="a folder of the source, for example agents/state")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy is removed
    print(f"mutating {args.package} for {args.minutes:g} minutes, seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutate-") as work:
        run = MutationRun(args.root.resolve(), args.package, Path(work), args.seed)
        return 0 if run_mutants(run, args.minutes) >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
