"""The old name of trivance.torch."""
import sys
import warnings

import trivance.torch

warnings.warn("trivance_torch is now trivance.torch; import trivance.torch instead", DeprecationWarning, stacklevel=2)
sys.modules[__name__] = trivance.torch
