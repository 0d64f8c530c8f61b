"""An OpenAI-compatible server behind the ``Llm`` port: Ollama, llama.cpp, LM Studio, or one in the cloud.

Rules of this file: requests go only to the address in the settings. They use no proxy if that is this machine, and
follow no redirect. No error contains text that was sent or received.
"""

from __future__ import annotations

import json
import math
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import attrs
import httpx
import structlog
import trio

from kiro_learn.adapters.openai.dialects import OLLAMA, OPENAI, Dialect, Question, ServerAnswer, is_cut, object_in
from kiro_learn.errors import LlmError, ModelBusy
from kiro_learn.model.record import MODEL_STRATEGY

MOST_SECONDS = 600
"""The longest wait, which is a project's default pause. A server that asks for a longer one is asked again earlier."""


def retry_after_seconds(value: str | None, *, now: datetime) -> int | None:
    """Whole seconds, 0 to MOST_SECONDS; None if the header is missing, or is neither seconds nor a date."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), MOST_SECONDS)
    try:
        date = parsedate_to_datetime(text[:64])
    except (ValueError, OverflowError):
        return None
    seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)) - now
    return min(max(0, math.ceil(seconds.total_seconds())), MOST_SECONDS)


log = structlog.get_logger()

ANSWER_BYTES = 4_194_304
"""The most bytes of a response; a longer one is refused as a defect of the server."""

_V1 = "/v1"
_BUSY = frozenset({429, 503})
_INVALID = frozenset({400, 422})
_CONTEXT = "Lower [llm] prompt_tokens, or give the model a larger context."
_MOVED = "No redirect is followed: set [llm] base_url to where it leads, which is often https instead of http."
_HINTS = {
    301: _MOVED,
    302: _MOVED,
    307: _MOVED,
    308: _MOVED,
    401: "Check that [llm] api_key_variable names the right key.",
    403: "Check that [llm] api_key_variable names the right key.",
    404: "Check that the server has the model of [llm] model, and that base_url ends as its manual says, often in /v1.",
    413: _CONTEXT,
    429: "The server accepts no more requests for now.",
}


@attrs.frozen
class _Response:
    status: int
    body: bytes
    retry_after: str | None


@attrs.define
class _Known:
    """What earlier answers showed about the server."""

    dialect: Dialect | None = None
    """The server's dialect; None while it is not known."""
    refuses_temperature: bool = False
    quiet_until: float = 0.0
    """The time until which the server asked not to be asked, on trio's clock."""
    cut_characters: int = 0
    """The length of the last prompt that the server cut; 0 once it read one at least as long as a whole."""
    read_tokens: int = 0
    """The tokens that the server read of that prompt."""


@attrs.frozen(kw_only=True)
class OpenAiLlm:
    """Posts each prompt to ``base_url``/chat/completions, or to Ollama's own chat.

    It posts a prompt again only if the server refuses the temperature; its caller decides on any other attempt.
    """

    base_url: str
    model: str
    api_key: str = attrs.field(default="", repr=False)
    is_local: bool
    """Whether ``base_url`` is on this machine."""
    temperature: float = 0.0
    context_tokens: int
    """The most tokens of a prompt and its answer. Only Ollama is sent it."""
    _known: _Known = attrs.field(factory=_Known, init=False, repr=False, eq=False)

    @property
    def strategy(self) -> str:
        return MODEL_STRATEGY

    @property
    def name(self) -> str:
        return self.model

    def warning(self) -> str:
        """What is wrong with the server's setup, as far as its answers show; empty if nothing is known."""
        known = self._known
        if not known.cut_characters:
            return ""
        return f"context too small: {known.read_tokens:,} tokens were read of {known.cut_characters:,} characters"

    async def complete(self, prompt: str) -> str:
        """As the contract says; raises ModelBusy while the server asked not to be asked."""
        if (left := self._known.quiet_until - trio.current_time()) > 0:
            raise ModelBusy(self._host, int(left) + 1, was_asked=False)
        with self._errors():
            dialect = await self._dialect()
            response = await self._ask(dialect, prompt)
        if response.status in _BUSY:
            self._raise_busy(response)
        if response.status != httpx.codes.OK:
            raise LlmError(f"{self._host} answered with status {response.status}", hint=_HINTS.get(response.status, ""))
        # Four megabytes of JSON take a tenth of a second.
        answer = await trio.to_thread.run_sync(dialect.read, response.body)
        self._note_size(prompt, answer)
        return self._text_of(answer)

    async def _dialect(self) -> Dialect:
        """The server's dialect. Only Ollama answers ``/api/version``, next to ``/v1``, with its version."""
        if self._known.dialect is None:
            is_ollama = False
            if self._root != self.base_url.rstrip("/"):
                response = await self._request("GET", f"{self._root}/api/version")
                if response.status in _BUSY or response.status >= httpx.codes.INTERNAL_SERVER_ERROR:
                    return OPENAI  # for this prompt only: the server may just be starting, so that nothing is known yet
                is_ollama = response.status == httpx.codes.OK and isinstance(
                    object_in(response.body).get("version"), str
                )
            self._known.dialect = OLLAMA if is_ollama else OPENAI
            log.info("llm.server_known", model=self.model, is_ollama=is_ollama)
        return self._known.dialect

    async def _ask(self, dialect: Dialect, prompt: str) -> _Response:
        address = self._root if dialect is OLLAMA else self.base_url.rstrip("/")
        response = await self._post(address + dialect.path, dialect, prompt)
        is_refused = response.status in _INVALID and b"temperature" in response.body.lower()
        if is_refused and not self._known.refuses_temperature:
            self._known.refuses_temperature = True
            log.info("llm.temperature_left_out", model=self.model)
            response = await self._post(address + dialect.path, dialect, prompt)
        return response

    async def _post(self, url: str, dialect: Dialect, prompt: str) -> _Response:
        question = Question(
            model=self.model,
            prompt=prompt,
            temperature=None if self._known.refuses_temperature else self.temperature,
            context_tokens=self.context_tokens,
        )
        return await self._request("POST", url, json.dumps(dialect.ask(question)).encode("ascii"))

    async def _request(self, method: str, url: str, body: bytes | None = None) -> _Response:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        tls = await _tls_for(url)
        # The deadline is the caller's. The environment's proxy is not used for this machine.
        async with (
            httpx.AsyncClient(timeout=None, verify=tls, trust_env=not self.is_local) as client,  # noqa: S113  # above
            client.stream(method, url, content=body, headers=headers) as response,
        ):
            retry_after = response.headers.get("Retry-After")
            return _Response(response.status_code, await self._received(response), retry_after)

    async def _received(self, response: httpx.Response) -> bytes:
        received = bytearray()
        # A cancel and not a break: httpx reads through nested generators, which only an error ends at once.
        with trio.CancelScope() as reading:
            async for piece in response.aiter_bytes():
                received += piece
                if len(received) > ANSWER_BYTES:
                    reading.cancel()
        if len(received) > ANSWER_BYTES:
            raise LlmError(f"{self._host} answered with more than {ANSWER_BYTES:,} bytes")
        return bytes(received)

    def _raise_busy(self, response: _Response) -> None:
        seconds = retry_after_seconds(response.retry_after, now=datetime.now(UTC))
        if seconds is not None:
            self._known.quiet_until = trio.current_time() + seconds
            raise ModelBusy(self._host, seconds)

    def _note_size(self, prompt: str, answer: ServerAnswer) -> None:
        """Remember whether the server read the whole prompt; a short prompt shows nothing about a longer one."""
        known, tokens = self._known, answer.prompt_tokens
        if is_cut(prompt, tokens):
            log.warning("llm.prompt_cut", model=self.model, character_count=len(prompt), token_count=tokens)
            known.cut_characters, known.read_tokens = len(prompt), tokens or 0
        elif tokens and len(prompt) >= known.cut_characters:
            known.cut_characters = 0

    def _text_of(self, answer: ServerAnswer) -> str:
        if answer.is_filtered:
            raise LlmError(f"{self._host} refused by its content filter")
        if answer.text is None:
            raise LlmError(f"{self._host} answered with no text")
        if not answer.is_whole:
            raise LlmError(f"{self._host} stopped before its answer was whole", hint=_CONTEXT)
        return answer.text

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise LlmError(
                f"{self._host} cannot be asked ({type(error).__name__})", hint="Check that the model's server runs."
            ) from error

    @property
    def _root(self) -> str:
        """``base_url`` without the ``/v1`` at its end."""
        return self.base_url.rstrip("/").removesuffix(_V1)

    @property
    def _host(self) -> str:
        return urlsplit(self.base_url).netloc


async def _tls_for(url: str) -> ssl.SSLContext:
    """The TLS settings. Reading the system's certificates takes 60 ms: in a thread, and only for https."""
    if url.startswith("https:"):
        return await trio.to_thread.run_sync(ssl.create_default_context)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
