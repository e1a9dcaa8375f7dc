"""Entry point of the sample RPA product; kept tiny, since Python compiles this one file anew at every start."""

from __future__ import annotations

import sys

sys.path.insert(0, __file__.replace("\\", "/").rpartition("/")[0] or ".")  # under -I the folder is not on the path

from sample_rpa.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
