"""The schema's history, oldest first. Append to it; never reorder, rename or edit what was released."""

from __future__ import annotations

from kiro_learn.storage.sqlite.migrations import (
    m0001_init,
    m0002_xml_extraction_fields,
    m0003_project_path,
    m0004_session_summary_type,
    m0005_memory_record_embedding,
    m0006_namespaces,
    m0007_one_time_format,
    m0008_clustered_records,
    m0009_index_per_namespace,
    m0010_event_order,
    m0011_buffer,
    m0012_learning_runs,
    m0013_hook_sessions,
    m0014_history,
    m0015_parked_clusters,
    m0016_compaction,
    m0017_llm_usage,
    m0018_unread_indexes,
    m0020_forgotten,
    m0021_taking_over,
)

MIGRATIONS = (
    m0001_init.MIGRATION,
    m0002_xml_extraction_fields.MIGRATION,
    m0003_project_path.MIGRATION,
    m0004_session_summary_type.MIGRATION,
    m0005_memory_record_embedding.MIGRATION,
    m0006_namespaces.MIGRATION,
    m0007_one_time_format.MIGRATION,
    m0008_clustered_records.MIGRATION,
    m0009_index_per_namespace.MIGRATION,
    m0010_event_order.MIGRATION,
    m0011_buffer.MIGRATION,
    m0012_learning_runs.MIGRATION,
    m0013_hook_sessions.MIGRATION,
    m0014_history.MIGRATION,
    m0015_parked_clusters.MIGRATION,
    m0016_compaction.MIGRATION,
    m0017_llm_usage.MIGRATION,
    m0018_unread_indexes.MIGRATION,
    m0020_forgotten.MIGRATION,
    m0021_taking_over.MIGRATION,
)
