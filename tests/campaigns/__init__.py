"""Long campaigns, each one command: ``python -m tests.campaigns NAME --count N --folder F``."""
