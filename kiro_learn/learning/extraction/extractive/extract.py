"""Makes the memory of a turn: the parts of its question and answer to show, and its draft within the bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from kiro_learn.learning.extraction.extractive.chatter import (
    asks_nothing,
    is_chatter,
    is_nod,
    own_words,
    without_chatter,
)
from kiro_learn.learning.extraction.extractive.corrections import corrected_request
from kiro_learn.learning.extraction.extractive.durable import only_lays_down
from kiro_learn.learning.extraction.extractive.facts import Files
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.turns import Said, Turn, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import (
    cut_at_sentence,
    cut_at_word,
    on_one_line,
    overlap,
    sentences,
    words,
)
from kiro_learn.learning.extraction.framing import Sources, cited_events
from kiro_learn.learning.extraction.parsing import bounded, each_within
from kiro_learn.model import record
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import ASKED, KnowledgeType, ObservationType, Origin
from kiro_learn.retrieval.ranking.succession import as_said


@attrs.frozen(kw_only=True)
class Extract:
    """One memory, and the numbers of the events that it comes from."""

    title: str
    summary: str
    observation_type: ObservationType
    events: tuple[int, ...]
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: Files = attrs.Factory(Files)
    mentioned_files: tuple[str, ...] = ()
    knowledge_type: KnowledgeType | None = None
    origin: Origin = Origin.ASSISTANT
    importance: int | None = None


def _draft_of(extract: Extract, sources: Sources) -> RecordDraft | None:
    """``extract`` as a draft that cites events; None if nothing is left of its title or its summary."""
    title = bounded(extract.title, record.MAX_TITLE)
    summary = bounded(extract.summary, record.MAX_SUMMARY)
    if not title or not summary:
        return None
    files = extract.files
    known = (*files.modified, *files.read)
    facts = each_within(extract.facts, count_most=record.MAX_FACTS, length_most=record.MAX_FACT)
    mentioned = (path for path in extract.mentioned_files if not _is_among(path, known))
    return RecordDraft(
        title=" ".join(title.split()),
        summary=summary,
        observation_type=extract.observation_type,
        source_event_ids=cited_events(sources, extract.events),
        cites=True,
        facts=tuple(map(as_said, facts)),
        concepts=each_within(extract.concepts, count_most=record.MAX_CONCEPTS, length_most=record.MAX_CONCEPT),
        files_touched=_paths((*files.modified, *mentioned, *files.read)),
        files_read=_paths(files.read),
        files_modified=_paths(files.modified),
        knowledge_type=extract.knowledge_type,
        origin=extract.origin,
        importance=extract.importance,
    )


def drafts_of_extracts(extracts: Iterable[Extract], sources: Sources) -> list[RecordDraft]:
    """The drafts of ``extracts``, without those of which nothing is left."""
    return [draft for extract in extracts if (draft := _draft_of(extract, sources)) is not None]


def _paths(paths: Iterable[str]) -> tuple[str, ...]:
    return each_within(paths, count_most=record.MAX_FILES, length_most=record.MAX_FILE)


def _is_among(mentioned: str, known: Iterable[str]) -> bool:
    """Whether ``mentioned`` is one of the ``known`` paths, or the end of one."""
    return any(f"/{path}".endswith(f"/{mentioned}") for path in known)


# The beginning of an answer after the beginning of its question: the best extract that was measured.
#
# Of 40 later questions, 39 were answered by the first 850 characters of the right turn's answer, with the beginning of
# its prompt in front. Choosing sentences instead lost up to a seventh of them.

ANSWER_CHARACTERS = 850
PROMPT_CHARACTERS = 300
_EARLIER_CHARACTERS = 60
_LEAST_REST = 40
_MOST_PROMPTS = 3
_OFFERING = frozenset({"prefer", "shall", "want"})
"""Words of an offer that do not say what is offered."""
_REPEATED = 0.75


def asked_line(turn: Turn) -> str:
    """The request in its own words. If it was a nod, very short, or corrects a value, also what it answered to."""
    if not turn.prompts:
        return ""
    telling = [said for said in turn.prompts if not is_nod(said.text)] or turn.prompts
    *earlier, last = telling[-_MOST_PROMPTS:]
    again = set(words(last.text))
    shown = [_short(said, _EARLIER_CHARACTERS) for said in earlier if overlap(said.text, again) < _REPEATED]
    line = f"{ASKED}{' / '.join([*shown, _short(last, PROMPT_CHARACTERS)])}"
    before = _corrected(turn)
    if not before and (is_nod(turn.question) or len(turn.question) <= _LEAST_REST):
        before = _subject_before(turn)
    return f"{line} (after: {before})" if before else line


def _corrected(turn: Turn) -> str:
    return cut_at_word(on_one_line(without_logs(corrected_request(turn))), _EARLIER_CHARACTERS)


def _short(said: Said, limit: int) -> str:
    return cut_at_word(on_one_line(without_logs(said.text)), limit)


def _subject_before(turn: Turn) -> str:
    """The question at the end of the answer before this turn, or else the subject of that earlier turn.

    A question without a word of its own ("Would you like me to go ahead?"), a rule and talk are no subject.
    """
    before = turn.previous
    if before is None or before.answer is None:
        return ""
    last = sentences(before.answer.text[-PROMPT_CHARACTERS * 4 :])[-1:]
    if last and last[0].endswith("?") and not _OFFERING.issuperset(own_words(last[0])):
        return cut_at_word(on_one_line(last[0]), PROMPT_CHARACTERS)
    asked = before.prompts[-1] if before.prompts else None
    if asked is None or asks_nothing(asked.text) or only_lays_down(asked.text):
        return ""
    return _short(asked, _EARLIER_CHARACTERS)


def earnest_blocks(blocks: Sequence[Block]) -> list[Block]:
    """``blocks`` without the chatter around their content: sentences, and headings that name nothing."""
    kept: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.TEXT:
            text = without_chatter(block.text)
        else:
            text = "" if block.kind is BlockKind.HEADING and is_chatter(block.text) else block.text
        if text:
            kept.append(Block(block.kind, text, block.marker, block.heading))
    return kept


def without_title(blocks: Sequence[Block], title: str) -> Sequence[Block]:
    """``blocks`` without a first heading that the title repeats."""
    repeats = (
        len(blocks) > 1
        and blocks[0].kind is BlockKind.HEADING
        and overlap(blocks[0].text, set(words(title))) >= _REPEATED
    )
    return blocks[1:] if repeats else blocks


def beginning(blocks: Sequence[Block], limit: int = ANSWER_CHARACTERS) -> tuple[str, int]:
    """The text of the first ``blocks`` within ``limit`` characters, cut at a line or sentence end; and how many fit."""
    lines: list[str] = []
    left = limit
    for count, block in enumerate(blocks):
        line = block.line
        if len(line) + 1 > left:
            if left >= _LEAST_REST and block.kind is not BlockKind.HEADING:
                lines.append(cut_at_sentence(line, left))
            return _joined(lines, blocks[:count]), count
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines), len(blocks)


def _joined(lines: list[str], shown: Sequence[Block]) -> str:
    """The lines as one text, without a heading that nothing follows."""
    if shown and shown[-1].kind is BlockKind.HEADING and len(lines) == len(shown):
        lines = lines[:-1]
    return "\n".join(lines)
