# Layer 4: what code costs, and why.
noinst_LIBRARIES += src/analyze/libanalyze.a
src_analyze_libanalyze_a_SOURCES = \
	include/hpcprof/analyze/schedule.h src/analyze/schedule.c src/analyze/region.h \
	src/analyze/connect.c src/analyze/bounds.c src/analyze/simulate.c

ANALYZE_LIBS = src/analyze/libanalyze.a $(ISA_LIBS)
