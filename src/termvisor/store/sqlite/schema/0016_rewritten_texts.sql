-- Rows that were indexed by their rewritten text; all others were indexed by the text itself. FTS5 needs the same text
-- again to remove a row. Without an entry: ASCII, or stored before this migration and not yet indexed again.
CREATE TABLE block_rewritten (id INTEGER PRIMARY KEY);
CREATE TABLE sighting_rewritten (id INTEGER PRIMARY KEY);
CREATE TABLE utterance_rewritten (id INTEGER PRIMARY KEY);

CREATE VIEW block_indexed AS SELECT id, pane,
    CASE WHEN EXISTS (SELECT 1 FROM block_rewritten WHERE block_rewritten.id = block.id)
    THEN rewrite_for_index(text) ELSE text END AS text FROM block;
CREATE VIEW sighting_indexed AS SELECT id, pane,
    CASE WHEN EXISTS (SELECT 1 FROM sighting_rewritten WHERE sighting_rewritten.id = sighting.id)
    THEN rewrite_for_index(text) ELSE text END AS text FROM sighting;
CREATE VIEW utterance_indexed AS SELECT id, pane,
    CASE WHEN EXISTS (SELECT 1 FROM utterance_rewritten WHERE utterance_rewritten.id = utterance.id)
    THEN rewrite_for_index(text) ELSE text END AS text FROM utterance;

-- Rows up to this id were stored before this migration; maintenance indexes them again, from the newest to the oldest.
CREATE TABLE index_upgrade (name TEXT PRIMARY KEY, last_id INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO index_upgrade SELECT 'block', coalesce(max(id), 0) FROM block;
INSERT INTO index_upgrade SELECT 'sighting', coalesce(max(id), 0) FROM sighting;
INSERT INTO index_upgrade SELECT 'utterance', coalesce(max(id), 0) FROM utterance;

-- The indexes stay as they are and only read their text from the views from now on. Creating them again would index
-- everything again, which takes minutes for a large file (https://sqlite.org/lang_altertable.html, section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'content = ''' || substr(name, 1, length(name) - 4) || '''',
    'content = ''' || substr(name, 1, length(name) - 4) || '_indexed''')
    WHERE type = 'table' AND name IN ('block_fts', 'sighting_fts', 'utterance_fts');
PRAGMA writable_schema = RESET;
