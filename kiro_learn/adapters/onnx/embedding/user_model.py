"""A model of the user's own: its folder, as sentence-transformers writes one, and the loaded model.

Only the ONNX graph of the folder is run. A model that needs a step that neither the graph nor this program has is
refused. Importing this module takes a fifth of a second.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from kiro_learn.adapters.onnx.embedding.bundle import digest_of
from kiro_learn.adapters.onnx.embedding.encoder import Pooling, pooled, unit
from kiro_learn.adapters.onnx.embedding.tokenizer import MOST_WINDOWS, OVERLAP, encodable
from kiro_learn.adapters.onnx.runtime import map_errors, open_session, session_options
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import MOST_DIMENSIONS, Matrix, ModelIdentity, Vector

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]  # it ships no types


MODELS = ("model.onnx", "onnx/model.onnx")
TOKENIZER = "tokenizer.json"
MODULES = "modules.json"
POOLING = "1_Pooling/config.json"
PROMPTS = "config_sentence_transformers.json"
LIMITS = "sentence_bert_config.json"
TOKENIZER_SETTINGS = "tokenizer_config.json"

MOST_TOKENS = 512
"""The most tokens of a window: more would take longer than a prompt may, and few models were trained on more."""

FEWEST_TOKENS = 8

QUERY_PROMPTS = ("query",)
PASSAGE_PROMPTS = ("document", "passage", "corpus")
"""The names of the prompt for stored texts, in the order in which sentence-transformers looks for them."""

DONE_HERE = {"Transformer", "Pooling", "Normalize"}
"""Modules that this program can replace. Any other has its own weights or rules, and must be in the graph."""

_POOLINGS = {
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_max_tokens": Pooling.MAX,
    "pooling_mode_mean_sqrt_len_tokens": Pooling.MEAN,  # it differs only in the length, which becomes 1
    "pooling_mode_lasttoken": Pooling.LAST,
}


@attrs.frozen
class ModelFolder:
    """The files of a model and its settings."""

    folder: Path
    graph: Path
    digest: str
    """The digest of all files that the vectors depend on."""
    pooling: Pooling
    needs_pooled_output: bool
    """Whether a module of the model must be in the graph, so that the graph must give whole vectors."""
    query_prefix: str
    passage_prefix: str
    pools_prefix: bool
    """Whether pooling includes the tokens of the prefix."""
    token_limit: int
    lower_case: bool


def read_folder(folder: Path) -> ModelFolder:
    """Read a model's settings; of the graph and the tokenizer, only the digest.

    Raises:
      EmbeddingError: a file is missing or damaged, or asks for something that is not supported here.
    """
    if not folder.is_dir():
        raise EmbeddingError(f"there is no folder {folder}", hint="See [embedding] model in settings.toml.")
    graph = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    if graph is None:
        raise EmbeddingError(f"{folder} holds neither {MODELS[0]} nor {MODELS[1]}")
    pooling, pools_prefix = _pooling(folder)
    prompts = _settings(folder, PROMPTS)
    limits = _settings(folder, LIMITS)
    return ModelFolder(
        folder=folder,
        graph=graph,
        digest=_digest(folder, graph),
        pooling=pooling,
        needs_pooled_output=bool(_modules(folder) - DONE_HERE),
        query_prefix=_prompt(folder, prompts, QUERY_PROMPTS),
        passage_prefix=_prompt(folder, prompts, PASSAGE_PROMPTS),
        pools_prefix=pools_prefix,
        token_limit=_token_limit(folder, limits),
        lower_case=bool(limits.get("do_lower_case")),
    )


def _digest(folder: Path, graph: Path) -> str:
    """The digest of the files. Weights may be in further files, whose names begin with the graph's."""
    names = (TOKENIZER, MODULES, POOLING, PROMPTS, LIMITS, TOKENIZER_SETTINGS)
    files = {graph, *(folder / name for name in names)}
    files |= {path for path in graph.parent.iterdir() if path.name.startswith(graph.name)}
    return digest_of({path.relative_to(folder).as_posix(): _sum(path) for path in files if path.is_file()})


def _sum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}") from error


def _read(path: Path) -> Any:
    """The JSON in a file; None if there is no such file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise EmbeddingError(f"{path} is no JSON") from error


def _settings(folder: Path, name: str) -> dict[str, Any]:
    found = _read(folder / name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise EmbeddingError(f"{folder / name} is no JSON object")
    return found


def _modules(folder: Path) -> set[str]:
    """The class names of the model's modules, without their packages."""
    found = _read(folder / MODULES) or []
    try:
        return {str(module["type"]).rpartition(".")[2] for module in found}
    except (KeyError, TypeError) as error:
        raise EmbeddingError(f"{folder / MODULES} is no list of modules") from error


def _pooling(folder: Path) -> tuple[Pooling, bool]:
    settings = _settings(folder, POOLING)
    named = settings.get("pooling_mode")
    modes = [named] if isinstance(named, str) else [name for name in settings if settings[name] is True]
    chosen = [mode for mode in modes if mode.startswith("pooling_mode_") or mode == named]
    found = {Pooling(mode) if mode in set(Pooling) else _POOLINGS.get(mode) for mode in chosen} or {Pooling.MEAN}
    (only, *more) = found
    if only is None or more:
        raise EmbeddingError(f"{folder / POOLING} wants a pooling other than mean, cls, max or lasttoken alone")
    return only, settings.get("include_prompt", True) is not False


def _prompt(folder: Path, settings: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first of the prompts ``names`` that exists, else the default prompt, else an empty one."""
    prompts = settings.get("prompts") or {}
    named = (*names, settings.get("default_prompt_name"))
    found = next((prompts[name] for name in named if name in prompts), "") if isinstance(prompts, dict) else None
    if not isinstance(found, str):
        raise EmbeddingError(f"{folder / PROMPTS} has a prompt that is no text")
    return found


def _token_limit(folder: Path, limits: dict[str, Any]) -> int:
    stated = limits.get("max_seq_length") or _settings(folder, TOKENIZER_SETTINGS).get("model_max_length")
    if stated is None:
        return MOST_TOKENS
    if not isinstance(stated, int | float) or stated < FEWEST_TOKENS:
        raise EmbeddingError(f"{folder} says that its model reads {stated} tokens at once")
    return int(min(stated, MOST_TOKENS))


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
        """The windows of a stored text, in their order."""
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
        """How many first tokens are not pooled: the start mark and the prefix, if the model's settings say so."""
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
    """Read the folder, load its model and try the model out.

    Raises:
      EmbeddingError: a file is absent or damaged, or the model cannot be used here.
    """
    folder = read_folder(path)
    tokenizer = UserTokenizer(path / TOKENIZER, token_limit=folder.token_limit, lower_case=folder.lower_case)
    with map_errors(_failed_to("load")):
        session = open_session(str(folder.graph), session_options())
    return UserEncoder(session, tokenizer, folder)


def _output_of(names: list[str], folder: ModelFolder) -> str:
    """The output to read: pooled vectors, else states of tokens, else the only output."""
    if POOLED in names:
        return POOLED
    if folder.needs_pooled_output:
        raise EmbeddingError(f"the modules of {folder.folder} need a graph with an output {POOLED}")
    found = [name for name in STATES if name in names] or names
    if len(found) != 1 and found == names:
        raise EmbeddingError(f"the embedding model has none of the outputs {', '.join((POOLED, *STATES))}")
    return found[0]


def _failed_to(task: str) -> Callable[[Exception], EmbeddingError]:
    """Our error, which names only the class of the cause: the message of a user's model may hold anything."""
    return lambda error: EmbeddingError(f"the embedding model failed to {task}: {type(error).__name__}")


# Turns a text into the token ids of a model of the user's own.

CHARACTERS_PER_TOKEN = 32
"""The most characters that are read of a text, for each token of a window; as for the bundled model."""


@attrs.frozen(eq=False)
class Window:
    """The input of a model for one run: arrays of (1, tokens) int64, by the names that all exporters use."""

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
        """The text's first window, which is all of a query that is read."""
        tokens = self._tokens(prefix + self._readable(text))
        tokens.truncate(self._room)
        return self._marked(tokens)

    def windows(self, text: str, prefix: str) -> list[Window]:
        """``first``, then each next window of the text, all with the prefix; at most MOST_WINDOWS."""
        before, tokens = self._tokens(prefix), self._tokens(self._readable(text))
        room = self._room - len(before.ids)
        if room <= 2 * OVERLAP:
            raise EmbeddingError("the prefix of the embedding model leaves too little room for a text")
        tokens.truncate(room, stride=OVERLAP)
        further = tokens.overflowing[: MOST_WINDOWS - 1]
        return [self.first(text, prefix), *(self._marked(Encoding.merge([before, window])) for window in further)]

    def prefix_length(self, prefix: str) -> int:
        """The count of tokens in a prefix."""
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
        is_tokenizer = "model" in json.loads(text)  # the library raises only a bare Exception for other JSON
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
