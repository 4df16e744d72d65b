# Layer 6: evidence of every kind turned into weighted terms of the estimate.
noinst_LIBRARIES += src/infer/libinfer.a
src_infer_libinfer_a_SOURCES = \
	include/hpcprof/infer/counts.h \
	include/hpcprof/infer/inference.h \
	include/hpcprof/infer/stalled.h src/infer/stalled.c \
	include/hpcprof/infer/window_parts.h src/infer/window_parts.c \
	src/infer/analyse.c \
	src/infer/balance.h src/infer/balance.c src/infer/moved.h src/infer/moved.c \
	src/infer/branches.h src/infer/branches.c \
	src/infer/image_counts.c src/infer/counts.c \
	src/infer/counts_clock.h src/infer/counts_clock.c \
	src/infer/counts_terms.c \
	src/infer/common_error.h src/infer/common_error.c src/infer/figures.c \
	src/infer/unseen.c \
	src/infer/event_weights.h src/infer/event_weights.c \
	src/infer/events.h src/infer/events.c \
	src/infer/exact_counts.h src/infer/exact_counts.c \
	src/infer/image_counts.h \
	src/infer/images.h \
	src/infer/inference.c \
	src/infer/probes.h src/infer/probes.c \
	src/infer/loop_clocks.h src/infer/loop_clocks.c \
	src/infer/missed.h src/infer/missed.c \
	src/infer/rare_events.h src/infer/rare_events.c \
	src/infer/records.h src/infer/records.c \
	src/infer/retired.h src/infer/retired.c \
	src/infer/terms.h \
	src/infer/throughput.h src/infer/throughput.c \
	src/infer/tuning.h \
	src/infer/windows.h src/infer/windows.c

INFER_LIBS = src/infer/libinfer.a $(STACK_LIBS) $(PROFILE_LIBS) $(ANALYZE_LIBS)
