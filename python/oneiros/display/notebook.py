"""HTML of responses, memories, profiles and dream cycles for notebooks.

Every piece stands alone, inherits the notebook's colours (so that dark themes stay dark) and fits 900
pixels. The text of a memory comes first; factors that change nothing are folded away. Stored text
is escaped: no markup and no control character of it reaches the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line, shortened, visible
from oneiros.display.tables import DisplayTable, day, figure, moment
from oneiros.dream.report import RULE_WORDS, held_words, rule_name
from oneiros.errors import OneirosError
from oneiros.model.fields import FIELDS
from oneiros.model.memory import Memory

if TYPE_CHECKING:
    from oneiros.dream.drift import Drift
    from oneiros.dream.report import DreamReport
    from oneiros.explain.explanation import Explanation
    from oneiros.scoring.profile import Profile
    from oneiros.search.response import SearchResponse, SearchResult

__all__ = [
    "drift_html",
    "explanation_html",
    "memories_html",
    "memory_html",
    "profile_html",
    "report_html",
    "response_html",
]

_LONGEST: Final = 600  # characters of a text among others
_MOST: Final = 50  # memories, results or changes of one output
_DEFAULT: Final = Memory(text="")
_COLOURS: Final = ("#4e79a7", "#e0812b", "#59a14f", "#b07aa1", "#9c755f", "#76b7b2")

_STYLE: Final = """<style>
.oneiros{max-width:900px;font-size:13px;line-height:1.45}
.oneiros ol,.oneiros ul{margin:.3em 0;padding-left:2em}.oneiros li{margin:0 0 .7em}
.oneiros .faint{color:color-mix(in srgb,currentColor 75%,transparent);font-size:12px}
.oneiros .faint span{margin-right:1em;display:inline-block}
.oneiros .text{white-space:pre-wrap;overflow-wrap:anywhere}
.oneiros .bar{display:flex;height:6px;margin:3px 0;border-radius:3px;overflow:hidden;
background:color-mix(in srgb,currentColor 12%,transparent)}
.oneiros table{border-collapse:collapse;margin:.4em 0;font-size:12px}
.oneiros td,.oneiros th{padding:2px 8px;text-align:left;vertical-align:top;
border-bottom:1px solid color-mix(in srgb,currentColor 15%,transparent)}
.oneiros td:last-child{overflow-wrap:anywhere;min-width:7em}.oneiros i{display:inline-block;width:8px;height:8px;
border-radius:2px;margin-right:4px}
.oneiros td.number{text-align:right;font-variant-numeric:tabular-nums}
.oneiros summary{cursor:pointer;opacity:.7}
</style>"""


def response_html(response: SearchResponse) -> str:
    """Return the results, the text of each first, with a bar of the parts of its score."""
    head = f"<p><b>{escape(one_line(response._headline()))}</b>{_confidence(response)}</p>"
    results = response.results
    best = max((result.score for result in results), default=0.0)
    colours = _colours(result.explanation for result in results[:_MOST])
    shown = [_result(result, best, colours) for result in results[:_MOST]]
    listed = f"<ol>{''.join(f'<li>{each}</li>' for each in shown)}</ol>" if shown else ""
    if not results and response.nearest_misses:
        misses = "".join(f"<li>{_result(each, 0.0, {})}</li>" for each in response.nearest_misses)
        listed = f"<p>Nearest to an answer:</p><ul>{misses}</ul>"
    return _framed(head, listed, _more(len(results)))


def explanation_html(explanation: Explanation) -> str:
    """Return the parts of a score as a bar and a table, without the factors that change nothing."""
    table = explanation.table()
    is_left = [_is_neutral(str(part), value) for part, _, value, _ in table.rows]
    kept, neutral = (
        DisplayTable(
            table.columns,
            tuple(row for row, out in zip(table.rows, is_left, strict=True) if out is wanted),
        )
        for wanted in (False, True)
    )
    folded = f"{len(neutral.rows)} factors that change nothing, and channels that did not find it"
    return _framed(
        f"<p><b>score {figure(explanation.score)}</b></p>",
        _bar(explanation, explanation.score, explanation.score, _colours((explanation,))),
        kept._repr_html_(),
        _folded(folded, neutral._repr_html_()) if neutral.rows else "",
    )


def memory_html(memory: Memory) -> str:
    """Return a memory: its title and text, then the fields that are not at their defaults."""
    return _framed(_text(memory, None), _line(memory), _fields_of(memory))


def memories_html(memories: Sequence[Memory], total: int | None = None) -> str:
    """Return memories, each with its text and a line of its kind, day and id.

    Args:
        memories: the memories.
        total: of how many they are a part; None: not known.
    """
    part = "" if total is None else f"{len(memories):,} of "
    count = part + count_of(len(memories) if total is None else total, "memory", grouped=True)
    items = (f"<li>{_text(each, _LONGEST)}{_line(each)}</li>" for each in memories[:_MOST])
    return _framed(f"<p><b>{count}</b></p><ul>{''.join(items)}</ul>", _more(len(memories)))


def profile_html(profile: Profile) -> str:
    """Return the parts of a profile, each with its settings."""
    record = profile.record()
    rows = "".join(
        f"<tr><td>{escape(kind)}</td><td>{escape(name)}</td><td>{escape(settings)}</td></tr>"
        for kind, name, settings in parts_of(record)
    )
    table = f"<table><tr><th>part</th><th>name</th><th>settings</th></tr>{rows}</table>"
    toml = f"<pre>{escape(str(profile))}</pre>"
    name = escape(one_line(profile.name))
    return _framed(f"<p><b>profile {name}</b></p>", table, _folded("as TOML", toml))


def report_html(report: DreamReport, texts: dict[str, str] | None = None) -> str:
    """Return what a dream cycle did, or would do: in words, then by rule.

    Args:
        report: of the cycle.
        texts: texts of removed memories by id; None: ids only.
    """
    head = _head_of(report)
    rules = "".join(
        f'<tr><td>{escape(RULE_WORDS.get(rule, rule))}</td><td class="number">{count:,}</td>'
        f"<td>{escape(rule_name(rule))}</td></tr>"
        for rule, count in report.counts().items()
    )
    counted = f"<table><tr><th>what</th><th>memories</th><th>rule</th></tr>{rules}</table>"
    gone = [change for change in report.named if change.removal]
    items = "".join(
        f"<li>{_quoted((texts or {}).get(change.id) or change.id, _LONGEST)}"
        f'<div class="faint"><span>{escape(change.removal or "")}</span>'
        f"<span>{escape(one_line(change.because or change.reason or ''))}</span>"
        f"<code>engine.restore({escape(shortened(repr(change.id), 80))})</code></div></li>"
        for change in gone[:_MOST]
    )
    removed = f"<p>Removed ({escape(report.removals())}):</p><ul>{items}</ul>" if gone else ""
    left = "".join(
        f"<li>{group.memories:,}: {escape(held_words(group.reason))}</li>"
        for group in report.left_alone
    )
    kept = _folded("left as they are", f"<ul>{left}</ul>") if left else ""
    return _framed(head, counted if rules else "", removed, _more(len(gone)), kept)


def _head_of(report: DreamReport) -> str:
    """Return what kind of cycle it was, in words, then its figures, and last its id."""
    said = str(report).partition("\n")[0]
    if report.damage or report.undoes is not None:
        return f"<p><b>{escape(said)}</b></p>"
    would = "would change" if report.is_dry_run else "changed"
    figures = (
        f"{report.live_before:,} → {count_of(report.live_after, 'memory', grouped=True)}",
        f"{would} {count_of(report.change_count, 'field', grouped=True)}",
        f"profile {report.profile}",
    )
    kind = "Dream cycle, planned" if report.is_dry_run else "Dream cycle"
    return f"<p><b>{kind}, {day(report.now)}</b></p>{_faint(figures, report.id)}"


def drift_html(drift: Drift) -> str:
    """Return the figures of several cycles as a table."""
    return _framed(drift.table()._repr_html_())


def parts_of(record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, name and settings of each part of a profile's record."""
    for kind, value in record.items():
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                if kind != "name":
                    yield kind, "", one_line(str(part))
                continue
            settings = ", ".join(
                f"{name} {_setting(held)}"
                for name, held in part.items()
                if name not in ("name", "system")
            )
            yield kind, str(part.get("name", "")), one_line(settings)


def _setting(value: object) -> str:
    return shortened(f"{value:g}" if isinstance(value, float) else str(value), 120)


def _framed(*pieces: str) -> str:
    return f'<div class="oneiros">{_STYLE}{"".join(pieces)}</div>'


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _more(count: int) -> str:
    return f'<p class="faint">and {count - _MOST:,} more</p>' if count > _MOST else ""


def _confidence(response: SearchResponse) -> str:
    value = response.confidence
    return "" if value is None else f' <span class="faint">confidence {value:.2f}</span>'


def _quoted(text: str, longest: int | None) -> str:
    """Return stored text, isolated from the direction of the text around it."""
    cut = text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
    return f'<div class="text"><bdi>{escape(visible(cut))}</bdi></div>'


def _text(memory: Memory, longest: int | None) -> str:
    title = f"<b>{escape(one_line(memory.title))}</b>" if memory.title else ""
    return title + _quoted(memory.text, longest)


def _faint(pieces: Iterable[str], id: str) -> str:
    spans = "".join(f"<span>{escape(one_line(piece))}</span>" for piece in pieces if piece)
    return f'<div class="faint">{spans}<code>{escape(shortened(id, 80))}</code></div>'


def _line(memory: Memory) -> str:
    state = "" if memory.deleted_at is None else "deleted"
    return _faint((memory.kind, day(_occurred(memory)), state), memory.id)


def _occurred(memory: Memory) -> float:
    return memory.created_at if memory.event_at is None else memory.event_at


def _fields_of(memory: Memory) -> str:
    """Return a table of the fields that are not at their defaults."""
    same = {
        name for name in ("updated_at", "learned_at") if getattr(memory, name) == memory.created_at
    }
    rows = []
    for name, field in FIELDS.items():
        if name in ("id", "text", "title", "embedding"):
            continue
        value = getattr(memory, name)
        if name in same or value == getattr(_DEFAULT, name):
            continue
        said = moment(value) if field.kind == "time" else _value(value)
        rows.append(f"<tr><td>{name}</td><td>{escape(one_line(said))}</td></tr>")
    if memory.embedding is not None:
        rows.append(f"<tr><td>embedding</td><td>{len(memory.embedding)} numbers</td></tr>")
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _value(value: object) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, frozenset):
        value = sorted(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _result(result: SearchResult, best: float, colours: dict[str, str]) -> str:
    try:
        memory = result.memory
    except OneirosError as error:
        return f'<div class="faint">{escape(one_line(str(error)))}</div>'
    explanation = result.explanation
    bar = "" if best <= 0.0 else _bar(explanation, result.score, best, colours)
    said = (memory.kind, day(_occurred(memory)), f"score {figure(result.score)}")
    parts = "" if explanation is None else _parts(explanation, colours)
    return _text(memory, _LONGEST) + bar + _faint(said, memory.id) + parts


def _bar(
    explanation: Explanation | None, score: float, best: float, colours: dict[str, str]
) -> str:
    """Return a bar as long as the score beside the best, cut into what made its relevance."""
    if not 0.0 < score <= best:
        return ""
    parts = [("score", 1.0)]
    if explanation is not None:
        found = [(part.name, part.value) for part in explanation.parts if part.value > 0.0]
        whole = sum(value for _, value in found)
        parts = [(name, value / whole) for name, value in found] or parts
    length = 1.0 if score == best else score / best  # of two infinite scores, too
    pieces = "".join(
        f'<span style="width:{100 * share * length:.2f}%;background:{_colour(name, colours)}"></span>'
        for name, share in parts
    )
    said = ", ".join(f"{name} {100 * share:.0f} %" for name, share in parts)
    return f'<div class="bar" role="img" aria-label="{escape(said)}">{pieces}</div>'


def _colours(explanations: Iterable[Explanation | None]) -> dict[str, str]:
    """Return a colour for each part of some scores, the same in all of them."""
    found = (part for one in explanations if one is not None for part in one.parts)
    names = dict.fromkeys(part.name for part in found if part.value > 0.0)
    return {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}


def _colour(name: str, colours: dict[str, str]) -> str:
    return colours.get(name, _COLOURS[0])


def _words(name: str) -> str:
    return one_line(name).replace("_", " ")


def _parts(explanation: Explanation, colours: dict[str, str]) -> str:
    """Return the parts of a score in the colours of its bar, and the factors that change it."""
    parts = [part for part in explanation.parts if part.value > 0.0]
    named = [
        f'<span><i style="background:{_colour(part.name, colours)}"></i>'
        f"{escape(_words(part.name))} {figure(part.value)}</span>"
        for part in parts
    ]
    factors = map(
        str, (each for each in explanation.factors if not _is_neutral(str(each), each.value))
    )
    named += [f"<span>{escape(one_line(factor))}</span>" for factor in factors]
    return f'<div class="faint">{"".join(named)}</div>' if named else ""


def _is_neutral(part: str, value: object) -> bool:
    """Return whether a row of an explanation changes nothing: x 1, + 0, or a channel without it."""
    if part.startswith(("×", "÷")):
        return value == 1.0
    return value is None or (part.startswith("+") and value == 0.0)
