from termvisor.model.action.policy import COMMAND_CLASSES
from termvisor.policy.shell.call import literal
from termvisor.policy.shell.programs import BUILTIN, looks


def test_a_program_that_stands_in_several_topics_is_looked_at_by_all() -> None:
    assert len(looks()["rsync"]) == sum("rsync" in topic.LOOKS for topic in BUILTIN) == 3


def test_no_look_stumbles_over_a_call_without_words_or_names_an_unknown_class() -> None:
    lines = [(), ("-x",), ("--",), ("a",), ("a", "b"), ("-c", "x"), ("run", "--", "x"), ("",), (";",), ("\ue00f",)]
    found = {
        name
        for program, each in looks().items()
        for look in each
        for words in lines
        for name in look(literal((program, *words))).classes
    }
    assert found - set(COMMAND_CLASSES) == set()
