"""The player of `visor replay`: fetches frames (`frame_buffer`), steps through (`playback`), paints (`frame_view`)."""
