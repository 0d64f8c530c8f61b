"""The built-in learner: a memory for each turn that says something, in its own words, and one for each rule in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import attrs

from kiro_learn.learning.extraction.extractive.attempts import given_up, kept_instead, turned_down_in, undone
from kiro_learn.learning.extraction.extractive.chatter import is_failed_answer, own_words
from kiro_learn.learning.extraction.extractive.corrections import corrected_request
from kiro_learn.learning.extraction.extractive.durability import refuted
from kiro_learn.learning.extraction.extractive.durable import (
    choice_in,
    chosen_in,
    laid_down_in,
    order_in,
    steps_in,
)
from kiro_learn.learning.extraction.extractive.extract import (
    PROMPT_CHARACTERS,
    Extract,
    asked_line,
    beginning,
    drafts_of_extracts,
    earnest_blocks,
    without_title,
)
from kiro_learn.learning.extraction.extractive.facts import (
    MOST_FACTS,
    ToolFact,
    answered_facts,
    facts_in,
    files_in,
    new_ones,
    tool_facts,
)
from kiro_learn.learning.extraction.extractive.faults import traps_of
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind, blocks_of
from kiro_learn.learning.extraction.extractive.observation_types import knowledge_type, observation_type
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.learning.extraction.extractive.replies import agreed_in, picked_in
from kiro_learn.learning.extraction.extractive.telling import asks_something, says_something
from kiro_learn.learning.extraction.extractive.titles import (
    said_alone,
    title_of,
    title_of_correction,
    title_of_rule,
)
from kiro_learn.learning.extraction.extractive.told_causes import cause_told_in
from kiro_learn.learning.extraction.extractive.turns import ReadBatch, Said, Turn, read, turns_of, without_logs
from kiro_learn.learning.extraction.extractive.unknowns import extract_of_told, is_unknown, told_after
from kiro_learn.learning.extraction.extractive.vocabulary import concepts_in, cut_at_word, paths_in
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MAX_TITLE, KnowledgeType, ObservationType, Origin

# The built-in learner: a memory for each turn that says something, in its own words, and one for a rule in it.
#
# The record stands for the turn: it is found by the prompt, and its text is the beginning of the answer. It cites the
# events of both, and a tool's event only if a fact comes from it. The same text always gives the same result.

_NUMBER = re.compile(r"\W*v?\d[\d.,:x/%-]*\W*")

SHORT_PROMPT = 300
"""The most characters of a prompt whose rule is the subject of the whole turn."""

_RULE_IMPORTANCE = 8
_CHOICE_IMPORTANCE = 6


def drafts_of(snapshot: BufferSnapshot) -> list[RecordDraft]:
    """The memories of ``snapshot``, in the order in which its turns ended; none if it says nothing that lasts."""
    batch = read(snapshot)
    return drafts_of_extracts((*extracts_of(batch), *traps_of(batch)), batch.sources)


def extracts_of(batch: ReadBatch) -> list[Extract]:
    """The lasting content of each turn of ``batch``: mostly one extract, and one more for a rule in a long prompt."""
    turns = turns_of(batch.events)
    left = given_up(turns)
    failed = refuted(turns) - left
    taken_back = undone(turns)
    found: list[Extract] = []
    for turn in turns:
        if turn.answer is not None and turn.answer.number in taken_back and turn.answer.number not in left:
            found += _from_undone(turn, taken_back[turn.answer.number])
        else:
            found += _each_of(turn, batch.project_path, failed, left)
    return found


def _from_undone(turn: Turn, reason: str) -> Iterator[Extract]:
    """The change that was taken back, and why; then the rules that the person laid down in that turn."""
    said = own_sentences(turn.question) if len(turn.question) <= SHORT_PROMPT else ()
    wanted = _chosen(turn) or next((each for each in said if own_words(each)), "")
    if wanted and reason:
        text = f"{wanted.rstrip(' .!')}: undone, {reason}"
        yield attrs.evolve(_from_choice(turn, text), knowledge_type=KnowledgeType.REJECTED)
    yield from _from_rules(turn)


def _each_of(turn: Turn, project_path: str, failed: Collection[int], left: Collection[int]) -> Iterator[Extract]:
    if turn.answer is not None and turn.answer.number in left:
        yield from _from_given_up(turn, project_path)
    elif turn.previous and turn.previous.answer and turn.previous.answer.number in left:
        yield from _from_rules(turn)  # the rest says how the attempt was undone and what stays instead
        if kept := kept_instead(turn.question):
            yield _from_choice(turn, kept)
    elif turn.previous and (told := told_after(turn)):
        yield from _from_rules(turn)
        yield extract_of_told(turn, turn.previous, told)
    else:
        yield from _extracts(turn, project_path, failed)


def _from_rules(turn: Turn) -> Iterator[Extract]:
    return (_from_rule(rule, ()) for rule in _own_rules(turn))


def _from_given_up(turn: Turn, project_path: str) -> Iterator[Extract]:
    """The attempt that was given up, and why; then the rules that the person laid down in that turn."""
    blocks = earnest_answer(turn)
    if turn.answer is not None and blocks:
        tried = _from_answer(turn, turn.answer, blocks, "", project_path)
        yield attrs.evolve(
            tried,
            title=title_of(blocks, turn.question),
            observation_type=ObservationType.DISCOVERY,
            knowledge_type=KnowledgeType.REJECTED,
            origin=Origin.ASSISTANT,
            importance=_CHOICE_IMPORTANCE,
        )
    yield from _from_rules(turn)


def _extracts(turn: Turn, project_path: str, failed: Collection[int]) -> Iterator[Extract]:
    rules = _own_rules(turn)
    answered = answered_facts(turn.tools)
    blocks = earnest_answer(turn)
    is_short = len(turn.question) <= SHORT_PROMPT
    are_alone = is_short and len(rules) > 1
    is_decided = (bool(rules) and not are_alone) or _has_decision(answered) or bool(_chosen(turn))
    rejected = _turned_down(turn)
    is_all = bool(rejected) and not _says_more(turn, rejected, blocks)
    if turn.answer is None or turn.answer.number in failed or is_all or not says_something(turn, blocks, is_decided):
        said = [*_from_person(turn, rules, answered)]
        laid_out = "" if said else _laid_out(turn, failed)
        yield from said or ([_from_choice(turn, laid_out)] if laid_out else [])
        return
    is_about_rule = is_short and len(rules) == 1 and not _says_more(turn, rules[0].text, blocks)
    yield _from_answer(turn, turn.answer, blocks, rules[0].text if is_about_rule else "", project_path)
    # Each rule holds beyond its turn. As its own record, it is found, told, overruled and protected by itself.
    if not is_about_rule:
        yield from (_from_rule(rule, ()) for rule in rules)
    elif chosen := _chosen(turn):
        yield _from_choice(turn, chosen)
    if rejected:
        yield _from_turned_down(turn, rejected)


def _says_more(turn: Turn, rule: str, blocks: Sequence[Block]) -> bool:
    """Whether the prompt has a task or a question next to its rule, whose answer is worth a memory without it."""
    others = (sentence for sentence in own_sentences(turn.question) if sentence not in rule)
    return any(map(own_words, others)) and says_something(turn, blocks, is_decided=False)


def earnest_answer(turn: Turn) -> list[Block]:
    """The blocks of the answer without chatter; none if it failed, or says only that it does not know."""
    if turn.answer is None or is_failed_answer(turn.answer.text) or is_unknown(turn):
        return []
    blocks = blocks_of(turn.answer.text)
    # A number, or "Changed to 30.", would be talk by itself.
    if _NUMBER.fullmatch(turn.answer.text) and asks_something(turn):
        return blocks
    return earnest_blocks(blocks) or (blocks if corrected_request(turn) else [])


@attrs.frozen
class _Rule:
    """A rule or a correction in its author's words, and the prompt that has it."""

    text: str
    said: Said


def _own_rules(turn: Turn) -> list[_Rule]:
    """The rules laid down in this batch, each once. A rule in a context prompt has its record already."""
    found: dict[str, _Rule] = {}
    rejected = _turned_down(turn)
    for said in turn.prompts:
        for text in () if said.is_context else laid_down_in(said.text):
            if text not in rejected:
                found.setdefault(text.casefold(), _Rule(text, said))
    return list(found.values())


def from_person(turn: Turn) -> list[Extract]:
    """Memories of rules in short prompts of ``turn``, and of a person's choices and answers."""
    rules = [rule for rule in _own_rules(turn) if len(rule.said.text) <= SHORT_PROMPT]
    return list(_from_person(turn, rules, answered_facts(turn.tools)))


def _from_person(turn: Turn, rules: Sequence[_Rule], answered: Sequence[ToolFact]) -> Iterator[Extract]:
    """A memory for each rule, or for a person's choice. They hold whatever the rest of the turn says."""
    if rejected := _turned_down(turn):
        yield _from_turned_down(turn, rejected)
    if rules:
        yield _from_rule(rules[0], answered)
        yield from (_from_rule(rule, ()) for rule in rules[1:])
        if chosen := _chosen(turn):
            yield _from_choice(turn, chosen)
    elif _has_decision(answered):
        yield _from_answered(turn, answered)
    elif cause := _told_cause(turn):
        yield _from_cause(turn, cause)
    elif chosen := _chosen(turn):
        yield _from_choice(turn, chosen)


def _from_rule(rule: _Rule, answered: Sequence[ToolFact]) -> Extract:
    events = sorted({rule.said.number, *(fact.number for fact in answered)})
    facts = tuple(fact.text for fact in answered)
    return _in_own_words(rule.text, events, KnowledgeType.CONSTRAINT, _RULE_IMPORTANCE, facts=facts)


def _in_own_words(
    text: str,
    events: Iterable[int],
    knowledge_type: KnowledgeType,
    importance: int,
    *,
    facts: tuple[str, ...] = (),
) -> Extract:
    """A rule or a choice in the words of the person."""
    return Extract(
        title=title_of_rule(text),
        summary=said_alone(text),
        observation_type=ObservationType.DECISION,
        events=tuple(events),
        facts=facts,
        concepts=concepts_in(text, ""),
        knowledge_type=knowledge_type,
        origin=Origin.USER,
        importance=importance,
    )


def _told_cause(turn: Turn) -> str:
    """The cause that a person gave in this batch. A cause in a context prompt has its record already."""
    return cause_told_in("\n".join(said.text for said in turn.prompts if not said.is_context))


def _chosen(turn: Turn) -> str:
    """The choice that a person made in this batch. A choice in a context prompt has its record already."""
    if answered := picked_in(turn) or agreed_in(turn):
        return answered
    chosen = next(filter(None, (chosen_in(said.text) for said in turn.prompts if not said.is_context)), "")
    return "" if chosen in _turned_down(turn) else chosen


def _turned_down(turn: Turn) -> str:
    """What a person tried and turned down, as they say in this batch."""
    return next(filter(None, (turned_down_in(said.text) for said in turn.prompts if not said.is_context)), "")


def _from_turned_down(turn: Turn, rejected: str) -> Extract:
    return attrs.evolve(_from_choice(turn, rejected), knowledge_type=KnowledgeType.REJECTED)


def _laid_out(turn: Turn, failed: Collection[int]) -> str:
    """The steps that a person listed. If the answer did not help, else also the change that they wanted."""
    if turn.answer is None:
        return ""
    steps = steps_in(turn.question)
    return steps or (order_in(turn.question) if turn.answer.number in failed else "")


def _from_choice(turn: Turn, chosen: str) -> Extract:
    events = (said.number for said in turn.prompts)
    return _in_own_words(chosen, events, KnowledgeType.DECISION, _CHOICE_IMPORTANCE)


def _from_cause(turn: Turn, cause: str) -> Extract:
    return attrs.evolve(
        _from_choice(turn, cause), observation_type=ObservationType.ERROR, knowledge_type=None, importance=None
    )


def _from_answered(turn: Turn, answered: Sequence[ToolFact]) -> Extract:
    texts = [fact.text for fact in answered]
    shown, whole = beginning([Block(BlockKind.TEXT, text) for text in texts])
    return Extract(
        title=cut_at_word(texts[0], MAX_TITLE),
        summary="\n".join(filter(None, (asked_line(turn), shown))),
        observation_type=ObservationType.DECISION,
        events=tuple(sorted({*(said.number for said in turn.prompts), *(fact.number for fact in answered)})),
        facts=tuple(texts[whole:]),
        concepts=concepts_in("\n".join(texts), ""),
        knowledge_type=KnowledgeType.DECISION,
        origin=Origin.USER,
        importance=_CHOICE_IMPORTANCE,
    )


def _has_decision(answered: Sequence[ToolFact]) -> bool:
    return any(not fact.is_of_the_moment for fact in answered)


def _from_answer(turn: Turn, answer: Said, blocks: Sequence[Block], rule: str, project_path: str) -> Extract:
    about_rule = bool(rule)
    choice = _chosen(turn)
    chosen = bool(choice or choice_in(turn.question))
    laid_down = rule or (choice if len(turn.question) <= SHORT_PROMPT else "")
    title = title_of_rule(laid_down) if laid_down else _title_of(turn, blocks)
    blocks = without_title(blocks, title)
    shown, whole = beginning(blocks)
    summary = "\n".join(filter(None, (asked_line(turn), shown)))
    said = new_ones([each for each in (rule, choice) if each], f"{title}\n{summary}")
    answered = answered_facts(turn.tools)
    is_choice = chosen or _has_decision(answered)
    room = MOST_FACTS - len(answered)
    if title.endswith("...") and laid_down not in turn.question and laid_down not in said:
        said = [laid_down, *said]  # the reason of an advice stands in no prompt
    said += facts_in(_not_shown(turn), f"{title}\n{summary}\n{rule}", most=room, with_questions=True)
    facts = said + facts_in(blocks[whole:], "\n".join((title, summary, *said)), most=room)
    files = files_in(turn.tools, project_path)
    kind = _type_of(turn, answer, decides=chosen or about_rule, changed_files=bool(files.modified))
    told = tool_facts(turn.tools, with_failures=kind is ObservationType.ERROR)
    facts = [*(fact.text for fact in answered), *facts][: MOST_FACTS - len(told)]
    return Extract(
        title=title,
        summary=summary,
        observation_type=kind,
        events=_cited(turn, answer, (fact.number for fact in (*answered, *told))),
        facts=(*facts, *(fact.text for fact in told)),
        concepts=concepts_in(turn.question, answer.text),
        files=files,
        mentioned_files=paths_in(answer.text),
        knowledge_type=knowledge_type(rules=about_rule, chosen=is_choice),
        origin=Origin.USER if laid_down else Origin.ASSISTANT,
        importance=_RULE_IMPORTANCE if about_rule else _CHOICE_IMPORTANCE if is_choice else None,
    )


def _title_of(turn: Turn, blocks: Sequence[Block]) -> str:
    corrected = corrected_request(turn)
    return title_of_correction(blocks, corrected) if corrected else title_of(blocks, turn.question)


def _not_shown(turn: Turn) -> list[Block]:
    """The blocks of prompts of which the summary shows only the beginning."""
    typed = (without_logs(said.text) for said in turn.prompts)
    return [block for text in typed if len(text) > PROMPT_CHARACTERS for block in blocks_of(text)]


def _type_of(turn: Turn, answer: Said, *, decides: bool, changed_files: bool) -> ObservationType:
    if turn.is_session_summary:
        return ObservationType.SESSION_SUMMARY
    return observation_type(turn.question, answer.text, chosen=decides, changed_files=changed_files)


def _cited(turn: Turn, answer: Said, tool_numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({answer.number, *(said.number for said in turn.prompts), *tool_numbers}))
