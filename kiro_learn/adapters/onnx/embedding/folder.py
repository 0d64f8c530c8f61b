"""What a folder of an embedding model says of it, as sentence-transformers writes one.

Nothing in it is run but the ONNX graph; what the graph does not do, and this program cannot, is refused.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import attrs

from kiro_learn.adapters.onnx.embedding.bundle import digest_of
from kiro_learn.adapters.onnx.embedding.encoder import Pooling
from kiro_learn.errors import EmbeddingError

MODELS = ("model.onnx", "onnx/model.onnx")
TOKENIZER = "tokenizer.json"
MODULES = "modules.json"
POOLING = "1_Pooling/config.json"
PROMPTS = "config_sentence_transformers.json"
LIMITS = "sentence_bert_config.json"
TOKENIZER_SETTINGS = "tokenizer_config.json"

MOST_TOKENS = 512
"""Of one window: longer ones cost more time than a prompt has, and few models were trained on more."""

FEWEST_TOKENS = 8

QUERY_PROMPTS = ("query",)
PASSAGE_PROMPTS = ("document", "passage", "corpus")
"""In the order in which sentence-transformers looks for them."""

DONE_HERE = {"Transformer", "Pooling", "Normalize"}
"""Modules that the graph need not hold: any other has weights or rules of its own."""

_POOLINGS = {
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_max_tokens": Pooling.MAX,
    "pooling_mode_mean_sqrt_len_tokens": Pooling.MEAN,  # the same, but for the length, which becomes 1
    "pooling_mode_lasttoken": Pooling.LAST,
}


@attrs.frozen
class ModelFolder:
    """The files of a model, and how it is to be read."""

    folder: Path
    graph: Path
    digest: str
    """Of every file that has a part in the vectors."""
    pooling: Pooling
    needs_pooled_output: bool
    """Its vectors are made by modules that only the graph can hold."""
    query_prefix: str
    passage_prefix: str
    pools_prefix: bool
    """Whether the tokens of a prefix are pooled too."""
    token_limit: int
    lower_case: bool


def read_folder(folder: Path) -> ModelFolder:
    """Read all but the graph and the tokenizer, which are only summed.

    Raises:
      EmbeddingError: a file is missing or damaged, or wants what cannot be done here.
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
    """Weights may stand in files beside the graph, whatever their names."""
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
    """The classes of the modules, without the packages that they stand in."""
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
    """The first of these prompts that there is, else the default one, else nothing."""
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
