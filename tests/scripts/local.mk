# The scripts that judge hpcprof are judged themselves.
dist_check_SCRIPTS += tests/scripts/coverage.test tests/scripts/frequency.test tests/scripts/sensitivity.test
EXTRA_DIST += tests/scripts/cases.py tests/scripts/cases.sh tests/scripts/counted.s tests/scripts/test_coverage.py \
	tests/scripts/test_frequency.py tests/scripts/test_sensitivity.py
