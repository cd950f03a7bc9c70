"""`python -m pirlab_estimator.search.pirouette`: see command.py."""

from .command import main

raise SystemExit(main())
