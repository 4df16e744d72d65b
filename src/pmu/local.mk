# Layer 1: event names, what this machine can do, and opening events: descriptors, rings, registers.
noinst_LIBRARIES += src/pmu/libpmu.a
src_pmu_libpmu_a_SOURCES = \
	include/hpcprof/pmu/breakpoints.h src/pmu/breakpoints.c \
	include/hpcprof/pmu/event.h src/pmu/event.c \
	include/hpcprof/pmu/groups.h src/pmu/groups.c \
	include/hpcprof/pmu/machine.h src/pmu/machine.c \
	include/hpcprof/pmu/ring.h src/pmu/ring.c \
	src/pmu/cpu.c src/pmu/cpu.h \
	src/pmu/draft.c src/pmu/draft.h \
	src/pmu/encode.c \
	src/pmu/enumerate.c \
	src/pmu/examine.c src/pmu/findings.c src/pmu/examine.h \
	src/pmu/examine_hardware.c \
	src/pmu/names.c src/pmu/names.h \
	include/hpcprof/pmu/open.h src/pmu/open.c \
	src/pmu/open_error.c \
	src/pmu/parse.c \
	src/pmu/partition.c src/pmu/partition.h \
	src/pmu/pfm.c src/pmu/pfm.h \
	include/hpcprof/pmu/registers.h src/pmu/registers.c \
	src/pmu/resolve.c src/pmu/resolve.h \
	src/pmu/sets.c src/pmu/sets.h \
	src/pmu/suggest.c src/pmu/suggest.h \
	src/pmu/surroundings.c src/pmu/surroundings.h \
	src/pmu/sysfs.c src/pmu/sysfs.h \
	src/pmu/terms.c src/pmu/terms.h \
	src/pmu/text.c src/pmu/text.h \
	src/pmu/tracefs.c src/pmu/tracefs.h \
	src/pmu/trial.c src/pmu/trial.h \
	src/pmu/try.c src/pmu/try.h \
	src/pmu/rotation_set.c src/pmu/rotation_set.h

PMU_LIBS = src/pmu/libpmu.a $(MODEL_LIBS) $(XXHASH_LIBS)
