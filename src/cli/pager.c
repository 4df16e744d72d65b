/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pager.h"

#include "command.h"

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- words -------------------------------------------------------------------------------- */

/* Reads one word into `word`, which must be large enough; returns what follows it, NULL when a
 * quote stays open. */
static const char *take_word(const char *at, char *word)
{
	char quote = 0;

	for (; *at && (quote || (*at != ' ' && *at != '\t')); at++) {
		if (quote && *at == quote)
			quote = 0;
		else if (!quote && (*at == '\'' || *at == '"'))
			quote = *at;
		else if (*at == '\\' && quote != '\'' && at[1])
			*word++ = *++at;
		else
			*word++ = *at;
	}
	*word = 0;
	return quote ? NULL : at;
}

static void hp_pager_free_words(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}

/* Splits a command into words: NULL-terminated, each malloc'ed; NULL when memory is short or a
 * quote is not closed. */
static char **hp_pager_words(const char *command)
{
	_cleanup_free_ char *word = malloc(strlen(command) + 1);
	char **words = calloc(strlen(command) / 2 + 2, sizeof(*words));
	size_t count = 0;

	if (!word || !words)
		goto fail;
	for (;;) {
		command += strspn(command, " \t");
		if (!*command)
			return words;
		command = take_word(command, word);
		if (!command)
			goto fail;
		words[count] = strdup(word);
		if (!words[count++])
			goto fail;
	}
fail:
	hp_pager_free_words(words);
	return NULL;
}

/* --- starting ------------------------------------------------------------------------------- */

static const char *chosen_command(void)
{
	const char *command = getenv("HPCPROF_PAGER");

	if (!command)
		command = getenv("PAGER");
	return command ? command : "less";
}

static bool is_less(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strcmp(slash ? slash + 1 : program, "less") == 0;
}

/* Returns the environment with `added` (NULL-terminated) in front; a variable that the user has set
 * wins. */
static char **environment_with(char **added)
{
	size_t count = 0;
	size_t used = 0;
	char **all;

	while (environ[count])
		count++;
	all = calloc(count + 3, sizeof(*all));
	for (; all && *added; added++) {
		size_t name = strcspn(*added, "=");
		bool is_set = false;

		for (size_t i = 0; i < count; i++)
			is_set = is_set || strncmp(environ[i], *added, name + 1) == 0;
		if (!is_set)
			all[used++] = *added;
	}
	if (all)
		memcpy(all + used, environ, count * sizeof(*all));
	return all;
}

/* Options for less: quit if the text fits on the screen, keep colours, leave the text on the
 * screen; the text is UTF-8. They add to the user's LESS. */
static bool spawn(char **words, int input, pid_t *child)
{
	static char less_options[] = "LESS=FRX";
	static char less_characters[] = "LESSCHARSET=utf-8";
	static char keep_colours[] = "-R";
	char *added[] = { less_options, less_characters, NULL };
	_cleanup_free_ char **environment = environment_with(added);
	_cleanup_free_ char **command = NULL;
	posix_spawn_file_actions_t actions;
	size_t count = 0;
	int failed;

	while (words[count])
		count++;
	command = calloc(count + 2, sizeof(*command));
	if (!environment || !command || posix_spawn_file_actions_init(&actions) != 0)
		return false;
	command[0] = words[0];
	if (is_less(words[0]))
		command[1] = keep_colours;
	memcpy(command + (command[1] ? 2 : 1), words + 1, (count - 1) * sizeof(*command));
	failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (!failed)
		failed = posix_spawnp(child, command[0], &actions, NULL, command, environment);
	posix_spawn_file_actions_destroy(&actions);
	if (failed)
		fprintf(stderr, "hpcprof: warning: the pager '%s' cannot be run: %s\n", words[0],
			strerror(failed));
	return !failed;
}

static void ignore(int number)
{
	const struct sigaction nothing = { .sa_handler = SIG_IGN };

	sigaction(number, &nothing, NULL);
}

static bool is_dumb(void)
{
	const char *terminal = getenv("TERM");

	return !terminal || strcmp(terminal, "dumb") == 0;
}

void hp_pager_start(struct hp_pager *pager)
{
	const char *command = chosen_command();
	char **words;
	int ends[2];

	*pager = (struct hp_pager){ .out = stdout };
	if (!isatty(STDOUT_FILENO) || is_dumb() || strcmp(command, "cat") == 0)
		return;
	words = hp_pager_words(command);
	if (words && words[0] && pipe2(ends, O_CLOEXEC) == 0) {
		FILE *out = fdopen(ends[1], "w");
		bool started = out && spawn(words, ends[0], &pager->child);

		close(ends[0]);
		if (started) {
			/* Writing to a pager that has exited must fail, not kill hpcprof. */
			ignore(SIGPIPE);
			pager->out = out;
		} else if (out) {
			fclose(out);
		} else {
			close(ends[1]);
		}
	}
	hp_pager_free_words(words);
}

void hp_pager_warn(struct hp_pager *pager, const char *message, const char *advice)
{
	struct hp_held_warning held = { 0 };

	if (pager->child) {
		held.message = strdup(message);
		held.advice = advice ? strdup(advice) : NULL;
		if (held.message && hp_vector_push(&pager->warnings, held))
			return;
	}
	free(held.message);
	free(held.advice);
	hp_cli_warn(message, advice);
}

void hp_pager_hint(struct hp_pager *pager, const char *message)
{
	struct hp_held_warning held = { .is_hint = true };

	if (pager->child) {
		held.message = strdup(message);
		if (held.message && hp_vector_push(&pager->warnings, held))
			return;
	}
	free(held.message);
	/* Warnings come after the text when both go to the same place. */
	fflush(pager->out);
	hp_cli_hint(message);
}

void hp_pager_end(struct hp_pager *pager)
{
	int status;

	if (pager->child) {
		/* From here on ^C is for the pager, which may use it otherwise. */
		ignore(SIGINT);
		ignore(SIGQUIT);
		fclose(pager->out);
		while (waitpid(pager->child, &status, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t i = 0; i < pager->warnings.count; i++) {
		if (pager->warnings.at[i].is_hint)
			hp_cli_hint(pager->warnings.at[i].message);
		else
			hp_cli_warn(pager->warnings.at[i].message, pager->warnings.at[i].advice);
		free(pager->warnings.at[i].message);
		free(pager->warnings.at[i].advice);
	}
	hp_vector_free(&pager->warnings);
	pager->out = stdout;
	pager->child = 0;
}
