"""Messages of calls that do not fit a signature."""

from __future__ import annotations

import pytest

from oneiros.model import calls


def brew(self: object, *, colour: str = "") -> None:
    raise AssertionError(self, colour)


@pytest.mark.parametrize("suggestion", ["", ". Did you mean 'colour'?"], ids=["3.12", "3.13"])
def test_a_close_name_is_suggested_once_whatever_python_suggests(suggestion: str) -> None:
    error = TypeError(f"brew() got an unexpected keyword argument 'color'{suggestion}")
    message = calls._message(error, brew, "Tea.brew", (None,), {"color": "green"})
    want = "Tea.brew() got an unexpected keyword argument 'color'; did you mean 'colour'?"
    assert message == want


def test_a_close_name_is_suggested_once_by_this_python() -> None:
    @calls.named_calls("Tea")
    class Leaf:
        def brew(self, *, colour: str = "") -> None:
            raise AssertionError(self, colour)

    with pytest.raises(TypeError) as raised:
        Leaf().brew(color="green")  # type: ignore[call-arg]
    want = "Tea.brew() got an unexpected keyword argument 'color'; did you mean 'colour'?"
    assert str(raised.value) == want
