"""The documentation: Markdown pages, and `site`, which makes a site of them."""
