"""Rules that crash Hyperscan are found in child processes."""

import signal

import pytest

from termvisor.detection.packs.crash_test import CrashTest, load_crashing_rules, save_crashing_rules
from termvisor.regex.isolated_compile import IsolatedCompileRequest, TriedPattern
from termvisor.system.worker import TIMED_OUT, WorkerResult
from tests.unit.detection.packs.rule_factory import build_rule

FATAL_NAMES = {"crash", "endless"}


class CrashingWorker:
    """A fake worker process that crashes with `crash`, and with `cat` and `dog` together."""

    def __init__(self) -> None:
        self.compiled_together: list[str] = []

    def __call__(self, function: str, args: tuple[IsolatedCompileRequest], **_) -> WorkerResult[TriedPattern]:
        names = list(args[0].patterns)
        return self.compile_together(names) if args[0].keep_in else self.compile_each(names)

    def compile_together(self, names: list[str]) -> WorkerResult[TriedPattern]:
        self.compiled_together.append(" ".join(names))
        is_fatal = FATAL_NAMES & set(names) or {"cat", "dog"} <= set(names)
        return WorkerResult(-signal.SIGABRT if is_fatal else 0)

    def compile_each(self, names: list[str]) -> WorkerResult[TriedPattern]:
        fatal = next((index for index, name in enumerate(names) if name in FATAL_NAMES), None)
        tried = [TriedPattern(name) for name in names[: None if fatal is None else fatal + 1]]
        status = 0 if fatal is None else {"crash": -signal.SIGABRT, "endless": TIMED_OUT}[names[fatal]]
        refused = [TriedPattern("large", "too much") for one in tried if one.id == "large"]
        return WorkerResult(status, tried + refused)


def build_crash_test() -> CrashTest:
    return CrashTest(run_worker=CrashingWorker())


def build_rules(*names: str):
    return [build_rule(name, name) for name in names]


def test_rules_that_compile_are_not_reported(tmp_path):
    assert build_crash_test().find_crashing(build_rules("one", "two")) == {}
    assert build_crash_test().compile_surviving(build_rules("one", "two"), {"two"}, str(tmp_path)) == {}


def test_each_crashing_or_refused_rule_is_named_and_the_rest_is_tested():
    guilty = build_crash_test().find_crashing(build_rules("one", "crash", "large", "two"))
    assert list(guilty) == ["crash", "large"]
    assert "crashes on it (SIGABRT)" in guilty["crash"]
    assert guilty["large"] == "cannot be used: Hyperscan reports: too much"


def test_a_rule_that_times_out_is_named():
    assert "times out" in build_crash_test().find_crashing(build_rules("one", "endless"))["endless"]


def test_the_crashing_rule_is_left_out_and_the_others_are_compiled(tmp_path):
    worker = CrashingWorker()
    crash_test = CrashTest(run_worker=worker)
    crashing = crash_test.compile_surviving(build_rules("one", "crash", "two"), {"crash", "two"}, str(tmp_path))
    assert list(crashing) == ["crash"]
    assert worker.compiled_together[-1] == "one two"


@pytest.mark.parametrize(
    ("suspects", "culprit"),
    [(("one", "dog", "two", "three"), ["dog"]), (("one", "cat", "two", "dog"), ["dog"]), ((), [])],
)
def test_a_rule_that_crashes_only_with_others_is_found_by_bisection(tmp_path, suspects, culprit):
    all_rules = build_rules("one", "cat", "two", "dog", "three")
    assert list(build_crash_test().compile_surviving(all_rules, set(suspects), str(tmp_path))) == culprit


def test_a_process_that_cannot_start_proves_nothing(tmp_path):
    broken = CrashTest(run_worker=lambda *_, **__: WorkerResult(1, stderr="ModuleNotFoundError"))
    assert broken.find_crashing(build_rules("one")) == {}
    assert broken.compile_surviving(build_rules("one"), {"one"}, str(tmp_path)) == {}


def test_a_crashing_pattern_is_stored_for_this_engine_version(tmp_path):
    assert load_crashing_rules(str(tmp_path)) == {}
    save_crashing_rules(str(tmp_path), {"a+": "it crashes"})
    save_crashing_rules(str(tmp_path), {"b+": "it crashes, too"})
    assert load_crashing_rules(str(tmp_path)) == {"a+": "it crashes", "b+": "it crashes, too"}
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text().replace('"engine":"', '"engine":"0.0.'))
    assert load_crashing_rules(str(tmp_path)) == {}
    file.write_text("{")
    assert load_crashing_rules(str(tmp_path)) == {}
