-- Entries hold the borders of whole words from here on, so all is indexed anew in quiet moments.
INSERT INTO history_index (history_index) VALUES ('delete-all');
DELETE FROM history_docs;
INSERT OR IGNORE INTO history_pending (message_id, chat_id) SELECT id, chat_id FROM messages;
