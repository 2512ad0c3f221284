"""The figures and tables of the paper's evaluation, recomputed, and figures beyond the paper.

``python3 -m trivance.figures`` simulates what they need and writes them to a folder:

- ``catalogue``  which figures and studies there are, and what each one shows
- ``run``        every simulation they need, each one once, on all cores; resumable
- ``cuts``       plans as links fail one after another
- ``measures``   advantages, break-even sizes, switches from L to B
- ``claims``     what the paper says, one table; ``rules`` decide whether we measure it, too
- ``counted``    what is counted from schedules: tables 1 and 2, volumes, message rules
- ``write``      CSV files; ``draw`` SVG; ``page`` and ``report`` fill the templates page.html and report.md
"""
