# Layer 1: plain data that everything speaks.
noinst_LIBRARIES += src/model/libmodel.a
src_model_libmodel_a_SOURCES = \
	include/hpcprof/model/body.h src/model/body.c \
	include/hpcprof/model/address.h \
	include/hpcprof/model/clock.h src/model/clock.c \
	include/hpcprof/model/cpu.h src/model/cpu.c \
	include/hpcprof/model/epoch.h src/model/epoch.c \
	include/hpcprof/model/evidence.h src/model/evidence.c src/model/grouped.c \
	src/model/evidence_order.h src/model/evidence_rules.c \
	include/hpcprof/model/excerpt.h src/model/excerpt.c src/model/excerpt_add.c \
	include/hpcprof/model/image_id.h src/model/image_id.c \
	include/hpcprof/model/paths.h src/model/paths.c src/model/paths_check.c src/model/paths_fold.c \
	src/model/paths_private.h src/model/paths_sum.c src/model/paths_table.c \
	include/hpcprof/model/procedure_name.h src/model/procedure_name.c \
	include/hpcprof/model/profile.h src/model/profile.c \
	include/hpcprof/model/window.h src/model/window.c \
	src/model/tuning.h

MODEL_LIBS = src/model/libmodel.a $(BASE_LIBS) $(XXHASH_LIBS)
