"""The sentences of an invented life: how facts of each kind are told, told anew and asked about."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = [
    "ADJECTIVES",
    "CHATTER",
    "CORRECTION",
    "DOUBT",
    "KINDS",
    "NOUNS",
    "PEOPLE",
    "KindTemplate",
]


class KindTemplate(NamedTuple):
    """How facts of one kind sound; ``{subject}``, ``{what}`` and ``{value}`` are filled in."""

    share: float
    """Of all facts; they add up to 1."""
    told: str
    changed: tuple[str, ...]
    asked: tuple[str, ...]
    whats: tuple[str, ...]
    values: tuple[str, ...]


KINDS: Final = {
    "decision": KindTemplate(
        0.20,
        "We decided that {subject} uses {value} for {what}.",
        (
            "Decision reversed: {subject} moves to {value} for {what}.",
            "From now on {what} in {subject} is done with {value}.",
        ),
        (
            "What did we decide about {what} in {subject}?",
            "Which {what} does {subject} use?",
        ),
        ("queueing", "storage", "authentication", "caching", "tracing", "search", "scheduling"),
        ("Postgres", "Kafka", "Redis", "OpenSearch", "RabbitMQ", "SQLite", "Consul", "Vault"),
    ),
    "config": KindTemplate(
        0.15,
        "The {what} of {subject} is set to {value}.",
        (
            "Changed: the {what} of {subject} is {value} now.",
            "{subject} got a new {what}: {value}.",
        ),
        ("What is the {what} of {subject}?", "{subject} {what}"),
        ("connection timeout", "retry limit", "cache size", "port", "batch size", "log retention"),
        ("4", "12", "30", "64", "250", "900", "2048", "8081", "9443", "15000"),
    ),
    "bug": KindTemplate(
        0.20,
        "{subject} {what} under load; the cause was {value}.",
        (
            "Looked again at why {subject} {what}: it is {value} after all.",
            "{subject} {what} once more, this time because of {value}.",
        ),
        ("Why does {subject} sometimes fail: it {what}?", "{subject} {what}, what was the cause?"),
        ("drops messages", "answers twice", "runs out of memory", "stalls at midnight", "leaks"),
        (
            *("a stale lock", "an expired certificate", "a missing index", "clock drift"),
            *("a full disk", "an unbounded queue", "a lost heartbeat", "a wrong time zone"),
        ),
    ),
    "preference": KindTemplate(
        0.15,
        "The {subject} team prefers {value} when it comes to {what}.",
        (
            "The {subject} team has changed its mind about {what}: {value}, please.",
            "These days the {subject} team likes {value} for {what}.",
        ),
        ("What does the {subject} team like for {what}?", "{subject}, preference in {what}"),
        ("editors", "coffee", "code reviews", "meetings", "branches", "reports", "holidays"),
        ("short ones", "none at all", "dark roast", "mornings", "squashed commits", "plain text"),
    ),
    "reference": KindTemplate(
        0.10,
        "The {what} of {subject} is kept in {value}.",
        (
            "The {what} of {subject} moved to {value}.",
            "Find the {what} of {subject} in {value} now.",
        ),
        ("Where is the {what} of {subject}?", "Where do we keep {subject}'s {what}?"),
        ("runbook", "dashboard", "rota", "budget sheet", "threat model", "contract"),
        ("the wiki", "the ops folder", "Grafana", "the handbook", "the shared drive", "Notion"),
    ),
    "directive": KindTemplate(
        0.05,
        "Always {value} before touching the {what} of {subject}.",
        ("New rule for the {what} of {subject}: {value} first.",),
        ("What must I do before I touch the {what} of {subject}?",),
        ("schema", "secrets", "release branch", "firewall", "billing job", "archive"),
        ("ask the owner", "take a backup", "open a ticket", "warn support", "run the dry run"),
    ),
    "heuristic": KindTemplate(
        0.05,
        "When {subject} is slow in its {what}, look at {value} first.",
        ("If the {what} of {subject} drags, nowadays {value} is where to look.",),
        ("{subject} is slow in its {what}, where do I look first?",),
        ("start-up", "nightly run", "login", "export", "import", "failover"),
        (
            "the connection pool",
            "garbage collection",
            "the DNS cache",
            "the slow log",
            "disk waits",
        ),
    ),
    "session": KindTemplate(
        0.10,
        "Worked on the {what} of {subject}; the next step is to {value}.",
        ("More on the {what} of {subject}: what comes next is to {value}.",),
        ("What was the next step for the {what} of {subject}?",),
        ("rewrite", "audit", "migration", "cost review", "load test", "clean-up"),
        ("ask finance", "split the module", "measure again", "write the tests", "call the vendor"),
    ),
}

DOUBT: Final = "{person} is sure of something else: "
CORRECTION: Final = "Checked it, and it stays as it was: "

CHATTER: Final = (
    ("session", 8, "Talked with {person} about {subject}, nothing new came of it."),
    ("session", 8, "Ran the tests of {subject} again, {number} passed and none failed."),
    ("session", 6, "Read through the logs of {subject} for {number} minutes, all quiet."),
    ("session", 6, "{person} asked how far {subject} is; said that it takes {number} more days."),
    ("session", 5, "Renamed {number} variables in {subject}."),
    ("session", 5, "Waited {number} minutes for the build of {subject}."),
    ("session", 4, "Stand-up: {person} is ill, {subject} waits until they are back."),
    ("session", 4, "Closed {number} stale tickets of {subject} together with {person}."),
    ("note", 5, "{person} brought cake, {number} pieces were left."),
    ("note", 5, "The room for the meeting about {subject} was too small for {number} people."),
    ("note", 4, "{person} recommends a talk of {number} minutes that has to do with {subject}."),
    ("note", 4, "Lunch with {person}, we spoke of {subject} and of the weather."),
    ("bug", 5, "{subject} printed {number} warnings on start; gone after a restart."),
    ("bug", 5, "A flaky test in {subject} failed {number} times today and then passed."),
    ("config", 3, "Set the log level of {subject} to debug for {number} minutes, and back."),
    ("reference", 2, "{person} sent {number} links about {subject}."),
)
"""Kind, weight and text of what nobody asks about again."""

PEOPLE: Final = (
    *("Ada", "Grace", "Linus", "Barbara", "Edsger", "Radia", "Donald", "Margaret", "Alan", "Lynn"),
    *("Tony", "Frances", "Niklaus", "Sophie", "Dennis", "Hedy", "Ken", "Adele", "Leslie", "Jean"),
)
ADJECTIVES: Final = (
    *("amber", "brisk", "copper", "distant", "eastern", "frozen", "golden", "hollow", "ivory"),
    *("jagged", "kindled", "lunar", "mellow", "narrow", "olive", "pale", "quiet", "rapid"),
    *("silver", "tidal", "upper", "velvet", "western", "young", "zephyr", "crimson", "hidden"),
)
NOUNS: Final = (
    *("anchor", "beacon", "canal", "delta", "ember", "ferry", "gateway", "harbour", "island"),
    *("jetty", "kiln", "ledger", "meadow", "nest", "orchard", "pier", "quarry", "reef"),
    *("signal", "tower", "union", "valley", "wharf", "yard", "bridge", "cellar", "dynamo"),
)
