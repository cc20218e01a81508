"""The C++ core. Strict: nothing is cast unasked, every argument goes by keyword."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

Rows: TypeAlias = npt.NDArray[np.uint32]
Bits: TypeAlias = bytes | npt.NDArray[np.uint8]
"""Packed bits: bit r % 8 of byte r // 8 is that of row r."""
_Made = TypeVar("_Made")
_Tuple = TypeVar("_Tuple", bound=tuple[Any, ...])

unicode_version: str
"""The Unicode version of the character tables: that of the Python that built the core."""
analysis_version: int

def folded_text(*, text: str) -> str: ...
def without_unspaced(*, text: str) -> str: ...

class Analyzer:
    def __init__(
        self,
        *,
        stop_words: list[str],
        identifiers: bool,
        folding: str,
        stem: Callable[[list[str]], list[str]] | None,
        function_words: list[str] = [],
        known_words: list[str] = [],
    ) -> None: ...
    def tokens(self, *, text: str | bytes, with_singles: bool = False) -> list[tuple[str, int]]: ...
    def clauses(
        self, *, text: str | bytes, syntax: str, most_terms: int
    ) -> tuple[list[tuple[str, str, int, list[str], list[int], bool]], int]: ...
    @property
    def vocabulary_size(self) -> int: ...

def parse_query(*, text: str | bytes, syntax: str) -> list[tuple[str, str, int, str]]: ...

# --- lexical --------------------------------------------------------------------------------------

class WeighedQuery:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # LexicalIndex alone makes one

class QueryStatistics:
    def __init__(
        self,
        *,
        documents: int,
        length: int,
        df: dict[str, int],
        prefix_df: dict[str, int],
        prefix_terms: dict[str, list[str]],
    ) -> None: ...
    @property
    def documents(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def df(self) -> dict[str, int]: ...
    @property
    def prefix_df(self) -> dict[str, int]: ...
    @property
    def prefix_terms(self) -> dict[str, list[str]]: ...

class AnalyzedTexts:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # LexicalIndex alone makes one
    def __len__(self) -> int: ...

class Bm25:
    def __init__(
        self,
        *,
        variant: str,
        k1: float,
        b: float,
        delta: float,
        half_length: float = 0.0,
        title_weight: float | None = None,
        tags_weight: float | None = None,
        title_length: float = 1.0,
    ) -> None: ...

class LexicalIndex:
    def __init__(self, *, analyzer: Analyzer, bm25: Bm25) -> None: ...
    def add(self, *, row: int, text: str, title: str = "", tags: str = "") -> int: ...
    def add_many(
        self,
        *,
        rows: Rows | Sequence[int],
        texts: list[str],
        titles: list[str] | None = None,
        tags: list[str] | None = None,
    ) -> int: ...
    def analyze_many(
        self,
        *,
        texts: list[str],
        titles: list[str] | None = None,
        tags: list[str] | None = None,
    ) -> AnalyzedTexts: ...
    def add_analyzed(self, *, rows: Rows | Sequence[int], texts: AnalyzedTexts) -> int: ...
    def delete(self, *, row: int) -> bool: ...
    def contains(self, *, row: int) -> bool: ...
    def information_of(self, *, rows: Rows | Sequence[int]) -> npt.NDArray[np.float64]: ...
    def search(
        self,
        *,
        query: str,
        k: int,
        allowed: Bits | None,
        syntax: str = "plain",
        minimum_should_match: int = 0,
        statistics: QueryStatistics | None = None,
    ) -> tuple[Rows, npt.NDArray[np.float64], WeighedQuery]: ...
    def search_many(
        self,
        *,
        queries: list[str],
        k: int,
        allowed: Bits | None,
        threads: int,
        syntax: str = "plain",
        minimum_should_match: int = 0,
        statistics: QueryStatistics | None = None,
    ) -> tuple[Rows, npt.NDArray[np.float64], npt.NDArray[np.int64], list[WeighedQuery]]: ...
    def permitted(
        self,
        *,
        query: str,
        allowed: Bits | None,
        syntax: str,
        statistics: QueryStatistics | None = None,
    ) -> bytes | None: ...
    def weigh(
        self,
        *,
        query: str,
        syntax: str = "plain",
        minimum_should_match: int = 0,
        statistics: QueryStatistics | None = None,
    ) -> WeighedQuery: ...
    def statistics(
        self,
        *,
        query: str,
        syntax: str = "plain",
        minimum_should_match: int = 0,
        rows: Bits | None = None,
        known: QueryStatistics | None = None,
        typos: bool = False,
    ) -> QueryStatistics: ...
    def score_rows(self, *, query: WeighedQuery, rows: Rows) -> npt.NDArray[np.float64]: ...
    def seal(self) -> None: ...
    @property
    def document_count(self) -> int: ...
    @property
    def segment_count(self) -> int: ...
    @property
    def resident_bytes(self) -> int: ...
    @property
    def part_bytes(self) -> dict[str, int]: ...
    @property
    def merge_error(self) -> str: ...

def save_lexical_index(
    *, index: LexicalIndex, path: str, identity: str, attachment: bytes, revision: int
) -> None: ...
def open_lexical_index(
    *, path: str, identity: str, analyzer: Analyzer, bm25: Bm25
) -> tuple[LexicalIndex, bytes, int]: ...
def snapshot_identity(*, path: str) -> str: ...
def json_values(
    *,
    texts: Buffer,
    ends: Buffer,
    stride: int,
    offset: int,
    first: int,
    last: int,
    keys: Sequence[bytes],
    whole_key: bytes,
) -> tuple[list[int], bytes, list[int]]: ...

class StoredIds:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # a snapshot alone makes one
    def __len__(self) -> int: ...
    @property
    def known_count(self) -> int: ...
    def at(self, row: int) -> str: ...
    def of(self, rows: Sequence[int]) -> list[str]: ...
    def between(self, first: int, last: int) -> list[str]: ...
    def find(self, id: str) -> int | None: ...

class StoredArray:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # StoreSnapshot makes them
    def __buffer__(self, flags: int, /) -> memoryview: ...

class StoreSnapshot:
    def __init__(self, *, path: str, identity: str, own_stamp: str) -> None: ...
    @property
    def is_own(self) -> bool: ...
    @property
    def revision(self) -> int: ...
    def lexical_index(self, *, analyzer: Analyzer, bm25: Bm25) -> LexicalIndex: ...
    def columns(self) -> Columns: ...
    def ids(self) -> StoredIds: ...
    def statements(self, *, reader: StatementReader) -> StatementColumn: ...
    def column(self, *, name: str) -> StoredArray: ...
    @property
    def has_vectors(self) -> bool: ...
    def vectors(self, *, row_end: int) -> VectorColumn: ...
    def vector_graph(self) -> StoredArray: ...
    def part(self, *, place: int) -> StoredArray: ...

def save_store_snapshot(
    *,
    index: LexicalIndex,
    columns: Columns,
    ids: list[str],
    statements: StatementColumn,
    parts: list[bytes],
    vectors: VectorColumn | None,
    vector_graph: bytes,
    path: str,
    identity: str,
    revision: int,
) -> None: ...
def file_stamp(*, path: str) -> str: ...

# --- columns, ranking, kernels, encoding ---------------------------------------------------------

class Columns:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @staticmethod
    def schema() -> dict[str, str]: ...
    def append(self, *, count: int) -> int: ...
    def write(
        self,
        *,
        rows: Rows | Sequence[int],
        values: Mapping[str, npt.NDArray[Any] | Sequence[float | None]],
    ) -> None: ...
    def view(self, *, name: str) -> npt.NDArray[Any]: ...
    def values_at(self, *, name: str, rows: Sequence[int]) -> list[Any]: ...
    def rows_of_sequences(self, *, sequences: Sequence[int], end: int) -> list[int]: ...
    def most_accessed(self, *, count: int, allowed: Bits | None) -> list[int]: ...

class SessionSets:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def at(self, *, row: int) -> list[str] | None: ...
    def rows(self) -> list[int]: ...
    def absent(self, *, rows: Sequence[int]) -> list[int]: ...
    def set(self, *, row: int, sessions: Sequence[str]) -> None: ...
    def set_if_absent(self, *, row: int, sessions: Sequence[str]) -> None: ...
    def add(self, *, rows: Sequence[int], session: str) -> list[int]: ...

class ReinforcementRule:
    def __init__(
        self, *, gain: float, span_days: float, most: float, limit: float, is_additive: bool
    ) -> None: ...

class UseRule:
    def __init__(
        self,
        *,
        found: ReinforcementRule,
        linked: ReinforcementRule,
        link_gain: float | None,
        link_rest_days: float,
        link_tau_days: float,
        most_linked: int,
        is_once_a_session: bool,
        warms: bool,
        core_accesses: int | None,
        core_stability: float,
        core_sessions: int,
    ) -> None: ...

class Reinforcer:
    def __init__(self, *, columns: Columns, sessions: SessionSets) -> None: ...
    def apply(
        self,
        *,
        rows: Sequence[int],
        direct: Sequence[int],
        linked: Sequence[int],
        now_seconds: float,
        session: str | None,
        rule: UseRule,
        most_waiting: int,
    ) -> bool | None: ...
    def apply_closed(
        self,
        *,
        rows: Sequence[int],
        direct: Sequence[int],
        linked: Sequence[int],
        now_seconds: float,
        session: str | None,
        rule: UseRule,
    ) -> None: ...
    def close(self) -> None: ...
    def open(self) -> None: ...
    def begin_change(self) -> None: ...
    def end_change(self) -> None: ...
    def use_links(self, *, graph: AssociationGraph | None) -> None: ...
    def repeat(self, *, rows: Sequence[int]) -> None: ...
    def repeat_warming(self, *, rows: Sequence[int]) -> None: ...
    def repeat_links(self, *, a: Sequence[int], b: Sequence[int]) -> None: ...
    def repeat_all_links(self) -> None: ...
    def forget(self, *, row: int) -> None: ...
    def take_over(
        self, *, former: Reinforcer, rows: Sequence[int], to_rows: Sequence[int]
    ) -> None: ...
    def stop_keeping(self) -> None: ...
    @property
    def waiting_count(self) -> int: ...
    @property
    def has_waiting_links(self) -> bool: ...
    def notice(self) -> int: ...
    def waiting_rows(self) -> list[int]: ...
    def waiting_of(self, *, rows: Sequence[int]) -> list[int]: ...
    def used(
        self, *, rows: Sequence[int], others: Sequence[int]
    ) -> dict[int, tuple[int, float, float, bool, int, int, list[str] | None]] | None: ...
    def mentioned_rows(self) -> list[int]: ...
    def owed(
        self,
    ) -> tuple[int, list[int], list[bool], list[tuple[int, str]], list[int], list[int]]: ...
    def forget_written(self, *, use_count: int) -> None: ...

def canonical_form(*, text: str) -> str: ...

class TimeNames:
    def __init__(self, *, words: Sequence[str], capitalised: Sequence[str]) -> None: ...
    def stand_in(self, *, texts: list[str]) -> bytes: ...

class TextColumn:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    @property
    def resident_bytes(self) -> int: ...
    def write(self, *, rows: Rows | Sequence[int], texts: list[str], tags: list[str]) -> None: ...
    def erase(self, *, rows: Rows | Sequence[int]) -> None: ...
    def count_words(
        self, *, rows: Rows | Sequence[int], words: list[str]
    ) -> npt.NDArray[np.uint32]: ...
    def count_canonical_words(
        self, *, rows: Rows | Sequence[int], words: list[str], stems: list[str]
    ) -> npt.NDArray[np.uint32]: ...
    def trigram_similarities(
        self, *, rows: Rows | Sequence[int], text: str, characters: int, least: float
    ) -> npt.NDArray[np.float64]: ...
    def first_alike(self, *, rows: Rows | Sequence[int], characters: int) -> list[int]: ...
    def which_alike(
        self, *, rows: Rows | Sequence[int], texts: list[str], characters: int
    ) -> npt.NDArray[np.uint32]: ...
    def largest_word_overlaps(
        self,
        *,
        rows: Rows | Sequence[int],
        groups: npt.NDArray[np.int64] | Sequence[int],
        among: Rows | Sequence[int],
        among_groups: npt.NDArray[np.int64] | Sequence[int],
    ) -> npt.NDArray[np.float64]: ...
    def count_person_words(
        self, *, rows: Rows | Sequence[int]
    ) -> tuple[
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
    ]: ...

def unit_vectors(*, values: npt.NDArray[Any]) -> npt.NDArray[np.float32] | None: ...
def unit_vector(*, values: npt.NDArray[Any]) -> npt.NDArray[np.float32] | None: ...

HNSW_LINKS: int

def grown_hnsw_links(
    *,
    levels: npt.NDArray[np.uint8],
    neighbours: npt.NDArray[np.int32],
    entry: int,
    vectors: npt.NDArray[np.float32] | npt.NDArray[np.uint16],
    breadth: int,
    is_stopped: Callable[[], bool],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], int] | None: ...
def check_hnsw_links(
    *, levels: npt.NDArray[np.uint8], neighbours: npt.NDArray[np.int32], entry: int
) -> None: ...

class VectorColumn:
    def __init__(self, *, dimension: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def resident_bytes(self) -> int: ...
    def write(self, *, rows: Rows | Sequence[int], vectors: npt.NDArray[np.float32]) -> int: ...
    def remove(self, *, rows: Rows | Sequence[int]) -> int: ...
    def has(self, *, rows: Rows | Sequence[int]) -> npt.NDArray[np.bool_]: ...
    def rows(
        self,
        *,
        allowed: Bits | None = None,
        minus: Bits | None = None,
    ) -> Rows: ...
    def count(
        self,
        *,
        allowed: Bits | None = None,
        minus: Bits | None = None,
    ) -> int: ...
    def reconstruct(self, *, rows: Rows | Sequence[int]) -> npt.NDArray[np.float32]: ...
    def cosines(
        self, *, query: npt.NDArray[np.float32], rows: Rows | Sequence[int]
    ) -> npt.NDArray[np.float64]: ...
    def nearest(
        self,
        *,
        query: npt.NDArray[np.float32],
        k: int,
        allowed: Bits | None = None,
        minus: Bits | None = None,
    ) -> tuple[Rows, npt.NDArray[np.float64]]: ...
    def nearest_many(
        self,
        *,
        queries: npt.NDArray[np.float32],
        k: int,
        allowed: Bits | None = None,
        minus: Bits | None = None,
        threads: int = 1,
    ) -> tuple[Rows, npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
    def nearest_nodes(
        self,
        *,
        queries: npt.NDArray[np.float32],
        k: int,
        nodes: npt.NDArray[np.int64],
        wanted: int,
        graph_rows: Rows,
        heads: npt.NDArray[np.uint32],
        live: Bits | None,
        under: npt.NDArray[np.uint8],
        allowed: Bits | None,
        threads: int,
    ) -> list[tuple[Rows, npt.NDArray[np.float64], int]]: ...

def count_bits(*, bits: Bits) -> int: ...
def packed_bits(*, bitmap: bytes, row_count: int) -> bytes: ...

class Reached:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # AssociationGraph makes one
    def __len__(self) -> int: ...
    def results(self) -> list[tuple[int, float, tuple[int, ...]]]: ...
    @property
    def rows(self) -> Rows: ...
    @property
    def values(self) -> npt.NDArray[np.float64]: ...
    def path(self, place: int) -> tuple[int, ...]: ...

class StoredLinks:
    def __init__(
        self,
        *,
        first: Sequence[int],
        second: Sequence[int],
        weight: Sequence[float],
        kind: Sequence[int],
        created_seconds: Sequence[float],
        last_seconds: Sequence[float | None],
    ) -> None: ...
    def __len__(self) -> int: ...

class AssociationGraph:
    KINDS: tuple[str, ...]
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    @property
    def row_count(self) -> int: ...
    @property
    def resident_bytes(self) -> int: ...
    def grow(self, *, row_count: int) -> None: ...
    def set(
        self,
        *,
        a: Rows | Sequence[int],
        b: Rows | Sequence[int],
        weight: npt.NDArray[np.float64] | Sequence[float],
        kind: npt.NDArray[np.uint8] | Sequence[int],
        created_seconds: npt.NDArray[np.float64] | Sequence[float],
        last_seconds: npt.NDArray[np.float64] | Sequence[float | None],
    ) -> None: ...
    def put(
        self,
        *,
        links: StoredLinks,
        columns: Columns,
        end: int,
        erased: Sequence[int],
        wants_ends: bool,
    ) -> tuple[list[int], list[int]] | None: ...
    def strengthen(
        self,
        *,
        a: Rows | Sequence[int],
        b: Rows | Sequence[int],
        now_seconds: float,
        gain: float,
        rest_days: float,
        tau_days: float,
    ) -> None: ...
    def remove(self, *, a: Rows | Sequence[int], b: Rows | Sequence[int]) -> int: ...
    def remove_rows(self, *, rows: Rows | Sequence[int]) -> int: ...
    def neighbours(
        self, *, row: int, now_seconds: float, tau_days: float
    ) -> list[tuple[int, float, int, float, float]]: ...
    def find(
        self, *, a: Rows | Sequence[int], b: Rows | Sequence[int]
    ) -> list[tuple[float, int, float, float] | None]: ...
    def links(
        self,
    ) -> tuple[
        Rows,
        Rows,
        npt.NDArray[np.float64],
        npt.NDArray[np.uint8],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
    ]: ...
    def expand(
        self,
        *,
        seeds: Rows | Sequence[int],
        seed_values: npt.NDArray[np.float64] | Sequence[float] | None,
        now_seconds: float,
        tau_days: float,
        least_link: float,
        least: float,
        hop_decay: float,
        most_hops: int,
        allowed: Bits | None,
        top: int,
    ) -> Reached: ...
    def bridges(
        self,
        *,
        ends: Rows | Sequence[int],
        now_seconds: float,
        tau_days: float,
        least_link: float,
        allowed: Bits | None,
        top: int,
    ) -> Reached: ...

class Ranked:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # Plan.rank alone makes one
    def __len__(self) -> int: ...
    def results(self) -> list[tuple[int, float, float, float]]: ...
    @property
    def rows(self) -> Rows: ...
    @property
    def scores(self) -> npt.NDArray[np.float64]: ...
    @property
    def relevance(self) -> npt.NDArray[np.float64]: ...
    @property
    def retention(self) -> npt.NDArray[np.float64]: ...
    @property
    def candidate_count(self) -> int: ...
    @property
    def kept_count(self) -> int: ...
    @property
    def future_count(self) -> int: ...
    @property
    def ranks(self) -> npt.NDArray[np.uint32] | None: ...
    @property
    def channel_scores(self) -> npt.NDArray[np.float64] | None: ...
    @property
    def factors(self) -> npt.NDArray[np.float64] | None: ...
    @property
    def parts(self) -> npt.NDArray[np.float64] | None: ...

class Candidates:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # Plan.candidates makes one
    def __len__(self) -> int: ...
    @property
    def rows(self) -> Rows: ...
    def missing(self, channel: int) -> Rows: ...
    def fill(self, channel: int, scores: npt.NDArray[np.float64]) -> None: ...
    def append(self, rows: Sequence[int]) -> None: ...

class Plan:
    def __init__(
        self,
        *,
        fusion: str,
        fusion_parameters: Mapping[str, float | str | Sequence[float] | Sequence[str] | None],
        channels: Sequence[str],
        program: Program,
        relevance: int,
        score: int,
        retention: int,
        keep: int | None,
        factors: Sequence[int],
        parts: Sequence[int],
    ) -> None: ...
    def candidates(
        self,
        *,
        hits: Sequence[tuple[Rows, npt.NDArray[np.float64] | npt.NDArray[np.float32]]],
    ) -> Candidates: ...
    def rank(
        self,
        *,
        columns: Columns,
        candidates: Candidates,
        now_seconds: float,
        k: int,
        signals: dict[str, npt.NDArray[np.float64]] | None,
        explain: bool,
    ) -> Ranked: ...
    def place_of(
        self,
        *,
        columns: Columns,
        candidates: Candidates,
        now_seconds: float,
        row: int,
        signals: dict[str, npt.NDArray[np.float64]] | None,
    ) -> tuple[Ranked, int | None] | None: ...

class NeighbourRule:
    def __init__(
        self,
        *,
        share: float,
        decay: float,
        reach: int,
        seeds: int,
        is_above_mean: bool,
        is_above_session: bool,
        whole_length: float,
        is_from_better: bool,
        session_share: float,
    ) -> None: ...

class SessionOrder:
    def __init__(self) -> None: ...
    def place(self, *, columns: Columns, rows: Sequence[int]) -> None: ...
    def place_all(self, *, columns: Columns) -> None: ...
    def remove(self, *, row: int) -> None: ...

class QuestionVerdicts:
    def __init__(self) -> None: ...
    def set(self, *, sequence: int, verdicts: Sequence[tuple[float, bytes]]) -> None: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...

def encode_question(*, vector: npt.NDArray[np.float32]) -> bytes | None: ...

# --- search ---------------------------------------------------------------------------------------

"""Packed bits of rows: bit r % 8 of byte r // 8 for row r."""

Scoring: TypeAlias = tuple[Plan, bool]
"""A plan, and whether it reads every channel's score of every candidate."""

class Statement:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # StatementReader makes one

class StatementReader:
    def __init__(
        self,
        *,
        stop_words: Sequence[str],
        cue_words: Sequence[str],
        cues: Sequence[tuple[float, Sequence[str]]],
        additions: Sequence[str],
        past: Sequence[str],
        relatives: Sequence[str],
        denials: Sequence[str],
        numbers: Sequence[str],
        dates: Sequence[str],
        topics: Sequence[Sequence[str]],
        states: Sequence[str],
        amounts: Sequence[str],
        articles: Sequence[str],
        particles: Sequence[str],
        headings: Sequence[str],
        labels: Sequence[str],
        prepositions: Sequence[str],
    ) -> None: ...
    def read(self, text: str) -> Statement: ...

class StatementColumn:
    def __init__(self, *, reader: StatementReader) -> None: ...
    @property
    def resident_bytes(self) -> int: ...
    def write(self, *, rows: Sequence[int] | Rows, texts: list[str]) -> None: ...
    def erase(self, *, rows: Sequence[int] | Rows) -> None: ...
    def at(self, row: int) -> Statement: ...
    def confidences(
        self, *, model: ConflictModel, older: Rows, newer: Rows
    ) -> npt.NDArray[np.float64]: ...

class ConflictModel:
    def __init__(self, *, weights: Mapping[str, float], constant: float) -> None: ...
    def confidence(self, *, older: Statement, newer: Statement) -> float: ...
    @staticmethod
    def features(*, older: Statement, newer: Statement) -> dict[str, float]: ...

class SearchPlan:
    def __init__(
        self,
        *,
        channels: Sequence[tuple[Any, ...]],
        scoring: Scoring,
        needs: Sequence[str],
        pair_window: int,
        spelling: float,
        neighbours: NeighbourRule | None,
        hot_set: tuple[int, float, float] | None,
        fast_path: tuple[float, int] | None,
        at_once: SearchPlan | None,
        strong_signal: tuple[float, float] | None,
        by_words: SearchPlan | None,
        before_cluster: Scoring | None,
        newer_first: tuple[int, float, ConflictModel] | None,
        expansion: tuple[str, tuple[Any, ...]] | None,
        rerank: tuple[int, bool] | None,
        duplicates: tuple[int, float] | None,
        abstention: tuple[str, tuple[Any, ...]] | None,
        retry: tuple[float, int] | None,
        relaxed: SearchPlan | None,
        is_normalised: bool,
        confidence: tuple[float, float, float] | None,
    ) -> None: ...
    @property
    def has_functions(self) -> bool: ...
    @property
    def has_neighbours(self) -> bool: ...

SoughtWords: TypeAlias = tuple[list[str], list[str], int]
"""Words, a stem for each or none at all, and by how many their share is taken."""
Surfacing: TypeAlias = tuple[float, float, float, int]
Result: TypeAlias = tuple[int, float, float, float]
"""A row with its relevance, retention and score."""
Far: TypeAlias = tuple[bool, float, float | None, float]

class ReadView:
    def __init__(
        self,
        *,
        lexical: LexicalIndex,
        columns: Columns,
        sessions: SessionOrder | None,
        graph: AssociationGraph | None,
        texts: TextColumn | None,
        lowered: TextColumn | None,
        vectors: VectorColumn | None,
        statements: StatementColumn | None,
    ) -> None: ...

class SearchOutcome:
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # a run alone makes one
    def channel_scores(self) -> list[list[float | None]]: ...
    def rows(self) -> list[int]: ...
    def scores(self) -> list[float]: ...
    def results(self) -> list[Result]: ...
    def misses(self) -> list[Result]: ...
    def stages(
        self,
    ) -> list[tuple[str, bool, int, int, float, int, float, float, str, int, int]]: ...
    def linked(self) -> list[tuple[int, tuple[int, ...], float, int, float, float]]: ...
    def bridges(self) -> dict[int, tuple[int, ...]]: ...
    def brought(self) -> dict[int, int]: ...
    @property
    def direct(self) -> tuple[int, ...] | None: ...
    @property
    def duplicates(self) -> list[tuple[int, int]]: ...
    def conflicts(self) -> list[tuple[int, int, float, float]]: ...
    @property
    def reasons(self) -> list[tuple[int, float, float, int, Far]]: ...
    @property
    def has_reason(self) -> bool: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def leads(self) -> tuple[float | None, float | None]: ...
    @property
    def best(self) -> float | None: ...
    @property
    def raw_scores(self) -> list[float]: ...
    @property
    def short_cut(self) -> int: ...
    @property
    def is_relaxed(self) -> bool: ...
    @property
    def future_count(self) -> int: ...

class SearchRows:
    def __init__(
        self,
        *,
        allowed: Bits | None,
        allowed_count: int,
        bounds_count: int,
        follows_links: bool,
        reach: Bits | None,
        scope: Bits | None,
        standing: Bits | None,
        has_bounds: bool,
    ) -> None: ...

class SearchRun:
    def __init__(
        self,
        *,
        plan: SearchPlan,
        view: ReadView,
        rows: SearchRows,
        host: Callable[[], object],
        query: str,
        k: int,
        now_seconds: float,
        vector: npt.NDArray[np.float32] | None,
        walk_ms: float,
        read: dict[str, Any],
    ) -> None: ...
    def run(self) -> SearchOutcome: ...
    def uncut(self) -> list[Result]: ...
    def far(self) -> dict[int, Far]: ...
    def ranked(self, *, linked: bool) -> Ranked: ...
    def place_of(self, *, row: int, plan: Plan | None) -> tuple[Ranked, int | None] | None: ...
    def alone(self, *, row: int) -> tuple[Ranked, int | None] | None: ...
    def score_of(self, *, channel: int, row: int) -> float: ...
    @property
    def reranked(self) -> list[tuple[int, float]]: ...

def run_searches(*, runs: Sequence[SearchRun], threads: int) -> list[SearchOutcome]: ...
def first_of_each(
    *,
    texts: TextColumn,
    vectors: VectorColumn | None,
    rows: Sequence[int],
    most: int,
    characters: int,
    cosine: float,
) -> tuple[list[int], list[tuple[int, int]]]: ...
def simd_paths() -> list[str]: ...
def simd_path() -> str: ...
def use_simd_path(*, name: str) -> None: ...
def kernel_names() -> list[str]: ...
def kernel_signature(*, kernel: str) -> tuple[list[str], list[tuple[str, int | None]]]: ...
def evaluate(
    *,
    kernel: str,
    inputs: list[npt.NDArray[Any]],
    parameters: dict[str, float | list[float]],
    dtype: str,
    out: npt.NDArray[Any] | None,
    threads: int,
) -> npt.NDArray[Any]: ...

class Program:
    def __init__(
        self,
        *,
        inputs: list[tuple[str, str, float] | tuple[str, list[str], float]],
        instructions: list[tuple[str, list[int], dict[str, float | list[float]]]],
    ) -> None: ...
    def run(
        self,
        *,
        operands: dict[str, npt.NDArray[Any] | float],
        now_seconds: float,
        size: int,
        outputs: list[int],
        dtype: str,
        out: list[npt.NDArray[Any]] | None,
        threads: int,
    ) -> tuple[list[npt.NDArray[Any]], int]: ...
    def run_and_judge(
        self,
        *,
        operands: dict[str, npt.NDArray[Any] | float],
        now_seconds: float,
        size: int,
        outputs: list[int],
        dtype: str,
        out: list[npt.NDArray[Any]] | None,
        threads: int,
        ranges: list[tuple[npt.NDArray[Any], float, float, bool, bool]],
        whole_size: int,
    ) -> tuple[list[npt.NDArray[Any]], int, bool]: ...
    @property
    def input_names(self) -> list[str]: ...

def rrf(
    rankings: list[Any],
    k: float,
    weights: npt.NDArray[np.float64] | None,
    normalise: str,
    top: int | None,
    /,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]] | None: ...
def encode_embeddings(*, matrix: npt.NDArray[np.float32]) -> list[bytes]: ...
def embedding_dimension(*, blob: bytes) -> int: ...
def checked_embedding(blob: bytes | None, /) -> bytes | None: ...
def decode_embedding(*, blob: bytes) -> npt.NDArray[np.float32]: ...
def decode_embeddings(*, blobs: list[bytes], dimension: int) -> npt.NDArray[np.float32]: ...
def row_checksum(*cells: float | str | bytes | None) -> int: ...
def row_checksum_after(*cells: float | str | bytes | None) -> int: ...
def column_salt(*, name: str) -> int: ...
def unused_bytes(*, pages: bytes, page_size: int, begins_file: bool) -> list[tuple[int, int]]: ...

class RowChecksum:
    def __init__(self, *, columns: list[str], places: list[int], checksum_place: int) -> None: ...
    def of(self, *, rows: Sequence[tuple[Any, ...]]) -> list[int]: ...
    def of_columns(self, *, columns: list[Any], count: int) -> list[int]: ...
    def damaged(self, *, rows: Sequence[tuple[Any, ...]]) -> list[int]: ...

class RowRanges:
    def __init__(
        self, *, places: list[int], lows: list[float], highs: list[float], nullable: list[bool]
    ) -> None: ...
    def outside(self, *, rows: Sequence[tuple[Any, ...]]) -> list[int]: ...

class RowObjects(Generic[_Made]):
    def __init__(
        self,
        *,
        type: type[_Made],
        slots: list[str],
        places: list[int],
        converters: list[Callable[[Any], Any] | None],
    ) -> None: ...
    def made(self, *, rows: Sequence[tuple[Any, ...]]) -> list[_Made]: ...
    def fill(self, *, objects: Sequence[_Made], rows: Sequence[tuple[Any, ...] | None]) -> None: ...

def has_sqlite() -> bool: ...
def sqlite_entry() -> int: ...

class DataVersion:
    def __init__(self, *, connection: int) -> None: ...
    def read(self) -> int | None: ...
    def close(self) -> None: ...

class LinkReader:
    def __init__(self, *, connection: int, sql: str, checksum: RowChecksum) -> None: ...
    def read(self, *, after: int) -> StoredLinks | None: ...
    def close(self) -> None: ...

class MemoryInsert:
    def __init__(
        self,
        *,
        memory: str,
        lifecycle: str,
        memory_checksum: RowChecksum,
        lifecycle_checksum: RowChecksum,
        last_revision: str,
        next_sequence: str,
        last_moment: str,
        moment: str,
        moment_checksum: RowChecksum,
        obstacles: list[tuple[str, int]],
    ) -> None: ...

class RowInserter:
    def __init__(self, *, connection: int, sql: str, checksum: RowChecksum) -> None: ...
    def insert(self, *, columns: list[Any], count: int) -> list[int] | tuple[int, str]: ...
    def close(self) -> None: ...

class MemoryWriter:
    def __init__(self, *, connection: int, insert: MemoryInsert, stops_when_full: bool) -> None: ...
    def insert(
        self,
        *,
        memory: list[Any],
        lifecycle: list[Any],
        last_revision: int,
        time: float | None,
        record: dict[str, Any],
        into: list[dict[str, Any]],
        lock: threading.RLock,
    ) -> bool: ...
    @property
    def failure(self) -> tuple[int, str] | None: ...
    def close(self) -> None: ...

class MemoryQuery:
    def __init__(
        self,
        *,
        sql: str,
        width: int,
        kept: list[int] | None,
        id: int,
        checksums: list[RowChecksum],
        ranges: RowRanges | None,
    ) -> None: ...

class MemoryReader:
    def __init__(self, *, connection: int, query: MemoryQuery, is_in_memory: bool) -> None: ...
    def rows(
        self, *, numbers: list[int | None], ids: list[str], type: type[_Tuple] = ...
    ) -> list[_Tuple | None]: ...
    def objects(
        self,
        *,
        numbers: list[int | None],
        ids: list[str],
        objects: RowObjects[_Made],
    ) -> list[_Made | None]: ...
    def close(self) -> None: ...

# --- end of columns, ranking, kernels, encoding --------------------------------------------------
