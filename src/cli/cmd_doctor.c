/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof doctor: what this machine and user can do, and the command that lifts each limit. */
#include "command.h"

#include <hpcprof/pmu/machine.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct options {
	bool json;
};

static const struct argp_option option_table[] = {
	{ "format", 'F' + 256, "text|json", 0, "How to print the findings (default: text)", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'F' + 256:
		options->json = strcmp(argument, "json") == 0;
		if (!options->json && strcmp(argument, "text") != 0)
			argp_error(state, "--format is text or json, not '%s'", argument);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.doc = "Says what this machine and this user can profile, and for everything that is "
	       "missing or refused the command that lifts it and what works without it."
	       "\vExit status: 0, or 4 when nothing at all can be sampled.",
};

static const char *const states[] = {
	[HP_FINDING_OK] = "ok",
	[HP_FINDING_LIMITED] = "limited",
	[HP_FINDING_BLOCKED] = "blocked",
	[HP_FINDING_ABSENT] = "absent",
};

static void print_text(const struct hp_machine *machine, const struct hp_findings *findings)
{
	printf("%s, %u CPU%s, %s, Linux %s\n\n", machine->cpu_model, machine->cpus,
	       machine->cpus == 1 ? "" : "s", machine->architecture, machine->kernel);
	for (size_t i = 0; i < findings->count; i++) {
		const struct hp_finding *finding = &findings->at[i];

		printf("%-8s %-21s %s\n", states[finding->state], finding->topic, finding->says);
		if (finding->lift)
			printf("%-30s to lift it:  %s\n", "", finding->lift);
		if (finding->without)
			printf("%-30s without it:  %s\n", "", finding->without);
	}
}

static struct hp_error *print_json(const struct hp_machine *machine,
				   const struct hp_findings *findings)
{
	json_t *list = json_array();
	json_t *root;
	int failed = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct hp_finding *finding = &findings->at[i];

		failed |= json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "topic", finding->topic,
					"state", states[finding->state], "says", finding->says,
					"lift", finding->lift, "without", finding->without));
	}
	root = json_pack("{s:s, s:{s:s, s:s, s:s, s:s, s:i}, s:o}", "schema", "hpcprof-doctor/1",
			 "machine", "host", machine->host, "cpu", machine->cpu_model,
			 "architecture", machine->architecture, "kernel", machine->kernel, "cpus",
			 (int)machine->cpus, "findings", list);
	failed |= !root || json_dumpf(root, stdout, JSON_INDENT(2)) < 0;
	json_decref(root);
	putchar('\n');
	return failed ? hp_error_create(HP_ERROR_SYSTEM, "writing the findings as JSON failed")
		      : NULL;
}

/* The first finding is the plainest sampling of all. */
static bool nothing_works(const struct hp_findings *findings)
{
	return findings->count > 0 && findings->at[0].state == HP_FINDING_BLOCKED;
}

static int run(int argc, char **argv)
{
	struct options options = { 0 };
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = NULL;
	struct hp_findings findings = { 0 };
	struct hp_error *error;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	error = hp_machine_create(&machine);
	if (!error)
		error = hp_machine_examine(machine, &findings);
	if (!error && options.json)
		error = print_json(machine, &findings);
	else if (!error)
		print_text(machine, &findings);
	status = nothing_works(&findings) ? HP_EXIT_NOT_PERMITTED : HP_EXIT_OK;
	hp_findings_clear(&findings);
	return error ? hp_cli_fail(error) : status;
}

const struct hp_command hp_command_doctor = {
	.name = "doctor",
	.summary = "what this machine and user can profile, and what lifts each limit",
	.argp = &argp,
	.run = run,
};
