from termvisor.policy.shell.effect import NOTHING, Effect, plus
from termvisor.policy.shell.word import Word


def test_effects_add_up_and_a_class_counts_once() -> None:
    both = plus(
        Effect(classes=("disk",), writes=(Word("a"),), hosts=("x",)),
        Effect(classes=("disk", "delete"), writes=(Word("b"),), moves_to=Word("c")),
    )
    expected = Effect(classes=("disk", "delete"), writes=(Word("a"), Word("b")), hosts=("x",), moves_to=Word("c"))
    assert both == expected


def test_nothing_added_is_nothing() -> None:
    assert plus(NOTHING, NOTHING) == NOTHING
