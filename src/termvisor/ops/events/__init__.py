"""Operations on events and detections, their mutes, and notifications; start with `_event_item`."""
