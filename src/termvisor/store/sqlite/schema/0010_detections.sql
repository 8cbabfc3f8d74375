-- What rules found and agents told, beside the event that each of them is. What is seen again within its cooldown is
-- counted in the row of the first.
CREATE TABLE detection (
    event INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    rule TEXT NOT NULL,
    pane INTEGER NOT NULL REFERENCES pane (id),
    runtime INTEGER,
    agent TEXT NOT NULL,
    severity INTEGER NOT NULL,
    captures TEXT NOT NULL,
    source TEXT NOT NULL,
    evidence TEXT NOT NULL,
    context TEXT NOT NULL,
    confidence REAL NOT NULL,
    key TEXT NOT NULL,
    cooldown REAL NOT NULL,
    trace TEXT NOT NULL,
    seen_again INTEGER NOT NULL DEFAULT 0,
    last_at INTEGER NOT NULL,
    handled_at INTEGER,
    handled_by TEXT NOT NULL DEFAULT '',
    action_taken TEXT NOT NULL DEFAULT '',
    run INTEGER
);
CREATE INDEX detection_key ON detection (pane, key);
CREATE INDEX detection_unhandled ON detection (event) WHERE handled_at IS NULL;

-- What is stored and counts as handled at once. AUTOINCREMENT: a number that a person was told names no other later.
CREATE TABLE mute (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    what TEXT NOT NULL,
    pane INTEGER REFERENCES pane (id),
    at INTEGER NOT NULL,
    until INTEGER,
    by TEXT NOT NULL
);
CREATE INDEX mute_pane ON mute (pane);
