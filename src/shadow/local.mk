# Layer 3: exact counts from replayed copies of the target.
noinst_LIBRARIES += src/shadow/libshadow.a
src_shadow_libshadow_a_SOURCES = include/hpcprof/shadow/shadow.h src/shadow/engine.h

# The engine, and what knows x86-64.
if X86_64
src_shadow_libshadow_a_SOURCES += \
	src/shadow/code_cache.h src/shadow/code_cache.c \
	src/shadow/counts.h src/shadow/counts.c \
	src/shadow/engine.c \
	src/shadow/maps.h src/shadow/maps.c \
	src/shadow/matcher.h src/shadow/matcher.c \
	src/shadow/place.h src/shadow/place.c \
	src/shadow/table.h src/shadow/table.c \
	src/shadow/text.h src/shadow/text.c \
	src/shadow/watchdog.h src/shadow/watchdog.c \
	src/shadow/x86_block.h src/shadow/x86_block.c \
	src/shadow/x86_check.h src/shadow/x86_check.c \
	src/shadow/x86_decode.h src/shadow/x86_decode.c \
	src/shadow/x86_emit.h src/shadow/x86_emit.c \
	src/shadow/x86_link.h src/shadow/x86_link.c \
	src/shadow/x86_translate.h src/shadow/x86_translate.c

else
src_shadow_libshadow_a_SOURCES += src/shadow/engine_elsewhere.c
endif

SHADOW_LIBS = src/shadow/libshadow.a $(MODEL_LIBS) $(ZYDIS_LIBS)
