"""The papers' definitions as plain code on arrays and sets, which imports nothing of discreet.

A verdict compares discreet with these, so that no code vouches for itself. Clarity over speed: loops, enumerations and
bisections, each written from the definition that its docstring names.
"""
