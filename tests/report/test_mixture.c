/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Epochs of different machines in one report. */
#include "../json.h"
#include "fixture.h"

#include <hpcprof/isa/machine.h>

#include <string.h>

static char intel[] = "GenuineIntel";
static const struct hp_cpu sapphire = { .vendor = intel, .family = 6, .model = 143, .stepping = 8 };
static const struct hp_cpu skylake = { .vendor = intel, .family = 6, .model = 85, .stepping = 4 };
static const char *const both[] = { "one", "other", NULL };

/* 10 samples of a millisecond. */
static const struct fixture_count counts[] = {
	{ "cpu-clock:u", &fixture_missing, "t", 0, 1000000, 0x100, 10 },
};
static const struct fixture_epoch usual = { .label = "one",
					    .counts = counts,
					    .count = 1,
					    .clock_hz = 2e9,
					    .cpu = &sapphire,
					    .skid_instructions = 1 };

static struct fixture *fixture_of(const struct fixture_epoch *other)
{
	struct fixture *fixture = fixture_of_epoch(&usual);

	fixture_add(fixture, other);
	return fixture;
}

static struct fixture *report_both(const struct fixture_epoch *other)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_JSON };
	struct fixture *fixture = fixture_of(other);

	hp_assert_ok(fixture_report(fixture, &options, both));
	return fixture;
}

static void assert_warned(const struct fixture *fixture, const char *part)
{
	ck_assert_msg(fixture->warnings && strstr(fixture->warnings, part), "no \"%s\" in: %s",
		      part, fixture->warnings);
}

/* Of the only instruction. */
static json_t *total_cycles(const struct fixture *fixture, json_t **document)
{
	json_t *at;

	*document = json_parsed(fixture->output);
	at = json_at(*document, "images.0");
	at = json_at(at, "procedures.0");
	at = json_at(at, "instructions.0");
	at = json_at(at, "cycles.total");
	ck_assert_ptr_nonnull(at);
	return at;
}

TEST(epochs_of_one_machine_need_no_warning)
{
	struct fixture_epoch other = usual;
	struct fixture *fixture;

	other.label = "other";
	fixture = report_both(&other);
	ck_assert(!fixture->warnings || !strstr(fixture->warnings, "epochs"));
}

TEST(each_epoch_s_time_is_taken_by_its_own_clock)
{
	struct fixture_epoch other = usual;
	struct fixture *fixture;
	json_t *document;

	other.label = "other";
	other.clock_hz = 4e9;
	fixture = report_both(&other);
	/* 10 ms at 2 GHz and 10 ms at 4 GHz. */
	ck_assert_double_eq_tol(json_number_value(total_cycles(fixture, &document)),
				1e-2 * 2e9 + 1e-2 * 4e9, 6e7 * 0.005);
}

TEST(an_epoch_without_a_clock_leaves_all_of_them_without_cycles)
{
	struct fixture_epoch other = usual;
	struct fixture *fixture;
	json_t *document;
	const json_t *total;

	other.label = "other";
	other.clock_hz = 0;
	fixture = report_both(&other);
	total = total_cycles(fixture, &document);
	ck_assert(json_is_null(total));
	assert_warned(fixture, " was not measured, so cycles and stalls of the epochs together are "
			       "not known");
}

TEST(different_cpus_are_analysed_as_a_generic_one_and_that_is_said)
{
	struct fixture_epoch other = usual;
	struct fixture *fixture;

	other.label = "other";
	other.cpu = &skylake;
	fixture = report_both(&other);
	assert_warned(fixture, "the epochs are from different CPUs");
	assert_warned(fixture, hp_core_named("generic-x86-64")->title);
}

TEST(different_skids_are_said_with_the_one_that_is_taken)
{
	struct fixture_epoch other = usual;
	struct fixture *fixture;

	other.label = "other";
	other.skid_instructions = 3;
	fixture = report_both(&other);
	assert_warned(fixture, "samples of cpu-clock:u are 1 instructions late in some of the "
			       "epochs and 3 in ");
	assert_warned(fixture, "all are treated as 1");
}

TEST(views_that_analyse_nothing_need_not_say_so)
{
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };
	struct fixture_epoch other = usual;
	struct fixture *fixture;

	other.label = "other";
	other.cpu = &skylake;
	fixture = fixture_of(&other);
	hp_assert_ok(fixture_report(fixture, &options, both));
	ck_assert(!fixture->warnings || !strstr(fixture->warnings, "CPUs"));
}

HP_TEST_MAIN("report/mixture")
