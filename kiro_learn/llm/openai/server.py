"""An OpenAI-compatible server behind the learner's contract: Ollama, llama.cpp, LM Studio, or one in the cloud.

Rules of this file: nothing goes anywhere but to the address that the settings name, not through a proxy when that is
this machine, and not on to where the server points. What was sent and what came back are in no error.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import attrs
import httpx
import trio

from kiro_learn.errors import LlmError
from kiro_learn.llm.interface import MODEL_STRATEGY

ANSWER_BYTES = 4_194_304
"""Of a whole response; beyond it the server is out of its mind."""

_HINTS = {
    401: "Does [llm] api_key_variable name the right key?",
    403: "Does [llm] api_key_variable name the right key?",
    404: "Is [llm] model one that the server has, and does base_url end as its manual says, mostly in /v1?",
    413: "The model's context is too small for a batch: lower [learning] extraction_bytes.",
    429: "The server takes no more for now.",
}


@attrs.frozen(kw_only=True)
class OpenAiLlm:
    """Posts each prompt to ``base_url``/chat/completions, once; trying again is its caller's to decide."""

    base_url: str
    model: str
    api_key: str = attrs.field(default="", repr=False)
    is_local: bool
    """``base_url`` is on this machine."""

    @property
    def strategy(self) -> str:
        return MODEL_STRATEGY

    @property
    def name(self) -> str:
        return self.model

    async def complete(self, prompt: str) -> str:
        request = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "stream": False,
        }
        with self._errors():
            status, body = await self._post(json.dumps(request).encode("ascii"))
        if status != httpx.codes.OK:
            raise LlmError(f"{self._host} answered with status {status}", hint=_HINTS.get(status, ""))
        return _text_of(body, self._host)

    async def _post(self, body: bytes) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        tls = await _tls_for(url)
        # The deadline is the caller's. A proxy from the environment is for elsewhere, never for this machine.
        async with (
            httpx.AsyncClient(timeout=None, verify=tls, trust_env=not self.is_local) as client,  # noqa: S113  # above
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            return response.status_code, await self._received(response)

    async def _received(self, response: httpx.Response) -> bytes:
        received = bytearray()
        # Cancelled, not left: httpx reads through generators inside generators, which only an error ends at once.
        with trio.CancelScope() as reading:
            async for piece in response.aiter_bytes():
                received += piece
                if len(received) > ANSWER_BYTES:
                    reading.cancel()
        if len(received) > ANSWER_BYTES:
            raise LlmError(f"{self._host} answered with more than {ANSWER_BYTES:,} bytes")
        return bytes(received)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise LlmError(
                f"{self._host} cannot be asked ({type(error).__name__})", hint="Does the model's server run?"
            ) from error

    @property
    def _host(self) -> str:
        return urlsplit(self.base_url).netloc


async def _tls_for(url: str) -> ssl.SSLContext:
    """Reading the system's certificates takes 60 ms: not on the loop, and not where there is no TLS."""
    if url.startswith("https:"):
        return await trio.to_thread.run_sync(ssl.create_default_context)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _text_of(body: bytes, host: str) -> str:
    """The first choice's text, which must be whole."""
    choice = _first_choice(body)
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str):
        raise LlmError(f"{host} answered with no text")
    if choice.get("finish_reason") == "length":
        raise LlmError(
            f"{host} stopped before its answer was whole", hint="Give the model a larger context, or choose another."
        )
    return text


def _first_choice(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    choices = value.get("choices") if isinstance(value, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}
