"""List raw segments on disk together with the progress of their epochs in the database."""

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
        """Return the segments whose bytes were all turned into stored text."""
        return [segment for segment in self.segments if is_complete(segment, self.epoch_progress)]

    def list_sealable(self) -> list[StoredSegment]:
        return [segment for segment in self.segments if is_sealable(segment, self.epoch_progress)]


async def take_inventory(store: Store, raw_dir: str) -> SegmentInventory:
    segments = await asyncio.to_thread(list_segments, raw_dir)
    return SegmentInventory(segments, await load_epoch_progress(store))


async def load_epoch_progress(store: Store) -> dict[EpochId, EpochProgress]:
    """Read the progress of all epochs; call it after listing the files: an epoch without a row then never gets one."""
    epochs = await store.maintenance.read_epoch_progress()
    return {epoch: EpochProgress(*progress) for epoch, progress in epochs.items()}
