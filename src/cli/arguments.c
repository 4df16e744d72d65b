/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "arguments.h"

#include "command.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <string.h>

const char *hp_argument_name(const struct argp_option *table, int key)
{
	for (const struct argp_option *option = table; option->name || option->doc; option++)
		if (option->name && option->key == key)
			return option->name;
	return NULL;
}

error_t hp_argument_place(int key, char *argument, const char **db, const char **symfs,
			  bool *no_debuginfo)
{
	switch (key) {
	case HP_KEY_DB:
		*db = argument;
		return 0;
	case HP_KEY_SYMFS:
		*symfs = argument;
		return 0;
	case HP_KEY_NO_DEBUGINFO:
		*no_debuginfo = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void add_ids(struct argp_state *state, const char *text, struct hp_ids *ids)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy;
	char *one;

	while ((one = strsep(&rest, ","))) {
		uint64_t id;

		if (!hp_parse_u64(one, &id) || !id || id > INT32_MAX)
			argp_error(state, "'%s' is not a process or thread number", one);
		else if (!hp_vector_push(ids, (pid_t)id))
			argp_failure(state, HP_EXIT_RECORDER, 0, "out of memory");
	}
}

error_t hp_argument_target(int key, char *argument, struct argp_state *state,
			   struct hp_targets *targets)
{
	switch (key) {
	case 'p':
		add_ids(state, argument, &targets->pids);
		return 0;
	case 't':
		add_ids(state, argument, &targets->tids);
		return 0;
	case 'a':
		targets->system_wide = true;
		return 0;
	case 'C':
		targets->cpus = argument;
		return 0;
	case HP_KEY_DURATION:
		targets->duration_ns = hp_argument_time(state, "--duration", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

char **hp_argument_command(struct argp_state *state, const char *name, const char *verb,
			   const struct hp_targets *targets)
{
	char **command = state->next < state->argc ? state->argv + state->next : NULL;
	bool has_others = targets->pids.count || targets->tids.count;

	state->next = state->argc;
	if (!command && !has_others && !targets->system_wide)
		argp_error(state,
			   "nothing to %s: give a command (hpcprof %s -- CMD), -p PID, or -a", verb,
			   name);
	if (has_others && targets->system_wide)
		argp_error(state,
			   "-p and -t cannot be combined with -a, which includes all processes");
	return command;
}

uint64_t hp_argument_time(struct argp_state *state, const char *option, const char *text)
{
	uint64_t time_ns = 0;

	if (!hp_parse_duration_ns(text, &time_ns) || !time_ns)
		argp_error(state, "%s takes a time such as 10s, 500ms or 5m, not '%s'", option,
			   text);
	return time_ns;
}

uint64_t hp_argument_milliseconds(struct argp_state *state, const char *option, const char *text)
{
	uint64_t time_ms;
	uint64_t time_ns = 0;

	if (hp_parse_u64(text, &time_ms) && time_ms < UINT64_MAX / 1000000)
		return time_ms * 1000000;
	if (!hp_parse_duration_ns(text, &time_ns))
		argp_error(state, "%s takes milliseconds, not '%s'", option, text);
	return time_ns;
}

size_t hp_argument_choice(struct argp_state *state, const char *option, const char *text,
			  const char *words)
{
	size_t length = strlen(text);
	size_t number = 0;

	for (const char *word = words; *word; number++) {
		size_t end = strcspn(word, "|");

		if (end == length && memcmp(word, text, end) == 0)
			return number;
		word += end + (word[end] == '|');
	}
	argp_error(state, "%s is one of %s, not '%s'", option, words, text);
	return 0;
}

double hp_argument_amount(struct argp_state *state, const char *option, const char *text)
{
	double amount = 0;

	if (!hp_parse_double(text, &amount) || !(amount > 0))
		argp_error(state, "%s takes a number above 0, not '%s'", option, text);
	return amount;
}

uint64_t hp_argument_number(struct argp_state *state, const char *option, const char *text)
{
	uint64_t number = 0;

	if (!hp_parse_u64(text, &number) || !number)
		argp_error(state, "%s takes a number above 0, not '%s'", option, text);
	return number;
}

double hp_argument_percent(struct argp_state *state, const char *option, const char *text,
			   double most)
{
	double percent = 0;

	if (!hp_parse_double(text, &percent) || !(percent > 0))
		argp_error(state, "%s takes a percentage above 0, not '%s'", option, text);
	if (percent > most)
		argp_error(state, "%s takes at most %g %%, not '%s'", option, most, text);
	return percent;
}

enum hp_mux_policy hp_argument_policy(struct argp_state *state, const char *text)
{
	enum hp_mux_policy policy = HP_MUX_RR;

	if (!hp_mux_policy_parse(text, &policy))
		argp_error(state, "--scheduler is rr, rr-random, roc or adaptive, not '%s'", text);
	return policy;
}

void hp_argument_counters(struct argp_state *state, const char *text, uint32_t *counters)
{
	const uint64_t most = 1024;
	uint64_t value;

	if (!hp_parse_u64(text, &value) || !value || value > most)
		argp_error(state, "--counters takes a number from 1 to %d, not '%s'", (int)most,
			   text);
	*counters = (uint32_t)value;
}
