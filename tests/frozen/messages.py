"""Calls with wrong arguments, as source text, and the exception that each raises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import oneiros
from oneiros import kernels, profiles
from oneiros.filters import Where
from tests.frozen.corpus import NOW

__all__ = ["messages"]

_TEXTS = ("None", "5", "LONE", "[]")
_SEARCHED: dict[str, tuple[str, ...]] = {  # arguments of search, search_many and why_not
    "k": ("-1", "2.5", "'3'", "None", "True", "SEVERAL"),
    "where": ("5", "'kind'", "{'kind': 'note'}"),
    "session": ("5", "LONE", "''", "'s' * 300"),
    "now": ("'soon'", "HUGE", "[]", "NOW * 1000", "nan", "inf", "-1e30", "'2025-06-01T12:00:00'"),
    "profile": ("()", "5", "'nobody'", "[]"),
    "reinforce": ("1", "'no'", "SEVERAL"),
    "explain": ("None", "1", "'yes'"),
    "include_expired": ("1", "None"),
    "deep_recall": ("1", "'yes'"),
    "include_expired_in_deep_recall": ("0", "SEVERAL"),
    "valid_at": ("'soon'", "-1e30", "NOW * 1000", "[]"),
    "status": ("5", "'lost'", "['staged', 5]", "['nobody']", "ONE"),
    "syntax": ("None", "5", "'lucene'", "LONE"),
    "hint": ("5", "''", "LONE", "'x' * 65"),
    "date_range": (
        "5",
        "'2024'",
        "(None, None)",
        "(NOW, 'soon')",
        "(NOW, 1)",
        "(HUGE, None)",
        "[NOW]",
    ),
    "soft_range": ("None", "1", "'yes'", "True"),
    "context": ("5", "'file.py'", "{}"),
    "reranker": ("5", "'model'", "object"),
    "deadline": ("0", "-1", "'1'", "nan", "True", "HUGE"),
}
_FIELDS: dict[str, tuple[str, ...]] = {
    "id": ("3", "''", "'i' * 257", "LONE"),
    "title": ("3", "LONE"),
    "kind": ("''", "'k' * 65", "5"),
    "category": ("'other'", "5", "[]"),
    "project": ("5", "LONE"),
    "sessions": ("'one'", "[5]", "ONE"),
    "tags": ("'one'", "[1]", "ONE", "{1, 2}"),
    "metadata": ("[1]", "{1: 2}", "{'a': nan}", "{'a': object}", "'x'"),
    "created_at": ("nan", "inf", "[NOW]", "'soon'", "NOW * 1000", "'2025-06-01T12:00:00'"),
    "valid_until": ("-inf", "HUGE", "True"),
    "ttl": ("-1.0", "nan", "'day'"),
    "importance": ("-0.001", "1.001", "nan", "'high'", "True", "HUGE"),
    "certainty": ("2", "-inf"),
    "priority": ("0", "6", "2.5"),
    "veracity": ("'sworn'",),
    "pinned": ("'yes'", "1"),
    "feedback": ("2**15", "1.5"),
    "access_count": ("-1", "2**32", "'3'"),
    "session_spread": ("0",),
    "strength": ("1.5",),
    "depth": ("0", "4", "2.5", "'2'"),
    "stability": ("-0.001", "1e39"),
    "importance_tag": ("'very'",),
    "status": ("'lost'",),
    "canonical_layer": ("'deep'",),
    "tier": ("'warm'",),
    "superseded_by": ("''", "5"),
    "embedding": (
        "'vector'",
        "[1 + 2j, 0]",
        "[1, nan]",
        "[[1, 0]]",
        "[1]",
        "[inf, 0]",
        "ONE",
        "[1e308] * 2",
    ),
    "importence": ("0.5",),
    "colour": ("'red'",),
}
_FILTERS = (
    *("project=None", "project=5", "kind=['a', 5]", "status='lost'", "tags_all=ONE", "id=b'x'"),
    *(
        "importance='high'",
        "importance=(1, 0)",
        "importance=(0, nan)",
        "importance=(1,)",
        "depth=True",
    ),
    *("pinned=1", "created_at=NOW", "created_at=('soon', None)", "created_at=(2, 1)", "metadata=5"),
    *(
        "metadata={1: 2}",
        "metadata={'a': []}",
        "metadata={'a': inf}",
        "colour='red'",
        "deleted_at=(1, 2)",
    ),
    "created_at=(NOW * 1000, None)",
)
_INDEX = r"""
index.add(SEVERAL, 'text')
index.add(1.5, 'text')
index.add(2, 5)
index.add(1, 'again')
index.add(2, LONE)
index.add(-1, 'x')
index.add('one', 'x')
index.delete(SEVERAL)
index.delete(99)
index.add_many(ONE, ['t'])
index.add_many([2], ONE)
index.add_many([2], [])
index.add_many([2, 2], ['a', 'b'])
index.score('ant', ONE)
index.score('ant', [99])
index.search(5)
index.search(LONE)
index.search('ant', SEVERAL)
index.search('ant', -1)
index.search('ant', 'k')
index.search('ant', where=ONE)
index.search('ant', where=5)
index.search('ant', syntax='sql')
index.search('ant', syntax=LONE)
index.search('ant', top_k=1)
index.search('ant', minimum_should_match=SEVERAL)
index.search('ant', minimum_should_match=-1)
index.search_many(ONE)
index.search_many('ant')
index.search_many([5])
index.search_many(['ant'], threads=0)
index.search_many(['ant'], threads='2')
index.search('w ' * 70_000)
index.search(' '.join(map(str, range(2_000))))
index.save(None)
index.save('')
index.save(LONE)
index.open(LONE)
index.open(None)
LexicalIndex(k1=-1)
LexicalIndex(k1=HUGE)
LexicalIndex(b=2)
LexicalIndex(b='1')
LexicalIndex(variant='bm26')
LexicalIndex(variant=[])
LexicalIndex(analyzer='klingon')
LexicalIndex(analyzer=5)
LexicalIndex(title_weight=9)
LexicalIndex(fields=True, tags_weight=0.3)
LexicalIndex(fields=1)
LexicalIndex(stemmer='x')
"""
_ENGINE = r"""
Engine(None)
Engine(5)
Engine('')
Engine(LONE)
Engine(b'x')
Engine('a\0b')
Engine(':memory:', profile=5)
Engine(':memory:', profile='nobody')
Engine(':memory:', k1='1')
Engine(':memory:', embedder=5)
Engine(':memory:', reranker=5)
Engine(':memory:', b=True)
Engine(':memory:', query_expander=5)
Engine(':memory:', analyzer='klingon')
Engine(':memory:', variant='bm26')
Engine(':memory:', title_weight=0.3)
Engine(':memory:', vector_index='ivf9')
Engine(':memory:', durability='most')
Engine(':memory:', busy_timeout_seconds=-1)
Engine(':memory:', clock='now')
Engine(':memory:', auto_refresh=1)
Engine(':memory:', watch=5)
Engine(':memory:', embeder=None)
Engine()
"""
_MIND = r"""
mind.add(5)
mind.add(LONE)
mind.add(None)
mind.add()
mind.add('t', on_conflict='never')
mind.add('t', id='a')
mind.add('t', now='soon')
mind.add_many(5)
mind.add_many([5])
mind.add_many([{}])
mind.add_many([{'text': 'a', 'depth': 9}])
mind.add_many([], on_error='go')
mind.add_many([], progress=1)
mind.add_many([], links=1)
mind.add_many('text')
mind.add_many([{'text': 'a', 'id': 'x'}, {'text': 'b', 'id': 'x'}])
mind.update('a', id='b')
mind.update('a', learned_at=1.0)
mind.update('a', text=None)
mind.update('nobody', text='t')
mind.update(5, text='t')
mind.update('a', now='soon')
mind.update('a', colour='red')
mind.get('nobody')
mind.get(5)
mind.get(LONE)
mind.get_many('a')
mind.get_many([5])
mind.delete()
mind.delete('a', where=where())
mind.delete('nobody')
mind.delete(5)
mind.delete(where='kind')
mind.delete(where=5)
mind.restore('nobody')
mind.restore(None)
mind.forget('nobody')
mind.forget()
mind.forget('a', where=where())
mind.forget(where='kind')
mind.forget(where=where())
mind.forget('a', derived=1)
mind.forget_many('ab')
mind.forget_many(['nobody'])
mind.forget_many([5])
mind.feedback('a', 'great')
mind.feedback('a', [])
mind.feedback('nobody', 'helpful')
mind.supersede('a', 'a')
mind.supersede('a', 'nobody')
mind.supersede('a', 'b', 5)
mind.supersede('b', 'gone')
mind.pin('a', 1)
mind.pin('nobody')
mind.link('a', 'a')
mind.link('a', 'nobody')
mind.link('a', 'b', 0)
mind.link('a', 'b', 1.5)
mind.link('a', 'b', '1')
mind.link('a', 'b', kind='friend')
mind.link_many(5)
mind.link_many([('a',)])
mind.link_many([('a', 'b', 2)])
mind.unlink('a', 'a')
mind.neighbours('nobody')
mind.neighbours('a', limit=-1)
mind.links(5)
mind.list(limit=-1)
mind.list(after='nobody')
mind.list(after=5)
mind.list(5)
mind.count('kind')
mind.scope(kind='x')
mind.scope(project=5)
mind.scope(project='p').scope(project='q')
mind.scope(project='p').add('t', project='q')
mind.scope(project='p').update('a', project='q')
mind.scope(project='p').why_not('ant', 'a', whre=1)
mind.similar(5)
mind.similar('a', -1)
mind.similar('t', embedding=[1])
mind.similar('a', where=5)
mind.similar('a', profile='nobody')
mind.near_duplicates('a')
mind.near_duplicates(['nobody'])
mind.export('')
mind.export(None)
mind.export('x', embeddings=1)
mind.backup(':memory:', replace=1)
mind.backup(None)
mind.reembed(5)
mind.embed_missing()
mind.embed_missing(progress=1)
mind.dream('soon')
mind.dream(dry_run=1)
mind.undo_dream('x')
mind.undo_dream(None)
mind.rescore(threads=0)
mind.rescore(profile='nobody')
mind.promote(dry_run=1)
mind.purge(-1)
mind.purge('30')
mind.verify_erased('')
mind.verify_erased(5)
mind.search(5)
mind.search(None)
mind.search(b'ant')
mind.search(LONE)
mind.search()
mind.search('ant', 1, 2)
mind.search('ant', top_k=3)
mind.search('ant', filter=3)
mind.search('w ' * 70_000)
mind.search(' '.join(map(str, range(2_000))))
mind.search('ant', embedding='x')
mind.search('ant', embedding=[1])
mind.search('ant', embedding=[nan, 1])
mind.search('ant', embedding=[[1, 0]])
mind.search('ant', embedding=5)
mind.search('ant', profile=profiles.get('ciar').replace(reinforcement=None), reinforce=True)
mind.search('ant', profile='omega', context=oneiros.Context(situation='asleep'))
nest(40)
mind.search('ant', where=where(project=MANY))
mind.search_many(None)
mind.search_many('ant')
mind.search_many([5])
mind.search_many(ONE)
mind.search_many(['a'], embeddings=5)
mind.search_many(['a'], embeddings=[])
mind.search_many(['a'], embeddings=[[1]])
mind.search_many(['a'], threads=0)
mind.search_many(['a'], threads=257)
mind.search_many(['a'], threads='2')
mind.search_many(['a'], threads=True)
mind.search_many(['a'], sesion='s')
mind.why_not('ant', None)
mind.why_not('ant', LONE)
mind.why_not(5, 'a')
mind.why_not('ant')
closed.search('ant')
closed.add('t')
closed.get('a')
"""
_PARTS = r"""
Context(file=5)
Context(file='')
Context(project=LONE)
Context(tags='errors')
Context(tags=[5])
Context(situation=5)
Context(5)
Memory(text=None)
Memory()
Memory.from_record(5, now=NOW)
Memory.from_record({'text': 't', 'depth': 9}, now=NOW)
Where.from_json({'x': 1})
Where.from_json(5)
where() and where()
where() & 5
where() | None
rrf(None)
rrf(ONE)
rrf([ONE, ['a']])
rrf([['a']], k=-1)
rrf([['a']], k='1')
rrf([['a']], normalise='most')
rrf([['a']], weights=ONE)
rrf([['a']], weights=[1, 2])
rrf([['a']], top=-1)
rrf([['a', 'a']])
rescore(5, 'ciar', now=NOW)
rescore({'certainty': [2.0]}, 'ciar', now=NOW, missing='default')
rescore({'certainty': [HUGE]}, 'ciar', now=NOW, missing='default')
rescore([], 'nobody', now=NOW)
rescore({'certainty': [0.5]}, 'ciar', now=NOW)
rescore({'certainty': [0.5]}, 'ciar', now='soon')
rescore({'certainty': [0.5]}, 'ciar', now=NOW, dtype=0, missing='default')
rescore({'certainty': [0.5]}, 'ciar', now=NOW, threads=0, missing='default')
rescore({'certainty': [0.5]}, 'ciar', now=NOW, missing='no')
rescore('x.txt', 'ciar', now=NOW)
rescore({'certainty': [0.5], 'impact': [1, 2]}, 'ciar', now=NOW, missing='default')
promote({'certainty': [0.5]}, 'oneiros', now=NOW)
promote({'certainty': [0.5]}, 'ciar', now=NOW, progress=1)
factors(5)
factors([{}], threads=0)
factors([{'depth': 9}])
factors([{}], profile='nobody')
factors([{'colour': 1}])
kernels.blend(0.5, 0.5, weight=ONE)
kernels.blend(0.5, 0.5, weight=2)
kernels.damp(0.5, amount=None)
kernels.damp(0.5, amount=2.0)
kernels.damp('x', amount=0.5)
kernels.depth_weight(1, table=ONE)
kernels.depth_weight(1.5)
kernels.depth_weight(9)
kernels.weighted_sum(0.5, [1.0])
kernels.explain_ciar(HUGE, 0.5, 1, 1)
kernels.ciar(2, 0.5, 1, 1)
kernels.retention(1, 1, 1, 'core', model=SEVERAL)
kernels.retention(1, 1, 1, 'nobody')
kernels.time_decay_boost(1.0, tau_days=0)
kernels.time_decay_boost('x')
kernels.spread_weight(0)
kernels.time_decay_boost(SEVERAL, out=[1])
kernels.time_decay_boost(1.0, threads=0)
kernels.stability_boost(1.0, -1.0)
kernels.feedback_factor(1.5)
kernels.priority_factor(9)
kernels.thompson_boost(-1, 1)
kernels.floored_decay(1.0, -1)
kernels.should_promote(0.5, threads=0)
kernels.temporal_proximity(1.0, 2.0, 1.0)
kernels.minmax_floor([1.0], low=2)
kernels.signal(1)
Expression('1', operation=SEVERAL)
Expression('')
Expression('nobody + 1')
Expression('1 +')
Expression(5)
Expression('1', name='A')
CallableFactor(5, 'mine', ('depth',))
CallableFactor(len, 'mine', ())
CallableFactor(len, 'mine', ('nobody',))
CallableFactor(len, 'mine', 'depth')
CallableFactor(len, 'mine', ('depth',), 'divide')
profiles.get('nobody')
profiles.get(5)
profiles.get('ciar', preset='x')
profiles.get('ciar', spread=False)
profiles.get('ciar', lifecycle=1)
profiles.register(5)
Profile(name=5)
Profile(name='')
Profile(name='x', factors=5)
Profile(name='x', channels=())
Profile(name='x', fusion=5)
Profile(name='x', deep_recall_penalty=2)
profiles.get('omega').with_factors(None)
profiles.get('omega').with_factors('decay')
profiles.get('oneiros').replace(colour=1)
profiles.get('ciar').replace(weights=(1,))
profiles.get('oneiros').replace(fast_path=5)
Profile.from_toml('name = 5')
Profile.from_toml('name = "x"\ncolour = 1')
Profile.from_toml(5)
profiles.from_environment(environment={'OMEGA_STRONG_SIGNAL_GAP': 'x'})
"""


def _calls() -> Iterator[str]:
    for name, values in _SEARCHED.items():
        for number, value in enumerate(values):
            yield f"mind.search('ant', {name}={value})"
            if number < 2:
                yield f"mind.search_many(['ant'], {name}={value})"
                yield f"mind.why_not('ant', 'a', {name}={value})"
        yield f"mind.search_many([], {name}={values[0]})"
    for name, values in _FIELDS.items():
        for value in values:
            yield f"mind.add('text', {name}={value})"
        yield f"mind.update('a', {name}={values[0]})"
    for method in ("get", "restore", "forget", "delete", "pin"):
        yield from (f"mind.{method}({value})" for value in _TEXTS)
    yield from (f"where({condition})" for condition in _FILTERS)
    for group in (_ENGINE, _MIND, _INDEX, _PARTS):
        yield from group.strip().splitlines()


def messages() -> dict[str, str]:
    """Return by source what each call raises, type and message; "nothing" if it succeeds."""
    found = {}
    names = _names()
    for call in dict.fromkeys(_calls()):
        found[call] = raised = _raised(call, names)
        if raised == "nothing":  # the call may have changed the store
            names = _names()
    return found


def _names() -> dict[str, Any]:
    """Return the names that the calls use."""
    mind = oneiros.Engine(":memory:", profile="reverie", clock=lambda: NOW)
    mind.add("ant", id="a", embedding=[0.6, 0.8])
    mind.add("ant bee", id="b")
    mind.supersede("a", "b")
    closed = oneiros.Engine(":memory:")
    closed.close()
    index = oneiros.LexicalIndex(analyzer="simple")
    index.add(1, "ant")
    return {
        **{name: getattr(oneiros, name) for name in oneiros.__all__},
        "mind": mind,
        "closed": closed,
        "index": index,
        "kernels": kernels,
        "profiles": profiles,
        "oneiros": oneiros,
        "where": oneiros.where,
        "NOW": NOW,
        "nan": np.nan,
        "inf": np.inf,
        "HUGE": 10**400,
        "LONE": "\ud800",
        "nest": _nested,
        "ONE": np.array(3),
        "SEVERAL": np.array([1.0, 2.0]),
        "Where": Where,
        "MANY": [str(number) for number in range(100_001)],
    }


def _raised(call: str, names: dict[str, Any]) -> str:
    try:
        eval(call, names)
    except Exception as error:  # noqa: BLE001 - recorded, whatever it is
        return f"{type(error).__name__}: {_plain(str(error))}"
    return "nothing"


def _nested(depth: int) -> Where:
    condition = oneiros.where(project="x")
    for _ in range(depth):
        condition = ~(condition & oneiros.where(kind="note"))
    return condition


def _plain(message: str) -> str:
    """Return a message without addresses, in ASCII, cut to 400 characters."""
    plain = re.sub(r" at 0x[0-9a-f]+", "", message).encode("ascii", "backslashreplace").decode()
    return plain if len(plain) <= 400 else f"{plain[:400]} ... {len(plain)}"
