-- What people and agents said to each other, out of agents' own transcripts. `key` names it within its session.
CREATE TABLE utterance (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    runtime INTEGER NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    role TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE UNIQUE INDEX utterance_key ON utterance (session, key);
CREATE INDEX utterance_pane ON utterance (pane);

-- The times of 256 consecutive utterances (id >> 8), as block_time has those of blocks.
CREATE TABLE utterance_time (
    shelf INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    until INTEGER NOT NULL
);

-- Written beside each utterance in the same transaction, as block_fts is beside each block.
CREATE VIRTUAL TABLE utterance_fts USING fts5 (
    text, pane, content = 'utterance', content_rowid = 'id', tokenize = 'unicode61', detail = full
);
INSERT INTO utterance_fts (utterance_fts, rank) VALUES ('automerge', 8);
INSERT INTO utterance_fts (utterance_fts, rank) VALUES ('pgsz', 8000);
