"""The report of a dream cycle as one HTML page that needs nothing else; plots need matplotlib."""

from oneiros.dream.page.page import page
from oneiros.dream.page.plots import require as require_plots

__all__ = ["page", "require_plots"]
