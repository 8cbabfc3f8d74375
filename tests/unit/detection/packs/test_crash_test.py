"""Rules that crash Hyperscan are found in child processes."""

import sys

import pytest

from termvisor.detection.packs.crash_test import CrashTest, load_crashing_rules, save_crashing_rules
from tests.unit.detection.packs.rule_factory import build_rule

FRAIL = """
import json, os, sys
from pathlib import Path
trial = json.load(sys.stdin)
names = list(trial["patterns"])
if trial.get("keep_in"):
    with open(trial["keep_in"] + "/asked", "a") as file:
        file.write(" ".join(names) + "\\n")
    if {"crash", "endless"} & set(names) or {"cat", "dog"} <= set(names):
        os.abort()
    sys.exit(0)
for name in names:
    os.write(1, f"? {name}\\n".encode())
    if name == "crash":
        os.abort()
    if name == "endless":
        while True: pass
    if name == "large":
        os.write(1, b"! large too much\\n")
sys.exit(0)
"""
"""Stands in for the process that tries: it does not survive `crash`, and not `cat` and `dog` together."""


def frail(within: float = 60.0) -> CrashTest:
    return CrashTest(command=(sys.executable, "-ISc", FRAIL), timeout_s=within)


def rules(*names: str):
    return [build_rule(name, name) for name in names]


def test_good_rules_are_not_reported(tmp_path):
    assert frail().find_crashing(rules("one", "two")) == {}
    assert frail().compile_surviving(rules("one", "two"), {"two"}, str(tmp_path)) == {}


def test_each_crashing_or_refused_rule_is_named_and_the_rest_is_tested():
    guilty = frail().find_crashing(rules("one", "crash", "large", "two"))
    assert list(guilty) == ["crash", "large"]
    assert "crashes on it (SIGABRT)" in guilty["crash"]
    assert guilty["large"] == "cannot be used: Hyperscan reports: too much"


def test_a_rule_that_times_out_is_named():
    assert "times out" in frail(within=1.0).find_crashing(rules("one", "endless"))["endless"]


def test_the_crashing_rule_is_left_out_and_the_others_are_compiled(tmp_path):
    assert list(frail().compile_surviving(rules("one", "crash", "two"), {"crash", "two"}, str(tmp_path))) == ["crash"]
    assert (tmp_path / "asked").read_text().splitlines()[-1] == "one two"


@pytest.mark.parametrize(
    ("suspects", "culprit"),
    [(("one", "dog", "two", "three"), ["dog"]), (("one", "cat", "two", "dog"), ["dog"]), ((), [])],
)
def test_a_rule_that_crashes_only_with_others_is_found_by_bisection(tmp_path, suspects, culprit):
    all_rules = rules("one", "cat", "two", "dog", "three")
    assert list(frail().compile_surviving(all_rules, set(suspects), str(tmp_path))) == culprit


def test_a_process_that_cannot_start_proves_nothing(tmp_path):
    broken = CrashTest(command=(sys.executable, "-c", "import nothing_of_that_name"))
    assert broken.find_crashing(rules("one")) == {}
    assert broken.compile_surviving(rules("one"), {"one"}, str(tmp_path)) == {}
    assert CrashTest(command=("/nonexistent",)).compile_surviving(rules("one"), {"one"}, str(tmp_path)) == {}


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
