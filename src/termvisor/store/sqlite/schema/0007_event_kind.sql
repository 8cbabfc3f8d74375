-- A rare kind is found without reading the events between; whether one is young enough is seen in the index itself.
CREATE INDEX event_kind ON event (kind, id, at);
