from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.namespace import namespace_of
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, Work
from kiro_learn.testing.storage import search_records
from properties.sqlite_files import with_sqlite
from properties.stories import NAMESPACES, batches, texts

awkward_names = st.text(st.sampled_from("a_%/\\'*é "), min_size=1, max_size=4)


@given(story=batches, query=texts)
def test_namespaces_never_touch(story: list[list[Work[Any]]], query: str) -> None:
    """All questions about a namespace are answered from it alone, even if others look like patterns of its name."""

    async def live(store: StorageBackend) -> None:
        for batch in story:
            await store.transact(batch)
        for namespace in NAMESPACES:
            found = await search_records(store, SearchParams(namespace, query, 50))
            found += (await store.list_memory_records(namespace=namespace, limit=50, offset=0)).items
            assert {record.namespace for record in found} <= {namespace}
            ids = (await store.list_embeddings(namespace)).record_ids
            assert {record.namespace for record in await store.get_memory_records(ids)} <= {namespace}
            events = (await store.list_events(namespace=namespace, limit=50, cursor=None)).items
            snapshot = await store.snapshot_buffer(namespace, most_bytes=999)
            events += snapshot.events + snapshot.earlier_prompts
            assert {event.namespace for event in events} <= {namespace}

    with_sqlite(live)


@given(one=awkward_names, other=awkward_names)
def test_two_users_never_share_a_namespace(one: str, other: str) -> None:
    assert (namespace_of(one, "p") == namespace_of(other, "p")) == (one == other)
