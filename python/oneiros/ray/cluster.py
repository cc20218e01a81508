"""Ray on use: its modules, and a cluster to work on."""

from __future__ import annotations

import logging
import os
from typing import Any, Final

from oneiros._lazy import needed

__all__ = ["require_ray", "require_ray_data", "start"]


_EXTRA: Final = "ray"


def require_ray() -> Any:
    """Return the module ``ray``.

    Raises:
        ImportError: it is not installed; the message says what to install.
    """
    return needed("ray", _EXTRA)


def require_ray_data() -> Any:
    """Return the module ``ray.data``.

    Raises:
        ImportError: it is not installed; the message says what to install.
    """
    require_ray()
    return needed("ray.data", _EXTRA)


def start() -> None:
    """Connect a command to the cluster that ``RAY_ADDRESS`` names, or start one on this machine.

    A cluster that is started here has no dashboard, reports no usage and ends with the process. Ray
    writes warnings and errors only, and no progress bars.

    Raises:
        ImportError: Ray is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray, data = require_ray(), require_ray_data()
    if not ray.is_initialized():
        options = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
        ray.init(log_to_driver=False, logging_level=logging.WARNING, **options)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    data.DataContext.get_current().enable_progress_bars = False
