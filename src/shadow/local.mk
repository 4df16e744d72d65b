# Layer 3: exact counts from replayed copies of the target.
noinst_LIBRARIES += src/shadow/libshadow.a
src_shadow_libshadow_a_SOURCES = include/hpcprof/shadow/shadow.h \
	src/shadow/match/sample.h src/shadow/replay/engine.h src/shadow/translate/replay.h \
	src/shadow/tuning.h

# The translator and what matches states with samples: x86-64 only.
if X86_64
src_shadow_libshadow_a_SOURCES += \
	src/shadow/translate/code_cache.h src/shadow/translate/code_cache.c \
	src/shadow/translate/counts.h src/shadow/translate/counts.c \
	src/shadow/translate/path_log.h \
	src/shadow/translate/place.h src/shadow/translate/place.c \
	src/shadow/translate/relocate.h src/shadow/translate/relocate.c \
	src/shadow/translate/table.h src/shadow/translate/table.c \
	src/shadow/translate/text.h src/shadow/translate/text.c \
	src/shadow/translate/x86_access.h src/shadow/translate/x86_access.c \
	src/shadow/translate/x86_block.h src/shadow/translate/x86_block.c \
	src/shadow/translate/x86_decode.h src/shadow/translate/x86_decode.c \
	src/shadow/translate/x86_emit.h src/shadow/translate/x86_emit.c \
	src/shadow/translate/x86_expect.h src/shadow/translate/x86_expect.c \
	src/shadow/translate/x86_goto.h src/shadow/translate/x86_goto.c \
	src/shadow/translate/x86_link.h src/shadow/translate/x86_link.c \
	src/shadow/translate/x86_log.h src/shadow/translate/x86_log.c \
	src/shadow/translate/x86_translate.h src/shadow/translate/x86_translate.c \
	src/shadow/match/matcher.h src/shadow/match/matcher.c \
	src/shadow/match/matches.h src/shadow/match/matches.c \
	src/shadow/match/told_times.h src/shadow/match/told_times.c \
	src/shadow/match/x86_check.h src/shadow/match/x86_check.c \
	src/shadow/replay/engine_state.h src/shadow/replay/engine.c src/shadow/replay/engine_place.c \
	src/shadow/simulate/follow.h src/shadow/simulate/follow.c \
	src/shadow/simulate/followed.h src/shadow/simulate/followed.c \
	src/shadow/simulate/telling.h src/shadow/simulate/telling.c \
	src/shadow/simulate/told.h src/shadow/simulate/told.c \
	src/shadow/simulate/footprint.h src/shadow/simulate/footprint.c \
	src/shadow/simulate/reuse.h src/shadow/simulate/reuse.c \
	src/shadow/simulate/simulation.h src/shadow/simulate/simulation.c \
	src/shadow/simulate/tracing.h src/shadow/simulate/tracing.c \
	src/shadow/replay/branch_log.h src/shadow/replay/branch_log.c \
	src/shadow/replay/logging.h src/shadow/replay/logging.c \
	src/shadow/replay/watchdog.h src/shadow/replay/watchdog.c

# Copies of the target, and windows of it.
src_shadow_libshadow_a_SOURCES += \
	src/shadow/copy/areas.h src/shadow/copy/areas.c \
	src/shadow/copy/call_log.h src/shadow/copy/call_log.c \
	src/shadow/copy/call_outputs.h src/shadow/copy/call_outputs.c \
	src/shadow/copy/recorder.h src/shadow/copy/recorder.c \
	src/shadow/copy/cut_call.h src/shadow/copy/cut_call.c \
	src/shadow/copy/hold.h src/shadow/copy/hold.c \
	src/shadow/copy/inject.h src/shadow/copy/inject.c \
	src/shadow/copy/mapped_files.h src/shadow/copy/mapped_files.c \
	src/shadow/copy/pages.h src/shadow/copy/pages.c \
	src/shadow/copy/permission.h src/shadow/copy/permission.c \
	src/shadow/copy/reached.h src/shadow/copy/reached.c \
	src/shadow/copy/rebuild.h src/shadow/copy/rebuild.c \
	src/shadow/copy/rights.h src/shadow/copy/rights.c \
	src/shadow/copy/sandbox.h src/shadow/copy/sandbox.c \
	src/shadow/copy/sandbox_lock.h src/shadow/copy/sandbox_lock.c \
	src/shadow/copy/secrets.h src/shadow/copy/secrets.c \
	src/shadow/copy/snapshot.h src/shadow/copy/snapshot.c \
	src/shadow/copy/buffer.h src/shadow/copy/buffer.c \
	src/shadow/copy/buffers.h src/shadow/copy/buffers.c \
	src/shadow/copy/readers.h src/shadow/copy/readers.c \
	src/shadow/copy/history.h src/shadow/copy/history.c \
	src/shadow/match/state_sampler.h src/shadow/match/state_sampler.c \
	src/shadow/syscalls/answers.h src/shadow/syscalls/answers.c \
	src/shadow/syscalls/call_table.c \
	src/shadow/syscalls/clock_calls.c \
	src/shadow/syscalls/descriptors.h src/shadow/syscalls/descriptors.c \
	src/shadow/syscalls/file_calls.c \
	src/shadow/syscalls/file_names.h src/shadow/syscalls/file_names.c \
	src/shadow/syscalls/logged_calls.c \
	src/shadow/syscalls/memory_calls.c \
	src/shadow/syscalls/own_calls.c \
	src/shadow/syscalls/path_calls.c \
	src/shadow/syscalls/system_calls.h src/shadow/syscalls/system_calls.c \
	src/shadow/syscalls/terminal.h src/shadow/syscalls/terminal.c \
	src/shadow/syscalls/vdso_calls.h src/shadow/syscalls/vdso_calls.c \
	src/shadow/syscalls/written.h src/shadow/syscalls/written.c \
	src/shadow/budget/control_groups.h src/shadow/budget/control_groups.c \
	src/shadow/budget/cpu_load.h src/shadow/budget/cpu_load.c \
	src/shadow/budget/price.h src/shadow/budget/price.c \
	src/shadow/budget/recordings.h src/shadow/budget/recordings.c \
	src/shadow/budget/schedule.h src/shadow/budget/schedule.c \
	src/shadow/budget/spare_cpus.h src/shadow/budget/spare_cpus.c \
	src/shadow/budget/truncation.h src/shadow/budget/truncation.c \
	src/shadow/budget/waits.h src/shadow/budget/waits.c \
	src/shadow/examine.c \
	src/shadow/books.h src/shadow/books.c \
	src/shadow/call_pace.h src/shadow/call_pace.c \
	src/shadow/end_state.h src/shadow/end_state.c \
	src/shadow/running.h src/shadow/running.c \
	src/shadow/shadow.c \
	src/shadow/statistics.h src/shadow/statistics.c \
	src/shadow/threads.h src/shadow/threads.c \
	src/shadow/window.h src/shadow/window.c \
	src/shadow/window_plan.h src/shadow/window_plan.c \
	src/shadow/window_record.h src/shadow/window_record.c \
	src/shadow/window_counts.h src/shadow/window_counts.c
nodist_src_shadow_libshadow_a_SOURCES = src/shadow/syscalls/call_names.h

# The names of system calls, as the kernel's headers have them.
src/shadow/syscalls/call_table.$(OBJEXT): src/shadow/syscalls/call_names.h
CLEANFILES += src/shadow/syscalls/call_names.h
src/shadow/syscalls/call_names.h: $(srcdir)/src/shadow/local.mk
	$(AM_V_GEN)$(MKDIR_P) src/shadow/syscalls && echo '#include <sys/syscall.h>' | \
		$(CC) $(CPPFLAGS) -E -dM - >$@.calls && \
		sed -n 's/^#define SYS_\([a-z0-9_]*\) .*/	[SYS_\1] = "\1",/p' $@.calls >$@.tmp && \
		rm $@.calls && mv $@.tmp $@
else
src_shadow_libshadow_a_SOURCES += src/shadow/replay/engine_elsewhere.c src/shadow/shadow_elsewhere.c
endif

SHADOW_LIBS = src/shadow/libshadow.a $(UARCH_LIBS) $(TARGET_LIBS) $(PMU_LIBS) $(ZYDIS_LIBS)

EXTRA_DIST += src/shadow/README
