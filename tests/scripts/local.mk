# The scripts that judge hpcprof are judged themselves.
dist_check_SCRIPTS += tests/scripts/frequency.test
EXTRA_DIST += tests/scripts/counted.s tests/scripts/test_frequency.py
