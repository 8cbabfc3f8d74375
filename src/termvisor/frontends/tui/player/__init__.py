"""The player of `visor replay`: fetch frames (`frame_buffer`), step through them (`playback`), paint (`frame_view`)."""
