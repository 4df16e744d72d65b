# Layer 8: the command line. Nothing else prints or exits.
bin_PROGRAMS += hpcprof
hpcprof_SOURCES = \
	src/cli/arguments.h src/cli/arguments.c \
	src/cli/cli.c \
	src/cli/cmd_check.c src/cli/check_page.h src/cli/check_page.c \
	src/cli/check_both.h src/cli/check_both.c \
	src/cli/check_runs.h src/cli/check_runs.c \
	src/cli/cmd_diff.c \
	src/cli/cmd_doctor.c \
	src/cli/cmd_epochs.c src/cli/epoch_list.h src/cli/epoch_list.c \
	src/cli/cmd_events.c src/cli/events_stalls.h src/cli/events_stalls.c src/cli/cmd_export.c src/cli/cmd_import.c \
	src/cli/cmd_model.c src/cli/model_counts.c src/cli/model_output.h src/cli/model_output.c \
	src/cli/cmd_record.c src/cli/recording.h src/cli/recording.c \
	src/cli/recording_options.c src/cli/record_shadow.h src/cli/record_shadow.c \
	src/cli/record_stalls.h src/cli/record_stalls.c \
	src/cli/cmd_report.c src/cli/report_options.h src/cli/report_options.c \
	src/cli/cmd_stats.c \
	src/cli/cmd_stat.c src/cli/stat.h src/cli/stat_options.h src/cli/stat_options.c \
	src/cli/stat_json.c src/cli/stat_plot.c src/cli/stat_text.c \
	src/cli/stat_drawing.h src/cli/stat_drawing.c \
	src/cli/stat_history.h src/cli/stat_history.c src/cli/stat_history_plot.c \
	src/cli/stat_phases.c \
	src/cli/stat_replay.h src/cli/stat_replay.c \
	src/cli/stat_stalls.h src/cli/stat_stalls.c \
	src/cli/stat_stalls_json.c src/cli/stat_stalls_text.c \
	src/cli/command.h src/cli/commands.c \
	src/cli/fault.h src/cli/fault.c \
	src/cli/option_table.h src/cli/option_table.c \
	src/cli/work.h src/cli/work.c \
	src/cli/output_file.h src/cli/output_file.c \
	src/cli/pager.h src/cli/pager.c \
	src/cli/perf_words.h src/cli/perf_words.c \
	src/cli/progress.h src/cli/progress.c \
	src/cli/tuning.h \
	src/cli/main.c
hpcprof_LDADD = $(REPORT_LIBS) $(COLLECT_LIBS) $(STACK_LIBS) $(CYCLE_LIBS) $(COUNT_LIBS) $(SHADOW_LIBS)

# Completions, from the option tables of the hpcprof that is built; when cross compiling from those
# of one that runs here, or from the table that comes with a release.
EXTRA_DIST += src/cli/completion/arguments.awk \
	src/cli/completion/bash.awk src/cli/completion/hpcprof.bash.in \
	src/cli/completion/zsh.awk src/cli/completion/hpcprof.zsh.in
if COMPLETIONS
EXTRA_DIST += src/cli/completion/options
bashcompletion_DATA = src/cli/completion/bash/hpcprof
zshcompletion_DATA = src/cli/completion/zsh/_hpcprof
CLEANFILES += $(bashcompletion_DATA) $(zshcompletion_DATA)
endif
if OPTIONS_FROM_HPCPROF
CLEANFILES += src/cli/completion/options
src/cli/completion/options: $(OPTIONS_HPCPROF)
	$(AM_V_GEN)$(MKDIR_P) src/cli/completion && \
		$(OPTIONS_HPCPROF) --option-table >$@.tmp && mv $@.tmp $@
endif
src/cli/completion/bash/hpcprof: src/cli/completion/options \
		src/cli/completion/arguments.awk src/cli/completion/bash.awk \
		src/cli/completion/hpcprof.bash.in
	$(AM_V_GEN)$(MKDIR_P) src/cli/completion/bash && \
		$(AWK) -f $(srcdir)/src/cli/completion/arguments.awk \
		-f $(srcdir)/src/cli/completion/bash.awk $< \
		$(srcdir)/src/cli/completion/hpcprof.bash.in >$@.tmp && mv $@.tmp $@
src/cli/completion/zsh/_hpcprof: src/cli/completion/options \
		src/cli/completion/arguments.awk src/cli/completion/zsh.awk \
		src/cli/completion/hpcprof.zsh.in
	$(AM_V_GEN)$(MKDIR_P) src/cli/completion/zsh && \
		$(AWK) -f $(srcdir)/src/cli/completion/arguments.awk \
		-f $(srcdir)/src/cli/completion/zsh.awk $< \
		$(srcdir)/src/cli/completion/hpcprof.zsh.in >$@.tmp && mv $@.tmp $@
