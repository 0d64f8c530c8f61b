"""The models there are to embed with: the current one, and earlier ones whose vectors still serve projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import attrs
import structlog

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import EmbeddingError, KiroLearnError
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import KnownModel, ModelIdentity
from kiro_learn.ports.embedding import EmbeddingModel
from kiro_learn.ports.storage.answers import Change, ModelSwitched
from kiro_learn.ports.storage.embeddings import EmbeddingReads
from kiro_learn.runtime.supervisor import catch_errors

log = structlog.get_logger()


@attrs.frozen
class EarlierModel:
    """An earlier embedding model, and whether searches can still use its vectors."""

    name: str
    project_count: int
    """Projects that are not wholly embedded with the current model yet."""
    problem: str | None
    """Why these projects are searched by words alone; None if the model could be loaded."""


class EmbeddingModels:
    """Loads the embedding models, and knows which one serves a project.

    Follows the commits that switch projects to the current one.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        storage: EmbeddingReads,
        writer: StorageActor,
        open_model: Callable[[str | None], EmbeddingModel],
    ) -> None:
        self._model = model
        self._storage = storage
        self._writer = writer
        self._open_model = open_model
        self._loaded: dict[ModelIdentity, EmbeddingModel] = {}
        self._problems: dict[ModelIdentity, str] = {}
        self._earlier: dict[Namespace, KnownModel] = {}

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def current(self) -> ModelIdentity | None:
        """None until its files are read."""
        return self._model.identity

    @property
    def behind(self) -> tuple[Namespace, ...]:
        """Projects that an earlier model still serves."""
        return tuple(self._earlier)

    @property
    def out_of_reach(self) -> frozenset[Namespace]:
        """Projects whose earlier model cannot be loaded."""
        return frozenset(space for space, known in self._earlier.items() if known.identity not in self._loaded)

    def statistics(self) -> tuple[EarlierModel, ...]:
        counts = Counter(known.identity for known in self._earlier.values())
        return tuple(
            EarlierModel(identity.name, count, self._problems.get(identity)) for identity, count in counts.items()
        )

    async def load(self) -> None:
        """Make ready the current model, which is adopted, and the earlier ones that can be had.

        Raises:
          EmbeddingError: the current model cannot be used.
          StorageError: what is stored could not be read, or the adoption not be written.
        """
        await self._model.load()
        identity = self._model.identity
        if identity is None:
            raise EmbeddingError(f"the embedding model {self.name} does not say which it is")
        known, in_use = KnownModel(identity, self._model.folder), await self._storage.get_models()
        if in_use.current != known:
            await self._writer.write(lambda transaction: transaction.adopt_model(known))
            log.info("embedding_model.adopted", model=identity.name, dimension=identity.dimension)
            in_use = await self._storage.get_models()
        self._loaded = {identity: self._model}
        self._earlier = dict(in_use.earlier)
        for earlier in set(in_use.earlier.values()):
            await self._load_earlier(earlier)

    async def _load_earlier(self, earlier: KnownModel) -> None:
        """Load an earlier model from its folder, which may be gone or hold another model by now."""
        model = self._open_model(earlier.folder)
        problem = await catch_errors("earlier embedding model", model.load)
        if isinstance(problem, Exception):
            reason = str(problem) if isinstance(problem, KiroLearnError) else type(problem).__name__
        elif model.identity != earlier.identity:
            reason = f"the files in {earlier.folder} are not those of the model {earlier.identity.name} any more"
        else:
            self._loaded[earlier.identity] = model
            return
        self._problems[earlier.identity] = reason
        log.warning("embedding_model.earlier_not_loaded", model=earlier.identity.name, problem=reason)

    def apply(self, change: Change) -> None:
        """Follow a commit: a project that was switched no longer needs its earlier model."""
        if isinstance(change, ModelSwitched) and change.namespace in self._earlier:
            gone = self._earlier.pop(change.namespace).identity
            log.info("embedding_model.switched", namespace=change.namespace, model=change.model.name)
            if all(known.identity != gone for known in self._earlier.values()):
                self._loaded.pop(gone, None)

    def serving(self, namespace: Namespace) -> ModelIdentity:
        """The model by whose vectors the project is searched.

        Raises:
          EmbeddingError: it cannot be loaded any more.
        """
        earlier = self._earlier.get(namespace)
        if earlier is None:
            return self._known_current()
        if earlier.identity not in self._loaded:
            raise EmbeddingError(
                f"the project's vectors are of {earlier.identity.name}, which is gone; new ones are being made"
            )
        return earlier.identity

    def learning(self, namespace: Namespace) -> ModelIdentity:
        """The model to embed the project's new records with: the one that serves it, or the current one."""
        return self._known_current() if namespace in self.out_of_reach else self.serving(namespace)

    def loaded(self, identity: ModelIdentity | None) -> EmbeddingModel:
        """The model of that identity; None is the current one.

        Raises:
          EmbeddingError: it is not loaded (any more).
        """
        if identity is None:
            return self._model
        if identity not in self._loaded:
            raise EmbeddingError(f"the embedding model {identity.name} is not in use any more")
        return self._loaded[identity]

    def _known_current(self) -> ModelIdentity:
        current = self.current
        if current is None:
            raise EmbeddingError(f"the embedding model {self.name} is not loaded")
        return current
