# Layer 2: logical counters: schedulers, estimators, reconciliation. No system call.
noinst_LIBRARIES += src/mux/libmux.a
src_mux_libmux_a_SOURCES = \
	include/hpcprof/mux/estimate.h \
	include/hpcprof/mux/metric.h \
	include/hpcprof/mux/plan.h src/mux/plan.c \
	include/hpcprof/mux/ramp.h src/mux/ramp.c \
	include/hpcprof/mux/reconcile.h \
	include/hpcprof/mux/scheduler.h \
	src/mux/adaptive.c \
	src/mux/estimates.c \
	src/mux/estimator.h src/mux/estimator.c \
	src/mux/fit.h src/mux/fit.c \
	src/mux/metric.c \
	src/mux/reconcile.c \
	src/mux/regress.c \
	src/mux/roc.c \
	src/mux/role.c \
	src/mux/rounds.c \
	src/mux/scheduler.h src/mux/scheduler.c \
	src/mux/shape.h src/mux/shape.c \
	src/mux/triangle.h \
	src/mux/tuning.h

MUX_LIBS = src/mux/libmux.a $(BASE_LIBS) -lm
