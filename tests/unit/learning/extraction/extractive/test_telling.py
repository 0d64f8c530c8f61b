"""Who asks for a place, a name, a number or a way is told a fact, and the fact needs no reason to be kept."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.telling import sought_in
from tests.unit.learning.histories import answer, learned, prompt

LOAD = "To load the seeds, run:\n\n```bash\ndbt seed --select internal_accounts\n```\n\nIt takes about one minute."


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("which port does metabase use?", "Metabase listens on port 3070 on kelvin."),
        ("which region is our bucket in?", "The bucket is in eu-central-1, and its copy is in eu-west-1."),
        ("who owns the domain?", "Pierre owns the domain, at Gandi, and it runs until March 2028."),
        ("can you tell me who signs the releases", "Marta signs them, with the key on her token in Hamburg."),
        ("on which machine runs the mlflow", "MLflow runs on newton, port 5000, with its artefacts beside it."),
        ("where do we keep the invoices", "Invoices are stored by Billing in the bucket acme-invoices for ten years."),
        ("I wanted to ask where the model is trained", "On newton, by `dags/train_ltv.py`, every Sunday at 3."),
        ("I would like to know where the backups are", "They are in the bucket `harbour-pg-backups`, one a night."),
        (
            "it would be nice to know where the backups are",
            "They are in `harbour-pg-backups` and are kept for a month.",
        ),
        ("I have forgotten which queue the mails take", "Mails take the queue `outbox-slow`, beside the invoices."),
        ("I can't find the logging config", "It is in `api/logging.yaml`, next to the settings of the API."),
    ],
)
def test_a_short_answer_that_names_what_was_sought_is_kept(asked: str, told: str) -> None:
    (draft,) = learned(prompt(1, asked), answer(2, told))
    assert draft.summary == f"Asked: {asked}\n{told}"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("how do I load the seeds?", LOAD),
        ("do you know how one gets into the container", "Open a shell:\n\n```\ndocker compose exec web bash\n```"),
        ("how can I rebuild the search index?", "Use this:\n\n```\nbin/reindex all\n```\n\nIt runs for an hour."),
        ("I forgot how to make a release", "Like this:\n\n```\nmake release\n```\n\nIt asks for the version."),
    ],
)
def test_a_command_that_answers_how_is_kept(asked: str, told: str) -> None:
    (draft,) = learned(prompt(1, asked), answer(2, told))
    command = told.split("\n```")[1].partition("\n")[2]
    assert command in draft.summary


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("which tests are red", "The tests `test_pool` and `test_auth` are failing on the branch."),
        ("where is the deploy", "The deploy of the branch started 5 minutes ago on staging with `make deploy`."),
        ("how do I fix that", "I've looked at `pool.ts` for you and made it open one connection less."),
        ("who has the lock", "It might be Bert, who was on the Server in the morning for the import."),
        ("where were we?", "You were about to rename the module `pool` in `src/pool.ts` and its callers."),
        ("which one do you mean", "Do you mean `pool.ts` or `server.ts`? Both of them open a connection."),
    ],
)
def test_an_answer_about_the_hour_or_the_talk_is_not(asked: str, told: str) -> None:
    assert learned(prompt(1, asked), answer(2, told)) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "what did you change?",
        "where did we stop",
        "which of these do you recommend",
        "I would like to know if it works",
        "please add a button where the list ends",
        "the importer knows where the files are",
    ],
)
def test_what_asks_about_the_talk_or_orders_something_seeks_no_fact(prompt: str) -> None:
    assert sought_in(prompt) == ""


@pytest.mark.parametrize(
    ("asked", "told", "title"),
    [
        (
            "where is the logging config",
            "It is in `api/logging.yaml`. The level is set by HARBOUR_LOG.",
            "Where is the logging config: It is in api/logging.yaml.",
        ),
        (
            "How do I start the notebook server?",
            "Use `make lab`. It binds to port 8899 and has no password.",
            "How do I start the notebook server? Use make lab.",
        ),
        (
            "sorry to ask again, but do you know where the sftp credentials are?",
            "They are in the vault under `harbour/sftp`. The server only accepts connections from kelvin.",
            "Where the sftp credentials are: They are in the vault under harbour/sftp.",
        ),
        (
            "I have forgotten how to reset the db",
            "Run:\n\n```bash\n./bin/db-reset\n```\n\nIt drops the metadata and makes the admin again.",
            "How to reset the db: ./bin/db-reset",
        ),
        (
            "how do I get into the container?",
            "Open a shell in it:\n\n```\ndocker compose exec web bash\n```\n\nThe user is root there.",
            "How do I get into the container? docker compose exec web bash",
        ),
        (
            "who may open the admin page?",
            "Only the group `ops`. The page lists every account of the shop with its orders.",
            "Who may open the admin page? Only the group ops.",
        ),
        (
            "which port does metabase use?",
            "Metabase listens on port 3070. The VPN must be up, since the firewall drops all else.",
            "Metabase listens on port 3070.",
        ),
    ],
)
def test_the_title_is_what_was_asked_for_and_not_what_is_told_beside_it(asked: str, told: str, title: str) -> None:
    (draft,) = learned(prompt(1, asked), answer(2, told))
    assert draft.title == title


@pytest.mark.parametrize(
    ("asked", "told", "title"),
    [
        (
            "why is the import slow?",
            "It reads `a.csv` twice. The import has no index on `tenant_id`, so each lookup scans the table.",
            "The import has no index on tenant_id, so each lookup scans the table.",
        ),
        (
            "where is the timeout set?",
            "## Timeouts\n\nThe gateway sets the timeout of 30 seconds in `gateway.yaml`, since the bank needs 20.",
            "The gateway sets the timeout of 30 seconds in gateway.yaml, since the bank needs 20.",
        ),
        (
            "which db?",
            "PostgreSQL 16.",
            "Which db? PostgreSQL 16.",
        ),
    ],
)
def test_the_title_of_another_answer_is_chosen_as_before(asked: str, told: str, title: str) -> None:
    (draft,) = learned(prompt(1, asked), answer(2, told))
    assert draft.title == title
