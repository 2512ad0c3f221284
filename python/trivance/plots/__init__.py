"""Pictures by matplotlib, as SVG: `curves` of comparisons, and the jobs of `trivance testbed bench` (`testbed`).

`theme` has the colours, which the explorer shares (theme.css); `svg` the style and the files.
"""
