"""Scripts generated from templates: facts stated, changed, repeated, contradicted, amid chatter."""

from __future__ import annotations

import heapq
from itertools import product
from typing import TYPE_CHECKING, Final

from oneiros.runtime.dataclasses import NamedTuple, dataclass, field
from oneiros.simulation.script import NEVER_TRUE, Fact, Line, Phrase, Script

if TYPE_CHECKING:
    from random import Random

    from oneiros.simulation.workload import Workload

__all__ = [
    "ADJECTIVES",
    "CHATTER",
    "CORRECTION",
    "DOUBT",
    "KINDS",
    "NOUNS",
    "PEOPLE",
    "KindTemplate",
    "invent",
]


class KindTemplate(NamedTuple):
    """Sentences for facts of one kind; ``{subject}``, ``{what}`` and ``{value}`` are filled in."""

    share: float
    """Share of all facts; the shares add up to 1."""
    statement: str
    changes: tuple[str, ...]
    questions: tuple[str, ...]
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
"""Kind, weight and text of memories without questions."""

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


_FACTS_OF_A_SUBJECT: Final = 8
_CORRECTED_AFTER: Final = (10, 60)
"""Lines between a contradiction and its correction."""


@dataclass(slots=True)
class _Fact:
    """The current state of a fact."""

    kind: str
    subject: str
    what: str
    values: list[str]
    """Stated values; the last one is current."""
    denied: list[str] = field(default_factory=list)
    """Values of contradictions."""
    last_text: str = ""


@dataclass(slots=True)
class _Author:
    """Writes a script line by line."""

    workload: Workload
    random: Random
    subjects: list[str]
    facts: list[_Fact] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    corrections: list[tuple[int, int]] = field(default_factory=list)
    """Due line and fact of pending corrections, as a heap."""
    used: set[tuple[str, str, str]] = field(default_factory=set)

    def write(self) -> None:
        """Write the next line."""
        if self.corrections and self.corrections[0][0] <= len(self.lines):
            self._correct(heapq.heappop(self.corrections)[1])
            return
        workload = self.workload
        chance = self.random.random() - workload.chatter
        if chance < 0.0 or (chance < workload.changes and not self.facts):
            self._chat()
        elif chance < workload.revisions:
            self._revise(self.random.randrange(len(self.facts)))
        elif chance < workload.revisions + workload.repeats:
            self._repeat(self.random.randrange(len(self.facts)))
        elif chance < workload.changes:
            self._contradict(self.random.randrange(len(self.facts)))
        else:
            self._tell()

    def _tell(self) -> None:
        kinds = list(KINDS)
        while True:
            kind = self.random.choices(kinds, [template.share for template in KINDS.values()])[0]
            subject = self.random.choice(self.subjects)
            what = self.random.choice(KINDS[kind].whats)
            if (kind, subject, what) not in self.used:
                break
        self.used.add((kind, subject, what))
        value = self.random.choice(KINDS[kind].values)
        self.facts.append(_Fact(kind, subject, what, [value]))
        text = self._filled(KINDS[kind].statement, self.facts[-1], value)
        self._say(len(self.facts) - 1, text, 0)

    def _revise(self, number: int) -> None:
        fact = self.facts[number]
        value = self._another(fact)
        fact.values.append(value)
        text = self._filled(self.random.choice(KINDS[fact.kind].changes), fact, value)
        self._say(number, text, len(fact.values) - 1)

    def _repeat(self, number: int) -> None:
        fact = self.facts[number]
        self._say(number, fact.last_text, len(fact.values) - 1)

    def _contradict(self, number: int) -> None:
        fact = self.facts[number]
        doubt = DOUBT.format(person=self.random.choice(PEOPLE))
        fact.denied.append(self._another(fact))
        text = doubt + self._filled(KINDS[fact.kind].statement, fact, fact.denied[-1])
        due = len(self.lines) + self.random.randint(*_CORRECTED_AFTER)
        heapq.heappush(self.corrections, (due, number))
        self._say(number, text, NEVER_TRUE)

    def _correct(self, number: int) -> None:
        fact = self.facts[number]
        text = CORRECTION + self._filled(KINDS[fact.kind].statement, fact, fact.values[-1])
        self._say(number, text, len(fact.values) - 1)

    def _chat(self) -> None:
        kind, _, text = self.random.choices(CHATTER, [weight for _, weight, _ in CHATTER])[0]
        subject = self.random.choice(self.subjects)
        person = self.random.choice(PEOPLE)
        filled = text.format(subject=subject, person=person, number=self.random.randint(2, 90))
        self.lines.append(Line({"text": filled, "kind": kind, "topic": subject}))

    def _say(self, number: int, text: str, version: int) -> None:
        fact = self.facts[number]
        if version != NEVER_TRUE:
            fact.last_text = text
        record = {"text": text, "kind": fact.kind, "topic": fact.subject}
        self.lines.append(Line(record, number, version))

    def _another(self, fact: _Fact) -> str:
        """Return a value not yet used for the fact, or else one that is not current."""
        used = {*fact.values, *fact.denied}
        values = KINDS[fact.kind].values
        others = [value for value in values if value not in used]
        return self.random.choice(others or [value for value in values if value != fact.values[-1]])

    def _filled(self, text: str, fact: _Fact, value: str) -> str:
        return text.format(subject=fact.subject, what=fact.what, value=value)


def invent(workload: Workload, random: Random) -> Script:
    """Generate a script of ``workload.memories`` lines, in the workload's shares.

    There are about eight facts per subject, so that a question has neighbours with the same
    subject, and with the same words about other subjects. A record contains text, kind and topic
    (the subject); nothing in it reveals the questions.

    Args:
        workload: number of lines, and the shares of their sorts.
        random: random generator.
    """
    expected = workload.memories * (1.0 - workload.chatter)
    subjects = _subjects(max(4, round(expected / _FACTS_OF_A_SUBJECT)), random)
    author = _Author(workload, random, subjects)
    for _ in range(workload.memories):
        author.write()
    return Script(author.lines, [_script_fact(fact) for fact in author.facts])


def _subjects(count: int, random: Random) -> list[str]:
    """Return ``count`` names; repeated names are numbered from 2."""
    names = [f"{adjective} {noun}" for adjective, noun in product(ADJECTIVES, NOUNS)]
    random.shuffle(names)
    rounds, rest = divmod(count, len(names))
    numbered = [f"{name} {turn}" for turn in range(2, rounds + 2) for name in names]
    return [*names, *numbered][:count] if rounds else names[:rest]


def _script_fact(fact: _Fact) -> Fact:
    questions = KINDS[fact.kind].questions
    texts = (text.format(subject=fact.subject, what=fact.what) for text in questions)
    return Fact(fact.subject, tuple(Phrase(text) for text in texts))
