"""The figures and tables of the paper's evaluation, recomputed, and figures beyond the paper.

``python3 -m trivance_research.figures`` runs the simulations and writes the figures to a folder:

- ``catalogue``  the list of figures and studies, with descriptions
- ``run``        every simulation they need, each one once, on all cores; resumable
- ``cuts``       plans as links fail one after another
- ``measures``   advantages, break-even sizes, switches from L to B
- ``claims``     the paper's claims, one table; ``rules`` compare them with the measurements
- ``counted``    numbers derived from schedules: tables 1 and 2, volumes, message rules
- ``write``      CSV files; ``draw`` SVG; ``page`` and ``report`` fill the templates page.html and report.md
- ``combinations``  a table of its own, which a later report includes
- ``collectives``   plans of every collective against the baselines, a command of its own
"""
