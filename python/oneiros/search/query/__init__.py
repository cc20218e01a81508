"""Query understanding: intent, dates, subqueries, expansion and the caller's context."""
