# The layer check is a test.
dist_check_SCRIPTS += scripts/check-layers
EXTRA_DIST += \
	.ci/run \
	scripts/demo.sh \
	scripts/dependencies.sh \
	scripts/dependencies.txt \
	scripts/test.sh

# What demo.sh records. Not inlined, so that the report has procedures to name.
EXTRA_PROGRAMS += scripts/demo/wordcount
CLEANFILES += scripts/demo/wordcount$(EXEEXT)
scripts_demo_wordcount_CFLAGS = $(AM_CFLAGS) -g -fno-inline
scripts_demo_wordcount_LDADD =
