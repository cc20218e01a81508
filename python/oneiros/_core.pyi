"""The C++ core. Strict: nothing is cast unasked, every argument goes by keyword."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.uint32]
