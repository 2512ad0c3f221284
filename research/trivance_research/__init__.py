"""The evaluation of the paper (`figures`), and the validation with measurements on Fugaku (`validation`).

Both use the package trivance, which does not depend on them.
"""
