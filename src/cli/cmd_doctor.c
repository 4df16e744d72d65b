/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof doctor: what this machine and user can do, and the command that lifts each limit. */
#include "arguments.h"
#include "command.h"

#include <hpcprof/collect/skid.h>
#include <hpcprof/pmu/machine.h>
#include <hpcprof/shadow/shadow.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

enum { KEY_FORMAT = 0x100, KEY_CALIBRATE_SKID };

struct options {
	bool json;
	bool calibrate_skid;
};

static const char formats[] = "text|json";

static const struct argp_option option_table[] = {
	{ "calibrate-skid", KEY_CALIBRATE_SKID, NULL, 0,
	  "Measure how late samples land here, and keep it for hpcprof record", 0 },
	{ "format", KEY_FORMAT, formats, 0, "How to print the findings (default: text)", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_CALIBRATE_SKID:
		options->calibrate_skid = true;
		return 0;
	case KEY_FORMAT:
		options->json = hp_argument_choice(state, "--format", argument, formats) == 1;
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
	failed |= !root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) < 0;
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

static int examine(const struct options *options, const struct hp_machine *machine)
{
	struct hp_findings findings = { 0 };
	struct hp_error *error = hp_machine_examine(machine, &findings);
	int status;

	if (!error)
		error = hp_shadow_examine(&findings);
	if (!error && options->json)
		error = print_json(machine, &findings);
	else if (!error)
		print_text(machine, &findings);
	status = nothing_works(&findings) ? HP_EXIT_NOT_PERMITTED : HP_EXIT_OK;
	hp_findings_clear(&findings);
	return error ? hp_cli_fail(error) : status;
}

/* --- the skid ----------------------------------------------------------------------------------
 */

enum { SHOWN_PLACES = 4 };

static uint64_t samples_of(const struct hp_skid_kernel *kernel)
{
	uint64_t sum = kernel->elsewhere;

	for (size_t i = 0; i < HP_SKID_PLACES; i++)
		sum += kernel->places[i];
	return sum;
}

static void print_kernel(const struct hp_skid_kernel *kernel)
{
	uint64_t all = samples_of(kernel);
	double whole = all ? (double)all : 1;
	uint64_t later = all - kernel->elsewhere;
	int place = hp_skid_kernel_place(kernel);

	printf("  %-24s %7" PRIu64, kernel->name, all);
	for (size_t i = 0; i < SHOWN_PLACES; i++) {
		printf(" %6.1f %%", 100 * (double)kernel->places[i] / whole);
		later -= kernel->places[i];
	}
	printf(" %6.1f %%  ", 100 * (double)later / whole);
	if (place < 0)
		puts("no clear place");
	else if (place == 0)
		puts("on the instruction");
	else
		printf("%d late\n", place);
}

static void print_skid(const struct hp_skid *skid)
{
	printf("%-26s %7s %8s %8s %8s %8s %8s\n", skid->event, "samples", "itself", "+1", "+2",
	       "+3", "later");
	for (size_t i = 0; i < skid->kernel_count; i++)
		print_kernel(&skid->kernels[i]);
	if (skid->is_clear)
		printf("  skid: %" PRIu32 " instruction%s (%.0f %% of samples)\n\n",
		       skid->instructions, skid->instructions == 1 ? "" : "s", 100 * skid->share);
	else
		puts("  skid: not the same everywhere, so the default stays\n");
}

static json_t *kernel_json(const struct hp_skid_kernel *kernel)
{
	json_t *places = json_array();

	for (size_t i = 0; i < HP_SKID_PLACES; i++)
		json_array_append_new(places, json_integer((json_int_t)kernel->places[i]));
	return json_pack("{s:s, s:o, s:I}", "kernel", kernel->name, "samples", places, "elsewhere",
			 (json_int_t)kernel->elsewhere);
}

static json_t *skid_json(const struct hp_skid *skid)
{
	json_t *kernels = json_array();
	json_t *instructions = skid->is_clear ? json_integer(skid->instructions) : json_null();

	for (size_t i = 0; i < skid->kernel_count; i++)
		json_array_append_new(kernels, kernel_json(&skid->kernels[i]));
	return json_pack("{s:s, s:o, s:f, s:o}", "event", skid->event, "skid_instructions",
			 instructions, "share", skid->share, "kernels", kernels);
}

/* Measures, shows and keeps the skid of each source. What cannot be kept is the last to be told. */
static struct hp_error *calibrate_all(const struct hp_machine *machine,
				      const struct hp_event_list *sources, json_t *shown,
				      bool *kept)
{
	struct hp_error *unkept = NULL;

	for (size_t i = 0; i < sources->count; i++) {
		struct hp_skid skid;
		struct hp_error *error = hp_skid_measure(machine, &sources->events[i], &skid);

		if (error) {
			hp_error_destroy(unkept);
			return error;
		}
		if (shown)
			json_array_append_new(shown, skid_json(&skid));
		else
			print_skid(&skid);
		if (skid.is_clear && !unkept) {
			unkept = hp_skid_store(&machine->cpu, &skid);
			*kept = !unkept;
		}
		hp_skid_clear(&skid);
	}
	return unkept;
}

static int calibrate(const struct options *options, const struct hp_machine *machine)
{
	struct hp_event_list sources = { 0 };
	json_t *shown = options->json ? json_array() : NULL;
	struct hp_error *error = hp_skid_sources(machine, &sources);
	bool kept = false;

	if (!error && !options->json)
		printf("Where samples land, in instructions after the one that takes the time, on\n"
		       "%s:\n\n",
		       machine->cpu_model);
	if (!error)
		error = calibrate_all(machine, &sources, shown, &kept);
	hp_event_list_clear(&sources);
	if (shown) {
		json_t *root = json_pack("{s:s, s:s, s:O}", "schema", "hpcprof-skid-measured/1",
					 "cpu", machine->cpu_model, "events", shown);

		json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
		json_decref(root);
		json_decref(shown);
	} else if (kept && !error) {
		puts("Kept for hpcprof record.");
	}
	return error ? hp_cli_fail(error) : HP_EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct options options = { 0 };
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = NULL;
	struct hp_error *error;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	error = hp_machine_create(&machine);
	if (error)
		return hp_cli_fail(error);
	return options.calibrate_skid ? calibrate(&options, machine) : examine(&options, machine);
}

const struct hp_command hp_command_doctor = {
	.name = "doctor",
	.summary = "what this machine and user can profile, and what lifts each limit",
	.argp = &argp,
	.run = run,
};
