"""Links of pages that stand outside ``docs`` lead to the site's pages, downloads or nowhere."""

from __future__ import annotations

import pytest

from docs.site.outside_pages import DOCS, PAGES, ROOT, relinked


@pytest.mark.parametrize(
    ("source", "page", "text", "expected"),
    [
        ("bench/README.md", "benchmarks", "[a](../docs/use.md)", "[a](use.md)"),
        ("bench/README.md", "benchmarks", "[a](../docs/use.md#x)", "[a](use.md#x)"),
        ("docs/use.md", "use", "[a](../bench/README.md)", "[a](benchmarks.md)"),
        ("docs/guide/a.md", "guide/a", "[a](../../CHANGELOG.md)", "[a](../changelog.md)"),
        ("docs/guide/a.md", "guide/a", "[a](b.md), [c](../d.md)", "[a](b.md), [c](../d.md)"),
        ("docs/a.md", "a", "![`a` [b]](images/c.svg)", "![`a` [b]](images/c.svg)"),
        ("docs/a.md", "a", "[files](../examples)", "files"),
        (
            "docs/a.md",
            "a",
            "[a](https://example.org/b) [c](#d)",
            "[a](https://example.org/b) [c](#d)",
        ),
        ("docs/a.md", "a", "[a](../examples/b.py)", "[a](../examples/b.py)"),
        ("bench/README.md", "a", "```text\n[a](b.md)\n```", "```text\n[a](b.md)\n```"),
    ],
)
def test_links_lead_from_the_page(source: str, page: str, text: str, expected: str) -> None:
    assert relinked(text, ROOT / source, DOCS / f"{page}.md") == expected


def test_each_page_from_elsewhere_has_a_file_and_a_page() -> None:
    for name, path in PAGES.items():
        assert (ROOT / path).is_file()
        assert f"[{path}](../{path})" in (DOCS / f"{name}.md").read_text(encoding="utf-8")
