"""A model of the user's own, loaded: ONNX Runtime and the tokenizer, held together.

Importing this module takes a fifth of a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from kiro_learn.adapters.onnx.embedding.encoder import pooled, unit
from kiro_learn.adapters.onnx.embedding.folder import TOKENIZER, ModelFolder, read_folder
from kiro_learn.adapters.onnx.embedding.tokenizer import MOST_WINDOWS, OVERLAP, encodable
from kiro_learn.adapters.onnx.runtime import map_errors, open_session, session_options
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import MOST_DIMENSIONS, Matrix, ModelIdentity, Vector

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]  # it ships no types


POOLED = "sentence_embedding"
STATES = ("token_embeddings", "last_hidden_state")
INPUT_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
TRIAL = "a text to be embedded"


class UserEncoder:
    """A loaded model of the user's own: embeds one text at a time, in the caller's thread. Threads may share one."""

    def __init__(self, session: onnxruntime.InferenceSession, tokenizer: UserTokenizer, folder: ModelFolder) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._folder = folder
        self._types = {each.name: INPUT_TYPES.get(each.type) for each in session.get_inputs()}
        self._output = _output_of([each.name for each in session.get_outputs()], folder)
        self._unread = {prefix: self._unpooled(prefix) for prefix in (folder.query_prefix, folder.passage_prefix)}
        self._refuse_strange_inputs()
        dimension = self._vector(self.windows(TRIAL)[0], folder.passage_prefix).size
        if dimension > MOST_DIMENSIONS:
            raise EmbeddingError(f"the embedding model has {dimension} dimensions; at most {MOST_DIMENSIONS} are read")
        self.identity = ModelIdentity(folder.folder.resolve().name, folder.digest, dimension)
        self.encode(TRIAL)

    def encode(self, query: str) -> Vector:
        """The query's unit vector."""
        prefix = self._folder.query_prefix
        return unit(self._vector(self._tokenizer.first(query, prefix), prefix))

    def windows(self, text: str) -> list[Window]:
        """A stored text as the model reads it: its first window, then the further ones."""
        return self._tokenizer.windows(text, self._folder.passage_prefix)

    def encode_window(self, window: Window) -> Vector:
        """The unit vector of one of ``windows``."""
        return unit(self._vector(window, self._folder.passage_prefix))

    def _vector(self, window: Window, prefix: str) -> Vector:
        inputs = {name: window.inputs[name].astype(kind) for name, kind in self._types.items()}
        with map_errors(_failed_to("embed a text")):
            (found,) = self._session.run([self._output], inputs)
        states: Matrix = found[0]
        if states.ndim == 1:
            return states.astype(np.float32, copy=False)
        if states.ndim != 2 or not states.size:  # noqa: PLR2004  # tokens, components
            raise EmbeddingError(f"the embedding model gives an array of {found.ndim} dimensions for a text")
        return pooled(states[min(self._unread[prefix], len(states) - 1) :], self._folder.pooling)

    def _unpooled(self, prefix: str) -> int:
        """How many of the first tokens are not pooled: the start mark's and the prefix's, where its makers said so."""
        if self._folder.pools_prefix or not prefix:
            return 0
        return 1 + self._tokenizer.prefix_length(prefix)

    def _refuse_strange_inputs(self) -> None:
        strange = self._types.keys() - self._tokenizer.first(TRIAL, "").inputs.keys()
        if strange:
            raise EmbeddingError(f"the embedding model wants inputs that no text has: {', '.join(sorted(strange))}")
        if None in self._types.values():
            raise EmbeddingError("the embedding model wants token ids as something else than whole numbers")


def open_user_encoder(path: Path) -> UserEncoder:
    """Read the folder, load its model and try it out.

    Raises:
      EmbeddingError: a file is absent or damaged, or the model is none that can be used here.
    """
    folder = read_folder(path)
    tokenizer = UserTokenizer(path / TOKENIZER, token_limit=folder.token_limit, lower_case=folder.lower_case)
    with map_errors(_failed_to("load")):
        session = open_session(str(folder.graph), session_options())
    return UserEncoder(session, tokenizer, folder)


def _output_of(names: list[str], folder: ModelFolder) -> str:
    """Vectors that are pooled already, else states of tokens, else whatever there is only one of."""
    if POOLED in names:
        return POOLED
    if folder.needs_pooled_output:
        raise EmbeddingError(f"the modules of {folder.folder} need a graph with an output {POOLED}")
    found = [name for name in STATES if name in names] or names
    if len(found) != 1 and found == names:
        raise EmbeddingError(f"the embedding model has none of the outputs {', '.join((POOLED, *STATES))}")
    return found[0]


def _failed_to(task: str) -> Callable[[Exception], EmbeddingError]:
    """Names only the kind of error: the message of a user's model may hold anything."""
    return lambda error: EmbeddingError(f"the embedding model failed to {task}: {type(error).__name__}")


# From a text to the token ids of a model of the user's own.

CHARACTERS_PER_TOKEN = 32
"""Of a text that are looked at, for each token of a window; as many as with the bundled model."""


@attrs.frozen(eq=False)
class Window:
    """What a model reads at once: (1, tokens) int64 each, by the names that every exporter gives them."""

    inputs: dict[str, npt.NDArray[np.int64]]


class UserTokenizer:
    """Any tokenizer that ``tokenizer.json`` can hold. Threads may share one."""

    def __init__(self, path: Path, *, token_limit: int, lower_case: bool) -> None:
        self._tokenizer = _open(path)
        self._token_limit = token_limit
        self._lower_case = lower_case
        self._room = token_limit - self._tokenizer.num_special_tokens_to_add(is_pair=False)
        if self._room <= 2 * OVERLAP:
            raise EmbeddingError(f"the embedding model reads {token_limit} tokens at once, too few to read a text in")

    def first(self, text: str, prefix: str) -> Window:
        """What is read of a text first, or at all."""
        tokens = self._tokens(prefix + self._readable(text))
        tokens.truncate(self._room)
        return self._marked(tokens)

    def windows(self, text: str, prefix: str) -> list[Window]:
        """``first``, then each next window of the text, with the prefix too; at most MOST_WINDOWS."""
        before, tokens = self._tokens(prefix), self._tokens(self._readable(text))
        room = self._room - len(before.ids)
        if room <= 2 * OVERLAP:
            raise EmbeddingError("the prefix of the embedding model leaves too little room for a text")
        tokens.truncate(room, stride=OVERLAP)
        further = tokens.overflowing[: MOST_WINDOWS - 1]
        return [self.first(text, prefix), *(self._marked(Encoding.merge([before, window])) for window in further)]

    def prefix_length(self, prefix: str) -> int:
        """Tokens of a prefix."""
        return len(self._tokens(prefix).ids)

    def _readable(self, text: str) -> str:
        readable = encodable(text[: CHARACTERS_PER_TOKEN * self._token_limit])
        return readable.lower() if self._lower_case else readable

    def _tokens(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _marked(self, tokens: Encoding) -> Window:
        whole = self._tokenizer.post_process(tokens)
        columns = {"input_ids": whole.ids, "attention_mask": whole.attention_mask, "token_type_ids": whole.type_ids}
        return Window({name: np.array([column], np.int64) for name, column in columns.items()})


def _open(path: Path) -> Tokenizer:
    try:
        text = path.read_text(encoding="utf-8")
        is_tokenizer = "model" in json.loads(text)  # of what is none, the library says only that it raises
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}") from error
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{path} is no tokenizer") from error
    if not is_tokenizer:
        raise EmbeddingError(f"{path} is no tokenizer")
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
