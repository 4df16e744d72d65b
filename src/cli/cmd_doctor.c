/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof doctor: what this machine and user can do, and the command that lifts each limit. */
#include "arguments.h"
#include "command.h"
#include "progress.h"
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/calibrate/skid.h>
#include <hpcprof/pmu/machine.h>
#include <hpcprof/shadow/shadow.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_FORMAT = 0x100, KEY_CALIBRATE_SKID };

struct options {
	bool json;
	bool calibrate_skid;
};

static const char formats[] = "text|json";

static const struct argp_option option_table[] = {
	{ "calibrate-skid", KEY_CALIBRATE_SKID, NULL, 0,
	  "Measure the skid of samples on this machine, and store it for hpcprof record", 0 },
	{ "format", KEY_FORMAT, formats, 0, "Output format (default: text)", 0 },
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
	.doc = "Show what this machine and this user can profile. For each missing or refused "
	       "feature, show the command that enables it and what works without it.\vExit status: "
	       "0, or 4 if nothing can be sampled.",
};

static const char *const states[] = {
	[HP_FINDING_OK] = "ok",
	[HP_FINDING_LIMITED] = "limited",
	[HP_FINDING_BLOCKED] = "blocked",
	[HP_FINDING_ABSENT] = "absent",
};

/* --- the verdict ------------------------------------------------------------------------------ */

/* The purposes of hpcprof, as findings and in words; the most helpful one comes first. */
static const struct {
	const char *topic;
	const char *words;
} abilities[] = {
	{ "user-mode samples", "user code" },
	{ "kernel samples", "kernel code" },
	{ "hardware PMU", "hardware events" },
	{ "system-wide (-a)", "the whole system (-a)" },
	{ "shadow windows", "exact counts (--shadow)" },
	{ "tracepoints", "tracepoints" },
};

static const struct hp_finding *find(const struct hp_findings *findings, const char *topic)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->at[i].topic, topic) == 0)
			return &findings->at[i];
	return NULL;
}

static bool works(const struct hp_finding *finding)
{
	return finding->state == HP_FINDING_OK || finding->state == HP_FINDING_LIMITED;
}

/* Returns the obstacle to remove first; NULL when none can be removed. */
static const char *helps_most(const struct hp_findings *findings)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(abilities); i++) {
		const struct hp_finding *finding = find(findings, abilities[i].topic);

		if (finding && !works(finding) && finding->lift)
			return finding->lift;
	}
	return NULL;
}

static json_t *list_abilities(const struct hp_findings *findings, bool that_work)
{
	json_t *list = json_array();

	for (size_t i = 0; i < HP_ARRAY_COUNT(abilities); i++) {
		const struct hp_finding *finding = find(findings, abilities[i].topic);

		if (finding && works(finding) == that_work)
			json_array_append_new(list, json_string(abilities[i].words));
	}
	return list;
}

/* --- text ------------------------------------------------------------------------------------- */

enum { COLUMNS = 80 };

/* Prints text with lines broken at blanks; all but the first line begin with `indent` blanks. `at`
 * is the column of the cursor. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (at > indent && at + 1 + length > COLUMNS) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)length, text);
		at += length;
		text += length;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_words(const char *text, const char *heading)
{
	const size_t indent = 9;

	printf("%*s%s", (int)indent, "", heading);
	print_wrapped(text, indent + strlen(heading), indent + strlen(heading));
}

static void add_words(char **text, const char *heading, const struct hp_findings *findings,
		      bool that_work)
{
	json_t *list = list_abilities(findings, that_work);

	for (size_t i = 0; *text && i < json_array_size(list); i++) {
		char *longer;

		if (asprintf(&longer, "%s%s%s", *text, i ? ", " : heading,
			     json_string_value(json_array_get(list, i))) < 0)
			longer = NULL;
		free(*text);
		*text = longer;
	}
	json_decref(list);
}

/* "Works here: ...; not: .... Would help most: ..." */
static void print_verdict(const struct hp_findings *findings)
{
	char *text = strdup("");
	const char *lift = helps_most(findings);

	add_words(&text, "Works here: ", findings, true);
	add_words(&text, text && *text ? "; not here: " : "Not here: ", findings, false);
	if (text)
		print_wrapped(text, 0, 0);
	if (lift) {
		fputs("Would help most:", stdout);
		print_wrapped(lift, strlen("Would help most:"), 0);
	}
	putchar('\n');
	free(text);
}

static void print_text(const struct hp_machine *machine, const struct hp_findings *findings)
{
	const int topic_columns = 21;
	char line[1024];

	print_verdict(findings);
	snprintf(line, sizeof(line), "%s, %u CPU%s, %s, Linux %s", machine->cpu_model,
		 machine->cpus, machine->cpus == 1 ? "" : "s", machine->architecture,
		 machine->kernel);
	print_wrapped(line, 0, 0);
	putchar('\n');
	for (size_t i = 0; i < findings->count; i++) {
		const struct hp_finding *finding = &findings->at[i];
		size_t indent = 8 + 1 + (size_t)topic_columns + 1;

		printf("%-8s %-*s ", states[finding->state], topic_columns, finding->topic);
		print_wrapped(finding->says, indent, indent);
		if (finding->lift)
			print_words(finding->lift, "to enable it: ");
		if (finding->without)
			print_words(finding->without, "without it:   ");
	}
}

static struct hp_error *print_json(const struct hp_machine *machine,
				   const struct hp_findings *findings)
{
	json_t *list = json_array();
	json_t *verdict = json_pack("{s:o, s:o, s:s?}", "works", list_abilities(findings, true),
				    "missing", list_abilities(findings, false), "helps_most",
				    helps_most(findings));
	json_t *root;
	int failed = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct hp_finding *finding = &findings->at[i];

		failed |= json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "topic", finding->topic,
					"state", states[finding->state], "says", finding->says,
					"lift", finding->lift, "without", finding->without));
	}
	root = json_pack("{s:s, s:o, s:{s:s, s:s, s:s, s:s, s:i}, s:o}", "schema",
			 "hpcprof-doctor/1", "verdict", verdict, "machine", "host", machine->host,
			 "cpu", machine->cpu_model, "architecture", machine->architecture, "kernel",
			 machine->kernel, "cpus", (int)machine->cpus, "findings", list);
	failed |= !root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) < 0;
	json_decref(root);
	putchar('\n');
	return failed ? hp_error_create(HP_ERROR_SYSTEM, "writing the findings as JSON failed")
		      : NULL;
}

/* The first finding is the simplest kind of sampling: without it nothing works. */
static bool nothing_works(const struct hp_findings *findings)
{
	return findings->count > 0 && findings->at[0].state == HP_FINDING_BLOCKED;
}

static int examine(const struct options *options, const struct hp_machine *machine)
{
	struct hp_findings findings = { 0 };
	struct hp_error *error;
	int status;

	progress_show("hpcprof: testing what can be sampled here ...");
	error = hp_machine_examine(machine, &findings);
	if (!error) {
		progress_show("hpcprof: testing whether a program can be copied and replayed ...");
		error = hp_shadow_examine(&findings);
	}
	progress_hide();
	if (!error && options->json)
		error = print_json(machine, &findings);
	else if (!error)
		print_text(machine, &findings);
	status = nothing_works(&findings) ? HP_EXIT_NOT_PERMITTED : HP_EXIT_OK;
	hp_findings_clear(&findings);
	return error ? hp_cli_fail(error) : status;
}

/* --- the skid --------------------------------------------------------------------------------- */

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
		puts("unclear");
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
		puts("  skid: the loops do not agree, so the default remains\n");
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

/* Measures, shows and stores the skid of each source. If it cannot be stored, that is the last
 * message. */
static struct hp_error *calibrate_all(const struct hp_machine *machine,
				      const struct hp_event_list *sources, json_t *shown,
				      bool *kept)
{
	struct hp_error *unkept = NULL;

	for (size_t i = 0; i < sources->count; i++) {
		struct hp_skid skid;
		struct hp_error *error;

		progress_show("hpcprof: measuring the skid of %s (%zu of %zu) ...",
			      sources->events[i].name, i + 1, sources->count);
		error = hp_skid_measure(machine, &sources->events[i], &skid);
		progress_hide();
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
		printf("Skid: the number of instructions between the one that takes the time and "
		       "the\none that the sample is recorded at, on %s:\n\n",
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
		puts("Stored for hpcprof record.");
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
	.summary = "Show what this machine and this user can profile, and what is missing",
	.argp = &argp,
	.run = run,
};
