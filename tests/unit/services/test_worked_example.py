"""The documented end-to-end example, step by step, from plain English. Hooks report what people say in sessions, a
model (scripted to say only what they said) or the rules read it, and three days later somebody asks about it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import trio

from kiro_learn.config import Config, GraphConfig, RecallConfig
from kiro_learn.model.namespace import project_id_in
from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.pipelines.recall.context import Context, ContextRequest
from kiro_learn.ports.models import Learner, Llm
from kiro_learn.retrieval.graph.query import Intent
from kiro_learn.retrieval.rendering.report import HEADING
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import FixedFiles
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import EPOCH, in_place
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/ada/Kira"
MESSAGE = "Can you deploy the Kira app like we did last time?"
GRAPH = Config(graph=GraphConfig(learn=True), recall=RecallConfig(prompts="all", pipeline="graph", format="documented"))
FILES = {
    "package.json": '{"name": "kira", "scripts": {"test": "vitest run", "deploy": "vercel --prod"}}',
    "vercel.json": '{"functions": {"api/*.ts": {"runtime": "edge"}}}',
}

Turn = tuple[int, str, str]
"""How many days ago the turn was, the person's prompt, and the agent's final answer."""

SAID: Sequence[Turn] = (
    (60, "Kira, some say the Kira app, is an AI partner product. Kira runs on Netlify.", "Noted."),
    (30, "We moved from Netlify to the Vercel hobby plan. Kira is deployed on Vercel.", "Changed the notes."),
    (20, "Otto created Kira. Otto dislikes Docker. Kira uses edge functions.", "Good to know."),
    (10, "To deploy to Vercel: check vercel.json, run the tests, run vercel --prod, verify the URL.", "Kept."),
    (
        3,
        "Configure vercel.json for the edge runtime.",
        "Configured vercel.json for edge runtime. It is a part of the Kira app deploy.",
    ),
    (3, "Now deploy it.", "Deployed Kira to Vercel using edge functions successfully."),
    (3, "Where shall we have lunch?", "Noodles, most likely."),
)


async def report(services: Services, number: int, turn: Turn) -> None:
    """Report one session as an agent's hooks do, then learn its project."""
    days, said, answered = turn
    for place, fields in enumerate(
        (
            {"hook_event_name": "UserPromptSubmit", "prompt": said},
            {"hook_event_name": "Stop", "last_assistant_message": answered},
        )
    ):
        at = EPOCH - timedelta(days=days, minutes=30 - number) + timedelta(seconds=place)
        payload = {"cwd": FOLDER, "session_id": f"s{number}", **fields}
        headers = {"x-hook-time": str(round(at.timestamp() * 1000))}
        await services.hooks.take("claude-code", json.dumps(payload).encode(), headers, retrieve=False)
    await services.learn.flush(project_id_in((await services.project_names.resolve(FOLDER)).namespace))
    await trio.sleep(2)


SAID_PLAINLY: Sequence[Turn] = (
    (60, "We use Netlify.", "Noted."),
    (30, "We moved from Netlify to Vercel.", "Changed the notes."),
    (10, "Always run the tests before a deploy.", "Kept."),
    (
        3,
        "Configure vercel.json for the edge runtime, it is a part of the Kira app deploy.",
        "Configured vercel.json for edge runtime, because the deploy of the Kira app timed out with Node.js functions.",
    ),
    (
        3,
        "Deploy the Kira app to Vercel.",
        (
            "Deployed Kira to Vercel using edge functions, because these start in a tenth of the time. It runs in "
            "`fra1`, since the database is there, so that a query takes 2 ms and not 90."
        ),
    ),
    SAID[-1],
)
"""The same statements in forms that are read without a model; Otto and a procedure have no such form."""

READ = {
    "the Kira app, is": '<entity name="Kira" type="project" aliases="Kira app" events="{}">AI partner product</entity>',
    "runs on Netlify": '<fact subject="Kira" subject_type="project" predicate="runs_on" object="Netlify" events="{}"/>',
    "from Netlify": '<fact subject="Kira" subject_type="project" predicate="runs_on" object="Vercel hobby plan" '
    'replaces="Netlify" events="{}"/>',
    "is deployed on Vercel": '<fact subject="Kira" subject_type="project" predicate="deployed_on" object="Vercel" '
    'events="{}"/>',
    "Otto created": '<fact subject="Otto" subject_type="person" predicate="created" object="Kira" events="{}"/>',
    "dislikes Docker": '<fact subject="Otto" subject_type="person" predicate="dislikes" object="Docker" events="{}"/>',
    "verify the URL": '<procedure name="Deploy to Vercel" events="{}"><step>check vercel.json</step>'
    "<step>run the tests</step><step>run vercel --prod</step><step>verify the URL</step></procedure>",
}
"""The model's items for the graph by a person's words, which say exactly that."""

REMEMBERED = ("Configured vercel.json", "Deployed Kira", "Noodles")
"""The beginnings of an agent's answers that the model keeps as memories, word for word."""

_EVENT = re.compile(r'<event number="(\d+)" kind="(\w+)".*?<text>(.*?)</text>', re.DOTALL)


def honest(prompt: str) -> str:
    """A model's answer: memories of the agent's work, and graph items of the person's statements."""
    records, graph = "", ""
    for number, kind, text in _EVENT.findall(prompt[prompt.index("<batch") :]):
        if kind == "prompt":
            graph += "".join(made.format(number) for words, made in READ.items() if words in text)
        elif text.startswith(REMEMBERED):
            title = text.partition(". ")[0].rstrip(".")
            records += (
                f'<memory_record type="session_summary" events="{number}" importance="6"><title>{title}</title>'
                f"<summary>{text}</summary></memory_record>"
            )
    return f"{records or '<skip/>'}<graph>{graph}</graph>"


def after_all_sessions(
    scenario: Callable[[Services], Awaitable[None]], learner: Llm | Learner, said: Sequence[Turn] = SAID
) -> None:
    async def run(services: Services) -> None:
        for number, turn in enumerate(said):
            await report(services, number, turn)
        await scenario(services)

    in_daemon(run, llm=learner, config=GRAPH, project_files=FixedFiles(texts={FOLDER: FILES}))


async def context(services: Services, message: str = MESSAGE) -> Context:
    return await services.contexts.context(FOLDER, ContextRequest(message=message))


def test_with_a_model_the_block_is_built_as_documented() -> None:
    async def scenario(services: Services) -> None:
        found = await context(services)
        # 1. The message is read.
        assert found.query.keywords == ("deploy", "kira", "app")
        assert list(found.entities.values()) == ["Kira"]
        assert (found.query.intent, found.query.time_range) == (Intent.DO_TASK, None)
        # 2. Three strategies at once, none of which is missing; a fake model makes no two texts near.
        parts: set[str] = set().union(*(item.parts for item in found.items))
        assert {"keyword", "graph"} <= parts
        assert found.degraded == ()
        # 3. Ranked, with a reason for each line.
        assert all(item.score > 0 for item in found.items)
        # 4. Within the budget, in the sections of the document, in their order.
        assert found.tokens <= found.budget
        lines = found.text.splitlines()
        assert [line for line in lines if line.startswith("#")] == [
            "### Known Context",
            "### Relevant History",
            "### Learned Procedures",
        ]
        assert "- **Kira** (project): AI partner product" in lines
        assert "- Otto dislikes Docker (confidence: 0.77)" in lines, "two steps from Kira, by who created it"
        assert "- Kira runs on Vercel hobby plan (confidence: 0.67)" in lines
        assert "- [3 days ago] Deployed Kira to Vercel using edge functions successfully" in lines
        assert "- [3 days ago] Configured vercel.json for edge runtime" in lines
        assert (
            "- **Deploy to Vercel** (confidence: 0.8): check vercel.json → run the tests → run vercel --prod → "
            "verify the URL" in lines
        )
        assert "Netlify" not in found.text, "it ended"
        assert "Noodles" not in found.text
        # An ended fact is found if it is asked for.
        assert (
            "Kira runs on Netlify (confidence: 0.67, until 2025-12-06)"
            in (await context(services, "what did we run on before?")).text
        )

    after_all_sessions(scenario, ScriptedLlm(honest))


async def prompt(services: Services, text: str, session: str) -> str:
    payload = {"hook_event_name": "UserPromptSubmit", "cwd": FOLDER, "session_id": session, "prompt": text}
    return (await services.hooks.take("claude-code", json.dumps(payload).encode(), {}, retrieve=True)).context


def test_over_hooks_the_prompt_is_told_the_block_and_a_session_its_brief() -> None:
    async def scenario(services: Services) -> None:
        started = {"hook_event_name": "SessionStart", "cwd": FOLDER, "session_id": "new", "source": "startup"}
        brief = (await services.hooks.take("claude-code", json.dumps(started).encode(), {}, retrieve=True)).context
        assert "deployed on: Vercel" in brief
        assert "- Deployed Kira to Vercel using edge functions successfully (2026-01-02)" in brief
        told = await prompt(services, MESSAGE, "new")
        assert "- Otto dislikes Docker (confidence: " in told
        assert "- **Deploy to Vercel** (confidence: 0.8): check vercel.json" in told
        assert "Netlify" not in brief + told

    after_all_sessions(scenario, ScriptedLlm(honest))


def test_without_a_model_rules_and_files_say_what_they_can() -> None:
    async def scenario(services: Services) -> None:
        found = await context(services)
        assert list(found.entities.values()) == ["Kira"]
        lines = found.text.splitlines()
        assert "- workflow.run tests deploy: Always run the tests before a deploy" in lines
        assert "- Kira uses Vercel (confidence: 0.84)" in lines
        assert any(line.startswith("- [3 days ago] Deployed Kira to Vercel using edge functions") for line in lines)
        assert any(line.startswith("- [3 days ago] Configured vercel.json for edge runtime") for line in lines)
        assert "Netlify" not in found.text
        assert "Noodles" not in found.text
        assert "Kira uses Netlify" in (await context(services, "what did we use before?")).text
        told = await prompt(services, MESSAGE, "new")
        slot = "- deploy: `npm run deploy`; deployed on: Vercel (package.json, vercel.json)\n"
        assert told.startswith(f"{HEADING}\n{slot}")
        assert told.count("Always run the tests") == 1

    after_all_sessions(scenario, BuiltInLearner(in_place), SAID_PLAINLY)
