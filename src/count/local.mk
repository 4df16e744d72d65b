# Layer 3: events counted, in turns where there are more of them than counters.
noinst_LIBRARIES += src/count/libcount.a
src_count_libcount_a_SOURCES = \
	include/hpcprof/count/counting.h \
	include/hpcprof/count/figures.h \
	include/hpcprof/count/replay.h src/count/replay.c src/count/replay_file.c \
	src/count/agents.h src/count/agents.c \
	src/count/counters.h src/count/counters.c \
	src/count/counting.h src/count/counting.c \
	src/count/counting_report.c \
	src/count/figures.c \
	src/count/joined.h src/count/joined.c \
	src/count/pace.h src/count/pace.c \
	src/count/rotation.h src/count/rotation.c \
	src/count/tuning.h \
	src/count/turning.c

COUNT_LIBS = src/count/libcount.a $(TARGET_LIBS) $(PMU_LIBS) $(MUX_LIBS)
