"""``python3 -m trivance_research.figures``: the figures and tables of the paper's evaluation, recomputed, in a
folder."""
import sys

from .command import main

sys.exit(main(sys.argv[1:]))
