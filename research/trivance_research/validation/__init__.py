"""Measurements of collectives on a real torus, and what the simulator predicts for them; see research/docs/fugaku.md.

``python3 -m trivance_research.validation`` writes the tables and plots. The measurements, fugaku.csv, are medians and
percentiles of the results published with PICO (https://github.com/HLC-Lab/pico, folder results/fugaku; MIT License,
copyright 2025 Daniele De Sensi and Saverio Pasqualoni), from De Sensi et al.: Bine Trees: Enhancing Collective
Operations by Optimizing Communication Locality, SC'25 (arXiv 2508.17311).
"""
