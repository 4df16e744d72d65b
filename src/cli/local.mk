# Layer 6: the command line. Nothing else prints or exits.
bin_PROGRAMS += hpcprof
hpcprof_SOURCES = \
	src/cli/cli.c \
	src/cli/command.h src/cli/commands.c \
	src/cli/completion.h src/cli/completion.c \
	src/cli/main.c
hpcprof_LDADD = $(REPORT_LIBS) $(COLLECT_LIBS)
