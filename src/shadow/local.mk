# Layer 3: exact counts from replayed copies of the target.
noinst_LIBRARIES += src/shadow/libshadow.a
src_shadow_libshadow_a_SOURCES = include/hpcprof/shadow/shadow.h src/shadow/engine.h

# The engine, and what knows x86-64.
if X86_64
src_shadow_libshadow_a_SOURCES += \
	src/shadow/code_cache.h src/shadow/code_cache.c \
	src/shadow/counts.h src/shadow/counts.c \
	src/shadow/engine.c \
	src/shadow/follow.h src/shadow/follow.c \
	src/shadow/matcher.h src/shadow/matcher.c \
	src/shadow/pins.h src/shadow/pins.c \
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

# Copies of the target, and windows of it.
src_shadow_libshadow_a_SOURCES += \
	src/shadow/answers.h \
	src/shadow/areas.h src/shadow/areas.c \
	src/shadow/call_table.c \
	src/shadow/clock.c \
	src/shadow/control_groups.h src/shadow/control_groups.c \
	src/shadow/cuts.h src/shadow/cuts.c \
	src/shadow/descriptors.h src/shadow/descriptors.c \
	src/shadow/elbow_room.h src/shadow/elbow_room.c \
	src/shadow/examine.c \
	src/shadow/file_calls.c \
	src/shadow/file_names.h src/shadow/file_names.c \
	src/shadow/hold.h src/shadow/hold.c \
	src/shadow/inject.h src/shadow/inject.c \
	src/shadow/mapped_files.h src/shadow/mapped_files.c \
	src/shadow/matching.h src/shadow/matching.c \
	src/shadow/pages.h src/shadow/pages.c \
	src/shadow/path_calls.c \
	src/shadow/permission.h src/shadow/permission.c \
	src/shadow/price.h src/shadow/price.c \
	src/shadow/prison.h src/shadow/prison.c \
	src/shadow/rebuild.h src/shadow/rebuild.c \
	src/shadow/rights.h src/shadow/rights.c \
	src/shadow/schedule.h src/shadow/schedule.c \
	src/shadow/secrets.h src/shadow/secrets.c \
	src/shadow/shadow.c \
	src/shadow/snapshot.h src/shadow/snapshot.c \
	src/shadow/system_calls.h src/shadow/system_calls.c \
	src/shadow/terminal.h src/shadow/terminal.c \
	src/shadow/threads.h src/shadow/threads.c \
	src/shadow/vdso_calls.h src/shadow/vdso_calls.c \
	src/shadow/vessel.h src/shadow/vessel.c \
	src/shadow/waits.h src/shadow/waits.c \
	src/shadow/window.h src/shadow/window.c \
	src/shadow/written.h src/shadow/written.c
else
src_shadow_libshadow_a_SOURCES += src/shadow/engine_elsewhere.c src/shadow/shadow_elsewhere.c
endif

SHADOW_LIBS = src/shadow/libshadow.a $(PMU_LIBS) $(ZYDIS_LIBS)
