"""The raw log and what the database knows of it, seen together."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from termvisor.capture.raw_log import EpochProgress, StoredSegment, is_complete, is_sealable, list_segments
from termvisor.model.ids import EpochId
from termvisor.store import Store


class SegmentInventory(Struct, frozen=True):
    segments: list[StoredSegment]
    epoch_progress: Mapping[EpochId, EpochProgress]

    def list_consumed(self) -> list[StoredSegment]:
        """Segments that nobody needs any more to make text of."""
        return [segment for segment in self.segments if is_complete(segment, self.epoch_progress)]

    def list_sealable(self) -> list[StoredSegment]:
        """Segments that may be sealed."""
        return [segment for segment in self.segments if is_sealable(segment, self.epoch_progress)]


async def take_inventory(store: Store, raw_dir: str) -> SegmentInventory:
    segments = await asyncio.to_thread(list_segments, raw_dir)
    return SegmentInventory(segments, await load_epoch_progress(store))


async def load_epoch_progress(store: Store) -> dict[EpochId, EpochProgress]:
    """Ask after looking at the files: what is on disk and not known here then will never be."""
    epochs = await store.maintenance.read_epoch_progress()
    return {epoch: EpochProgress(*reached) for epoch, reached in epochs.items()}
