"""The decoded text is that of tmux: the same bytes in real panes, and their history compared with the settled lines."""

import random

import pytest

from termvisor.terminal.text_decoder import TextDecoder
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.tmux_screens import PrintedScreen, generate_lines, generate_output, print_in_panes
from tests.unit.terminal.decoder_driver import build_delta
from tests.unit.terminal.terminal_seeds import HEIGHT, SEEDS, WIDTHS


@pytest.fixture
def printer():
    """Print programs in a tmux server of their own."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        yield lambda programs, sizes: print_in_panes(tmux, folder, programs, sizes)


def decode_screen(screen: PrintedScreen) -> list[str]:
    decoder, texts = TextDecoder(*screen.sizes[0]), []
    for part, size in zip(screen.parts, screen.sizes, strict=True):
        outputs = [decoder.resize(*size), decoder.feed(build_delta(part, decoder.offset))]
        texts += [line.text for output in outputs for line in output.lines]
    texts += [line.text for line in decoder.finish(0).lines]
    shown = [text.replace("\ufffd", "").rstrip(" ") for text in texts]
    return shown[: max((number + 1 for number, text in enumerate(shown) if text), default=0)]


def find_differences(screens: list[PrintedScreen]) -> list[tuple[PrintedScreen, list[str]]]:
    return [(screen, texts) for screen in screens if (texts := decode_screen(screen)) != screen.lines]


@pytest.mark.live
@pytest.mark.parametrize("width", WIDTHS)
def test_the_seeds_show_in_tmux_what_the_unit_tests_expect(printer, width):
    screens = printer([(seed.encode(),) for seed in SEEDS], ((width, HEIGHT),))
    assert [screen.lines for screen in screens] == [seed.list_lines(width) for seed in SEEDS]
    assert find_differences(screens) == []


@pytest.mark.live
@pytest.mark.parametrize("size", [(10, 4), (20, 6), (40, 6), (80, 10)])
def test_random_output_gives_the_text_of_tmux(printer, size):
    generator = random.Random(f"{size}")
    screens = printer([(generate_output(generator),) for _ in range(80)], (size,))
    # Wide characters that are cut in half in the first column, and repeated clears, are kept differently on purpose.
    assert len(find_differences(screens)) <= 3, find_differences(screens)


@pytest.mark.live
@pytest.mark.parametrize(
    "sizes", [((20, 5), (40, 10), (30, 6)), ((60, 8), (20, 8), (60, 5)), ((40, 6), (40, 12), (40, 4))]
)
def test_resized_panes_give_the_text_of_tmux(printer, sizes):
    generator = random.Random(f"{sizes}")
    screens = printer([tuple(generate_lines(generator) for _ in sizes) for _ in range(30)], sizes)
    assert len(find_differences(screens)) <= 1, find_differences(screens)
