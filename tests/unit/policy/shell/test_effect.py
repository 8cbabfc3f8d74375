from termvisor.policy.shell.effect import NO_EFFECT, CommandEffect, merge_effects
from termvisor.policy.shell.word import ShellWord


def test_effects_add_up_and_a_class_counts_once() -> None:
    both = merge_effects(
        CommandEffect(classes=("disk",), writes=(ShellWord("a"),), hosts=("x",)),
        CommandEffect(classes=("disk", "delete"), writes=(ShellWord("b"),), moves_to=ShellWord("c")),
    )
    expected = CommandEffect(
        classes=("disk", "delete"), writes=(ShellWord("a"), ShellWord("b")), hosts=("x",), moves_to=ShellWord("c")
    )
    assert both == expected


def test_merging_no_effects_gives_no_effect() -> None:
    assert merge_effects(NO_EFFECT, NO_EFFECT) == NO_EFFECT
