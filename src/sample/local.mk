# Layer 3: events opened for sampling: how often, from which rings, in which turns.
noinst_LIBRARIES += src/sample/libsample.a
src_sample_libsample_a_SOURCES = \
	include/hpcprof/sample/branches.h \
	include/hpcprof/sample/perf_file.h \
	include/hpcprof/sample/rate.h \
	include/hpcprof/sample/record.h \
	include/hpcprof/sample/ring_set.h \
	include/hpcprof/sample/sampler.h \
	include/hpcprof/sample/turns.h \
	src/sample/attributes.c \
	src/sample/branches.c \
	src/sample/open.c \
	src/sample/opening.h \
	src/sample/perf_file.c \
	src/sample/perf_file_parts.h src/sample/perf_file_parts.c \
	src/sample/rate.c \
	src/sample/record.c \
	src/sample/ring_set.c \
	src/sample/sampler.c \
	src/sample/tuning.h \
	src/sample/turns.c

SAMPLE_LIBS = src/sample/libsample.a $(PMU_LIBS) $(MUX_LIBS)
