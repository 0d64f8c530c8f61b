"""Which values of constants are chosen on two histories, and how good are they on the third?

    python benchmarks/left_one_out.py DATA MODULE.NAME=VALUE[,VALUE...] ... [--budgets 1000 2000 4000 8000]
        [--replays 1] [--vectors FILE] [--json FILE]

For example, where ``retrieval`` stands for ``kiro_learn.retrieval``:

    python benchmarks/left_one_out.py DATA retrieval.rendering.excerpts.SCORE_POWER=1.5,1.75,2.0

Each history of DATA (see ``histories.py``) is learned once; then its questions are asked with every combination of the
values, at every budget. For each history in turn, a combination is chosen by its mean over the other two histories and
all budgets, and judged on this one. The first of equal ones is chosen, so give the values in force first. The last line
has the means of the judged figures, which no choice has seen. Two replays of one history differ by a question or two:
``--replays`` learns each history that many times and takes the means.
"""

from __future__ import annotations

import importlib
import itertools
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import (
    BUDGETS,
    PATIENCE_SECONDS,
    History,
    KeptModel,
    ask,
    histories_in,
    learn,
    parser_of,
    running_services,
    wait_ready,
)
from benchmarks.many_records import about_this_run
from kiro_learn.config import RecallConfig
from kiro_learn.model.ids import EventId

Combination = tuple[float, ...]
"""One value of each constant, in the order of the command line."""
Answered = dict[Combination, dict[int, float]]
"""The share of one history's questions that were answered, by combination and budget."""


@contextmanager
def constants(values: Mapping[str, float]) -> Iterator[None]:
    """Set constants for the length of the block, in the modules that define them. Only these see the new values."""
    with ExitStack() as stack:
        for name, value in values.items():
            module_name, _, constant = f"kiro_learn.{name}".rpartition(".")
            module = importlib.import_module(module_name)
            original = getattr(module, constant)
            stack.callback(setattr, module, constant, original)
            setattr(module, constant, type(original)(value))
        yield


async def answered(
    history: History, grid: Mapping[str, Sequence[float]], budgets: Sequence[int], model: KeptModel
) -> Answered:
    """Learn ``history`` once and ask its questions with each combination."""
    found: Answered = {combination: {} for combination in itertools.product(*grid.values())}
    with tempfile.TemporaryDirectory() as folder:
        line_of: dict[EventId, int] = {}
        for budget in budgets:
            config = RecallConfig(context_bytes=budget, budget_seconds=PATIENCE_SECONDS)
            async with running_services(Path(folder), model, config) as services:
                line_of = line_of or await learn(services, history)
                await wait_ready(services, history)
                for combination, by_budget in found.items():
                    with constants(dict(zip(grid, combination, strict=True))):
                        answers = [await ask(services, history, each, line_of) for each in history.questions]
                    by_budget[budget] = statistics.fmean(answer.is_both for answer in answers)
    return found


def mean_of(replays: Sequence[Answered]) -> Answered:
    """The mean share over several replays of one history, by combination and budget."""
    return {
        combination: {
            budget: statistics.fmean(replay[combination][budget] for replay in replays) for budget in by_budget
        }
        for combination, by_budget in replays[0].items()
    }


def judged(by_history: Mapping[str, Answered]) -> dict[str, tuple[Combination, dict[int, float]]]:
    """For each history, the combination that is best on all others, and its shares on this one."""
    return {left_out: _chosen(left_out, by_history) for left_out in by_history}


def _chosen(left_out: str, by_history: Mapping[str, Answered]) -> tuple[Combination, dict[int, float]]:
    others = [shares for name, shares in by_history.items() if name != left_out]

    def mean(combination: Combination) -> float:
        return statistics.fmean(statistics.fmean(shares[combination].values()) for shares in others)

    best = max(by_history[left_out], key=mean)
    return best, by_history[left_out][best]


def read_grid(arguments: Sequence[str]) -> dict[str, list[float]]:
    """The values of each constant, from arguments of the form ``NAME=VALUE,VALUE``."""
    pairs = (argument.partition("=") for argument in arguments)
    return {name: [float(value) for value in values.split(",")] for name, _, values in pairs}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("grid", nargs="+", metavar="MODULE.NAME=VALUE,...")
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS))
    parser.add_argument("--replays", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    grid = read_grid(options.grid)
    model = KeptModel(options.vectors)
    by_history: dict[str, Answered] = {}
    for history in histories_in(options.data, options.only):
        replays = [trio.run(answered, history, grid, options.budgets, model) for _ in range(options.replays)]
        by_history[history.name] = mean_of(replays)
        model.keep()
    report = about_this_run() | {
        "replays": options.replays,
        "constants": list(grid),
        "combinations": [],
        "left_out": {},
    }
    for combination in itertools.product(*grid.values()):
        shares = {name: found[combination] for name, found in by_history.items()}
        print(json.dumps({"values": combination, "both": _rounded(shares)}))
        report["combinations"].append({"values": combination, "both": shares})
    found = judged(by_history)
    for name, (combination, reached) in found.items():
        print(json.dumps({"left_out": name, "chosen": combination, "both": _rounded({name: reached})[name]}))
        report["left_out"][name] = {"chosen": combination, "both": reached}
    means = {budget: statistics.fmean(reached[budget] for _, reached in found.values()) for budget in options.budgets}
    print(json.dumps({"mean_of_left_out": {budget: round(mean, 3) for budget, mean in means.items()}}))
    if options.json:
        options.json.write_text(json.dumps(report | {"mean_of_left_out": means}, indent=2) + "\n")


def _rounded(shares: Mapping[str, Mapping[int, float]]) -> dict[str, list[float]]:
    return {name: [round(share, 3) for share in by_budget.values()] for name, by_budget in shares.items()}


if __name__ == "__main__":
    main()
