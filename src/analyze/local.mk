# Layer 4: what code costs, and why.
noinst_LIBRARIES += src/analyze/libanalyze.a
src_analyze_libanalyze_a_SOURCES = \
	include/hpcprof/analyze/analysis.h \
	include/hpcprof/analyze/cpi_stack.h src/analyze/cpi_stack.c \
	include/hpcprof/analyze/range_sum.h src/analyze/range_sum.c \
	include/hpcprof/analyze/what_if.h src/analyze/what_if.c \
	include/hpcprof/analyze/penalties.h src/analyze/penalties.c \
	src/analyze/tuning.h \
	include/hpcprof/analyze/schedule.h src/analyze/schedule.c src/analyze/region.h \
	src/analyze/connect.c src/analyze/bounds.c src/analyze/simulate.c \
	src/analyze/simulated.h src/analyze/simulated.c \
	src/analyze/passes.h src/analyze/analysis.c src/analyze/gather.c \
	src/analyze/best_case.c src/analyze/predict.c src/analyze/skid.c src/analyze/direction.c \
	src/analyze/stretch.c src/analyze/dcpi.c src/analyze/frequency.c \
	src/analyze/flow.h src/analyze/flow.c src/analyze/flow_unknowns.c src/analyze/flow_hubs.c src/analyze/flow_begin.c \
	src/analyze/flow_terms.c src/analyze/flow_solve.c src/analyze/flow_apart.c \
	src/analyze/sparse.h src/analyze/sparse.c \
	src/analyze/culprit/facts.h src/analyze/culprit/path.h src/analyze/culprit/path.c \
	src/analyze/culprit/duty.h src/analyze/culprit/duty.c \
	src/analyze/culprit/place.h src/analyze/culprit/place.c \
	src/analyze/culprit/marks.h src/analyze/culprit/marks.c \
	src/analyze/culprit/witness.h src/analyze/culprit/witness.c \
	src/analyze/culprit/suspects.h src/analyze/culprit/suspects.c \
	src/analyze/culprit/causes.h src/analyze/culprit/memory.c src/analyze/culprit/store.c \
	src/analyze/culprit/timed.h src/analyze/culprit/timed.c \
	src/analyze/culprit/units.c src/analyze/culprit/mispredict.c src/analyze/culprit/fetch.c \
	src/analyze/culprit.c src/analyze/joint.c src/analyze/likely.c \
	src/analyze/stalls.h src/analyze/stalls.c src/analyze/extent.c src/analyze/statics.c src/analyze/sums.c \
	src/analyze/sheet.c

ANALYZE_LIBS = src/analyze/libanalyze.a $(CFG_LIBS) $(LDL_LIBS) $(AMD_LIBS)
