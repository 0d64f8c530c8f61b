"""Keep what each event says of an item: that it holds, ended or never held, since when, and who says so.

So the items can be read again from their evidence when more of it arrives. Of what is there already, the event that
ended or retired an item is known by its time.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    29,
    "evidence_says",
    """
    ALTER TABLE graph_evidence ADD COLUMN says TEXT NOT NULL DEFAULT 'holds'
     CHECK (says IN ('holds', 'ended', 'never'));
    ALTER TABLE graph_evidence ADD COLUMN source_type TEXT NOT NULL DEFAULT 'stated'
     CHECK (source_type IN ('inferred', 'observed', 'stated', 'corrected'));
    ALTER TABLE graph_evidence ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE graph_evidence ADD COLUMN valid_from TEXT;
    ALTER TABLE graph_evidence ADD COLUMN valid_until TEXT;

    UPDATE graph_evidence SET says = 'never' WHERE EXISTS (SELECT 1 FROM graph_facts AS f
      WHERE f.id = graph_evidence.item_id AND f.retired_at = graph_evidence.observed_at);
    UPDATE graph_evidence SET says = 'ended', valid_until = observed_at WHERE EXISTS (SELECT 1 FROM graph_facts AS f
      WHERE f.id = graph_evidence.item_id AND f.valid_until = graph_evidence.observed_at AND f.superseded_by IS NULL);
    UPDATE graph_evidence SET says = 'ended', valid_until = observed_at WHERE EXISTS
     (SELECT 1 FROM graph_preferences AS p WHERE p.superseded_by IS NULL
      AND p.id = graph_evidence.item_id AND p.valid_until = graph_evidence.observed_at);
    UPDATE graph_evidence SET source_type = 'observed' WHERE EXISTS (SELECT 1 FROM graph_facts AS f
      WHERE f.id = graph_evidence.item_id AND f.source_type = 'observed');
    """,
)
