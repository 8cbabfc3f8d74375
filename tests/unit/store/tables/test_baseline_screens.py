"""The screen of a pane when its capture began."""

from termvisor.model.terminal.screen import Screen


async def test_baseline_screen_is_read_back_for_its_pane(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    epoch = await store.output.open_epoch(pane, "pipe", 5)
    screen = Screen(
        pane=pane, rows=("$ ls", "", "é日"), width=80, height=3, cursor_x=2, cursor_y=1, alternate=True, at=5
    )
    await store.baseline_screens.save(epoch, screen)
    assert await store.baseline_screens.find_by_pane(pane) == {epoch: screen}
    assert await store.baseline_screens.find_by_pane(other) == {}
