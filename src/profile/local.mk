# Layer 5: epochs loaded, added up and attributed.
noinst_LIBRARIES += src/profile/libprofile.a
src_profile_libprofile_a_SOURCES = \
	include/hpcprof/profile/paths.h src/profile/paths.c src/profile/paths_names.c \
	src/profile/paths_places.h src/profile/paths_places.c \
	include/hpcprof/profile/profiles.h \
	include/hpcprof/profile/rows.h \
	src/profile/attribute.h src/profile/attribute.c \
	src/profile/breakdown.h src/profile/breakdown.c \
	src/profile/kept.h src/profile/kept.c \
	src/profile/load.h src/profile/load.c \
	src/profile/machine.c \
	src/profile/mixture.c \
	src/profile/access.c src/profile/profiles.c \
	src/profile/resolve.c \
	src/profile/rows.h src/profile/rows.c \
	src/profile/shown.c \
	src/profile/tuning.h \
	src/profile/suggest.h src/profile/suggest.c

PROFILE_LIBS = src/profile/libprofile.a $(CFG_LIBS) $(ISA_LIBS) $(IMAGE_LIBS) $(DB_LIBS)
