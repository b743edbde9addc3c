"""Configuration of the documentation."""

# SPDX-License-Identifier: Apache-2.0
from importlib.metadata import version as _version

project = "discreet"
author = "the discreet authors"
copyright = "the discreet authors, Apache-2.0"
release = _version("discreet")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "deflist"]
exclude_patterns = ["_build"]
nb_execution_mode = "off"  # notebooks are stored executed, and run by the tests
html_theme = "furo"
html_title = "discreet"
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
# Shapes such as (n_useful, n_released) name attributes of several classes.
suppress_warnings = ["ref.python"]
