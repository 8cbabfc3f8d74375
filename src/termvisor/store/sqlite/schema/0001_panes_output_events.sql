CREATE TABLE server (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target TEXT NOT NULL,
    socket TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started INTEGER NOT NULL,
    UNIQUE (target, socket, pid, started)
);

-- AUTOINCREMENT: an id that was told to a person or a program is never given to another pane.
CREATE TABLE pane (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    server INTEGER NOT NULL REFERENCES server (id),
    mux_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    facts TEXT NOT NULL,
    first_seen_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    gone_at INTEGER,
    last_output_at INTEGER,
    next_line INTEGER NOT NULL DEFAULT 1,
    UNIQUE (server, mux_id, generation)
);
CREATE INDEX pane_present ON pane (id) WHERE gone_at IS NULL;
CREATE INDEX pane_session ON pane (facts ->> 'session_name');

CREATE TABLE epoch (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    source TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    closed_at INTEGER,
    ended_by TEXT,
    committed INTEGER NOT NULL DEFAULT 0,
    size INTEGER,
    carry BLOB NOT NULL DEFAULT x''
);
CREATE INDEX epoch_pane ON epoch (pane, id, size, committed);
CREATE INDEX epoch_open ON epoch (id) WHERE closed_at IS NULL;
CREATE INDEX epoch_unfinished ON epoch (id) WHERE closed_at IS NOT NULL AND committed < size;

CREATE TABLE gap (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    cause TEXT NOT NULL,
    start_at INTEGER NOT NULL,
    end_at INTEGER,
    after_epoch INTEGER REFERENCES epoch (id),
    before_epoch INTEGER REFERENCES epoch (id),
    detail TEXT NOT NULL
);
CREATE INDEX gap_pane ON gap (pane, start_at);
CREATE INDEX gap_start ON gap (start_at);
CREATE INDEX gap_open ON gap (pane) WHERE end_at IS NULL;

-- One row holds several consecutive lines, joined by newlines: a row a line would halve the rate.
CREATE TABLE block (
    id INTEGER PRIMARY KEY,
    pane INTEGER NOT NULL REFERENCES pane (id),
    epoch INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    line_count INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    at INTEGER NOT NULL,
    until INTEGER NOT NULL,
    source TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE UNIQUE INDEX block_line ON block (pane, first_line);

-- The times of 256 consecutive blocks (id >> 8): a search within a time skips what lies outside.
CREATE TABLE block_time (
    shelf INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    until INTEGER NOT NULL
);

-- Written beside each block in the same transaction; triggers would halve the rate.
CREATE VIRTUAL TABLE block_fts USING fts5 (
    text, pane, content = 'block', content_rowid = 'id', tokenize = 'unicode61', detail = full
);
-- Fewer merges while writing: a third faster, and no slower to ask.
INSERT INTO block_fts (block_fts, rank) VALUES ('automerge', 8);
INSERT INTO block_fts (block_fts, rank) VALUES ('pgsz', 8000);

CREATE TABLE mark (
    id INTEGER PRIMARY KEY,
    pane INTEGER NOT NULL REFERENCES pane (id),
    epoch INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    exit_code INTEGER,
    params TEXT NOT NULL
);
CREATE INDEX mark_pane ON mark (pane, id);

-- AUTOINCREMENT: an event's id is the cursor of the stream and only ever rises.
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    pane INTEGER REFERENCES pane (id),
    data TEXT NOT NULL
);
CREATE INDEX event_pane ON event (pane, id);
CREATE INDEX event_at ON event (at);
