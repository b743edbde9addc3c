"""Reports: an audit and a release decision as typed records, and their rendering as text, Markdown and HTML.

`audit` and `decision` build the records of `model`, with every sentence from `words`; `text`, `markdown` and `html`
(with ``templates`` and ``static``) only lay them out. `figures` draws plots.
"""
# SPDX-License-Identifier: Apache-2.0
