-- What the search over everything said rests on. All of it is derived from messages and can be made anew.

-- Messages that are not in the index yet, oldest first: a message costs one small row when it is stored, and
-- is indexed in a quiet moment, or by the next search.
CREATE TABLE history_pending (
  message_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  PRIMARY KEY (message_id, chat_id)
) STRICT, WITHOUT ROWID;

-- One row per indexed message. It has two entries: 2·id is what was said, 2·id + 1 what the kernel and its
-- tools put in. The text itself stays where it is.
CREATE TABLE history_docs (
  id INTEGER PRIMARY KEY,
  chat_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  UNIQUE (chat_id, message_id)
) STRICT;

-- Groups of three characters of folded text: which entries hold them, and no more. The order is settled on
-- the text. Merging is done in small steps, since SQLite's own would hold the writer for too long.
CREATE VIRTUAL TABLE history_index USING fts5(
  said, content = '', contentless_delete = 1, detail = none, tokenize = "trigram case_sensitive 1"
);
INSERT INTO history_index (history_index, rank) VALUES ('automerge', 0);
INSERT INTO history_index (history_index, rank) VALUES ('crisismerge', 1000);

CREATE TRIGGER history_awaits AFTER INSERT ON messages BEGIN
  INSERT INTO history_pending (message_id, chat_id) VALUES (new.id, new.chat_id);
END;

-- However a message goes, by a cut, with its chat or with its chat's lead: it is found no more.
CREATE TRIGGER history_forgets AFTER DELETE ON messages BEGIN
  DELETE FROM history_pending WHERE message_id = old.id AND chat_id = old.chat_id;
  DELETE FROM history_index WHERE rowid IN (
    SELECT 2 * id FROM history_docs WHERE chat_id = old.chat_id AND message_id = old.id
    UNION ALL
    SELECT 2 * id + 1 FROM history_docs WHERE chat_id = old.chat_id AND message_id = old.id
  );
  DELETE FROM history_docs WHERE chat_id = old.chat_id AND message_id = old.id;
  -- Traces of it stay in the index until the next sweep.
  INSERT OR IGNORE INTO kernel_meta (key, value) VALUES ('history_sweep', 'due');
END;

INSERT INTO history_pending (message_id, chat_id) SELECT id, chat_id FROM messages;
