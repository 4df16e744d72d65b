# Layer 4: what is measured of the machine: its clock, its speed now, its skid; its caches.
noinst_LIBRARIES += src/calibrate/libcalibrate.a
src_calibrate_libcalibrate_a_SOURCES = \
	include/hpcprof/calibrate/clock.h \
	include/hpcprof/calibrate/geometry.h \
	include/hpcprof/calibrate/latencies.h \
	include/hpcprof/calibrate/reference.h \
	include/hpcprof/calibrate/sharing.h \
	include/hpcprof/calibrate/skid.h \
	src/calibrate/clock.c \
	src/calibrate/geometry.c \
	src/calibrate/latencies.c \
	src/calibrate/reference.c \
	src/calibrate/sharing.c \
	src/calibrate/skid.c \
	src/calibrate/skid_cache.c \
	src/calibrate/skid_kernels.h src/calibrate/skid_kernels.c \
	src/calibrate/tuning.h

CALIBRATE_LIBS = src/calibrate/libcalibrate.a $(UARCH_LIBS) $(SAMPLE_LIBS) $(JANSSON_LIBS)
