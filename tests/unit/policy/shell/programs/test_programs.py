from termvisor.model.action.policy import COMMAND_CLASSES
from termvisor.policy.shell.call import build_literal_call
from termvisor.policy.shell.programs import PROGRAM_MODULES, collect_analyzers


def test_program_in_several_modules_has_all_analyzers() -> None:
    assert len(collect_analyzers()["rsync"]) == sum("rsync" in topic.ANALYZERS for topic in PROGRAM_MODULES) == 3


def test_analyzers_accept_calls_without_arguments_and_return_known_classes() -> None:
    lines = [(), ("-x",), ("--",), ("a",), ("a", "b"), ("-c", "x"), ("run", "--", "x"), ("",), (";",), ("\ue00f",)]
    found = {
        name
        for program, each in collect_analyzers().items()
        for analyze in each
        for words in lines
        for name in analyze(build_literal_call((program, *words))).classes
    }
    assert found - set(COMMAND_CLASSES) == set()
