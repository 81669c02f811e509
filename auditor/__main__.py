"""`python -m auditor` is the `auditor` command."""

from auditor.cli.main import main

if __name__ == "__main__":
    main()
