# The documentation as a site, by Sphinx and MyST: packaging/site/build.sh. Nothing is fetched when it is built or read.
project = "Demur"
author = "The Demur developers"
copyright = "2026 The Demur developers"  # pylint: disable=redefined-builtin
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3  # as forges make them: page.md#a-heading
html_theme = "alabaster"
html_theme_options = {"page_width": "auto", "body_max_width": "60em", "description": "For research use, not a cleared device"}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_show_sourcelink = False
html_copy_source = False
