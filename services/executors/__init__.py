"""Ways to run one task: RPA command line, browser, Python handler, HTTP."""
