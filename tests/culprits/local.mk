# Kernels with one known cause each: a few of them as a test, all of them for culprit-accuracy.
dist_check_SCRIPTS += tests/culprits/culprits.test
EXTRA_DIST += tests/culprits/branches.c tests/culprits/culprits.c tests/culprits/jumping.S \
	tests/culprits/kernels.c tests/culprits/work.h
