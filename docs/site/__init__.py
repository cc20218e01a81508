"""Extensions of Sphinx for the documentation site, and a check of what it builds."""
