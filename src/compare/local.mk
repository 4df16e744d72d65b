# Layer 4: epochs against epochs.
noinst_LIBRARIES += src/compare/libcompare.a
src_compare_libcompare_a_SOURCES = \
	include/hpcprof/compare/compare.h src/compare/compare.c \
	include/hpcprof/compare/comparison.h src/compare/comparison.c \
	src/compare/distribution.h src/compare/distribution.c \
	src/compare/statistics.h src/compare/statistics.c src/compare/counts.c src/compare/runs.c \
	src/compare/tuning.h \
	src/compare/sides.h src/compare/sides.c src/compare/gather.c src/compare/match.c \
	src/compare/names.h src/compare/names.c src/compare/moved.h src/compare/moved.c \
	src/compare/pace.h src/compare/pace.c src/compare/costs.h src/compare/costs.c \
	src/compare/history.h src/compare/history.c \
	src/compare/lineage.h src/compare/lineage.c \
	src/compare/drift.h src/compare/drift.c \
	src/compare/judge.h src/compare/program.c src/compare/parts.c src/compare/verdict.c \
	include/hpcprof/compare/spread.h src/compare/spread.c \
	src/compare/listing.h src/compare/listing.c \
	src/compare/paired.h src/compare/paired.c src/compare/details.c \
	src/compare/inside.h src/compare/inside.c \
	src/compare/namesakes.h src/compare/namesakes.c \
	src/compare/call_paths.h src/compare/call_paths.c src/compare/callers.c

COMPARE_LIBS = src/compare/libcompare.a $(ISA_LIBS) $(IMAGE_LIBS) $(DB_LIBS)
