-- A row that a repainting screen showed, once a screen life; `fold` is how it is compared, hashed with its life.
-- AUTOINCREMENT: screens name their rows by these ids, and people screens by theirs.
CREATE TABLE sighting (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    epoch INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    screen INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE UNIQUE INDEX sighting_fold ON sighting (epoch, fold);

-- The screens in which something was seen for the first time. `rows` is a msgpack array: the id of the sighting that
-- says the same, the text where none does, 0 for a blank row, nil for a row of the input area.
CREATE TABLE screen (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    at INTEGER NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    cursor_x INTEGER NOT NULL,
    cursor_y INTEGER NOT NULL,
    is_alternate INTEGER NOT NULL,
    rows BLOB NOT NULL
);
CREATE INDEX screen_pane ON screen (pane, at);

-- The times of 256 consecutive sightings (id >> 8), as block_time has those of blocks.
CREATE TABLE sighting_time (
    shelf INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    until INTEGER NOT NULL
);

-- Written beside each sighting in the same transaction, as block_fts is beside each block.
CREATE VIRTUAL TABLE sighting_fts USING fts5 (
    text, pane, content = 'sighting', content_rowid = 'id', tokenize = 'unicode61', detail = full
);
INSERT INTO sighting_fts (sighting_fts, rank) VALUES ('automerge', 8);
INSERT INTO sighting_fts (sighting_fts, rank) VALUES ('pgsz', 8000);

-- What a pane showed when its epoch began is text of a screen too, and is asked for together with sightings.
CREATE INDEX block_screen ON block (id) WHERE source = 'screen';
