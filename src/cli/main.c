/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command.h"
#include "fault.h"
#include "config.h"
#include "option_table.h"
#include "perf_words.h"

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* argp prints this for --version, with and without a subcommand. */
const char *argp_program_version = PACKAGE_STRING;

static const char help_head[] =
	"Usage: hpcprof COMMAND [OPTION...] [ARGUMENT...]\n"
	"Show where a program spends its time, and why, down to single instructions.\n"
	"\n";

static const char help_tail[] =
	"\n"
	"Start with:  hpcprof record -- COMMAND...   then:  hpcprof report\n"
	"\n"
	"  hpcprof help COMMAND, hpcprof COMMAND --help   list the command's options\n"
	"  man hpcprof, man hpcprof-COMMAND               read the manual\n"
	"  hpcprof --version                              print the version\n";

static void print_help(FILE *stream)
{
	fputs(help_head, stream);
	for (const struct hp_command *const *command = hp_commands; *command; command++)
		fprintf(stream, "  %-8s %s\n", (*command)->name, (*command)->summary);
	fputs(help_tail, stream);
}

/* Finds the command by its name or by perf's name for it. */
static const struct hp_command *find_command(const char *word)
{
	const char *ours = perf_words_command(word);
	const char *name = ours ? ours : word;

	for (const struct hp_command *const *command = hp_commands; *command; command++)
		if (strcmp((*command)->name, name) == 0)
			return *command;
	return NULL;
}

static int unknown_command(const char *name)
{
	struct hp_error *error = perf_words_refuse_command(name);
	const char *closest = perf_words_closest_command(name);

	if (error)
		return hp_cli_fail(error);
	error = hp_error_create(HP_ERROR_USAGE, "there is no command '%s'", name);
	if (closest)
		error = hp_error_advise(error, "did you mean '%s'? (hpcprof --help lists them all)",
					closest);
	else
		error = hp_error_advise(error, "hpcprof --help lists the commands");
	return hp_cli_fail(error);
}

static int run_command(int argc, char **argv)
{
	const struct hp_command *command = find_command(argv[0]);
	const char *said = argv[0];
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	_cleanup_free_ char *name = NULL;
	struct hp_error *error;
	int status;

	if (!command)
		return unknown_command(argv[0]);
	if (!arena || asprintf(&name, "hpcprof %s", command->name) < 0) {
		name = NULL;
		return hp_cli_fail(hp_error_create_no_memory());
	}
	argv[0] = name;
	error = perf_words_translate(command, said, argc, argv, arena, &argc, &argv);
	if (!error)
		return command->run(argc, argv);
	status = hp_cli_fail(error);
	return command->usage_status ? command->usage_status : status;
}

static int help_command(int argc, char **argv)
{
	const struct hp_command *command;
	_cleanup_free_ char *name = NULL;
	char option[] = "--help";

	if (argc < 2 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		print_help(stdout);
		return HP_EXIT_OK;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	if (asprintf(&name, "hpcprof %s", command->name) < 0) {
		name = NULL;
		return hp_cli_fail(hp_error_create_no_memory());
	}
	/* The command prints its help and exits. */
	return command->run(2, (char *[]){ name, option, NULL });
}

static int run_option(const char *option)
{
	if (strcmp(option, "--help") == 0 || strcmp(option, "-?") == 0 ||
	    strcmp(option, "-h") == 0) {
		print_help(stdout);
		return HP_EXIT_OK;
	}
	if (strcmp(option, "--version") == 0 || strcmp(option, "-V") == 0) {
		puts(argp_program_version);
		return HP_EXIT_OK;
	}
	/* A test reads this. */
	if (strcmp(option, "--perf-words") == 0) {
		perf_words_print(stdout);
		return HP_EXIT_OK;
	}
	/* The build reads this (option_table.h). */
	if (strcmp(option, "--option-table") == 0) {
		hp_option_table_print(stdout);
		return HP_EXIT_OK;
	}
	return hp_cli_fail(hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "there is no option '%s' before a command", option),
		"options follow the command: hpcprof COMMAND [OPTION...]"));
}

/* Runs at exit, also when argp exits: lost output must not look like success. */
static void close_standard_output(void)
{
	bool failed = ferror(stdout) != 0;
	int failure = 0;

	if (fclose(stdout) != 0)
		failure = errno;
	if (!failed && !failure)
		return;
	/* The reader has left (`hpcprof report | head`): not an error. */
	if (failure == EPIPE)
		_exit(128 + SIGPIPE);
	if (failure)
		fprintf(stderr, "hpcprof: writing to standard output: %s\n", strerror(failure));
	else
		fputs("hpcprof: writing to standard output failed\n", stderr);
	_exit(HP_EXIT_SYSTEM);
}

/* Opens closed standard descriptors, as files that are opened later would take their numbers.
 * Reading 0 and writing 1 and 2 still fails; close-on-exec keeps them closed in commands that
 * hpcprof starts. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", flags | O_CLOEXEC) < 0)
			_exit(HP_EXIT_SYSTEM);
	}
}

static void take_no_notice(int signal)
{
	(void)signal;
}

/* Catches SIGXFSZ, so that a limit on file sizes makes a write fail, like a full disk. exec removes
 * the handler: commands that hpcprof starts have the original action. */
static void survive_file_size_limits(void)
{
	struct sigaction action;

	if (sigaction(SIGXFSZ, NULL, &action) < 0 || action.sa_handler == SIG_IGN)
		return;
	action = (struct sigaction){ .sa_handler = take_no_notice, .sa_flags = SA_RESTART };
	sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	survive_file_size_limits();
	fill_standard_descriptors();
	fault_name_files();
	/* Only characters follow the locale: numbers are read and written the same everywhere. */
	setlocale(LC_CTYPE, "");
	argp_err_exit_status = HP_EXIT_USAGE;
	if (atexit(close_standard_output) != 0)
		return HP_EXIT_SYSTEM;
	if (argc < 2) {
		print_help(stderr);
		return HP_EXIT_USAGE;
	}
	if (argv[1][0] == '-')
		return run_option(argv[1]);
	if (strcmp(argv[1], "help") == 0)
		return help_command(argc - 1, argv + 1);
	return run_command(argc - 1, argv + 1);
}
