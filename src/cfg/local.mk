# Layer 3: control-flow graphs.
noinst_LIBRARIES += src/cfg/libcfg.a
src_cfg_libcfg_a_SOURCES = \
	include/hpcprof/cfg/cfg.h \
	src/cfg/graph.h src/cfg/cfg.c \
	src/cfg/code.h src/cfg/code.c src/cfg/discover.c src/cfg/sweep.c \
	src/cfg/image.h src/cfg/image.c src/cfg/names.c src/cfg/returns.c \
	src/cfg/trace.h src/cfg/trace.c src/cfg/indirect.c \
	src/cfg/blocks.c src/cfg/connect.c src/cfg/cold.c \
	src/cfg/order.c src/cfg/dominators.c src/cfg/loops.c src/cfg/equivalence.c \
	src/cfg/tuning.h src/cfg/excerpt.c

CFG_LIBS = src/cfg/libcfg.a $(ISA_LIBS) $(IMAGE_LIBS)
