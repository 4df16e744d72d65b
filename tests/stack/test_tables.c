/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables against themselves, and against public lists of events. */
#include "../support.h"

#include "../../src/stack/evaluate.h"

#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>
#include <hpcprof/stack/table.h>

#include <math.h>
#include <string.h>

enum { LINE_BYTES = 512 };

static const struct hp_stack_table *table_of(const char *vendor, uint32_t model, uint32_t stepping)
{
	char name[32];

	snprintf(name, sizeof(name), "%s", vendor);
	return hp_stack_table_of(&(struct hp_cpu){
		.vendor = name, .family = 6, .model = model, .stepping = stepping });
}

static const struct hp_stack_table *table_of_arm(uint32_t part, uint32_t revision)
{
	return hp_stack_table_of(
		&(struct hp_cpu){ .implementer = 0x41, .part = part, .stepping = revision });
}

TEST(a_cpu_has_the_table_of_its_core)
{
	struct hp_cpu zen_4 = { .vendor = (char[]){ "AuthenticAMD" },
				.family = 0x19,
				.model = 0x61 };

	ck_assert_str_eq(table_of("GenuineIntel", 0x55, 4)->name, "skylake-sp");
	ck_assert_str_eq(table_of("GenuineIntel", 0x55, 7)->name, "cascade-lake");
	ck_assert_str_eq(table_of("GenuineIntel", 0x9e, 10)->name, "skylake");
	ck_assert_str_eq(table_of("GenuineIntel", 0x6a, 6)->name, "ice-lake-sp");
	ck_assert_str_eq(table_of("GenuineIntel", 0x7e, 5)->name, "ice-lake");
	ck_assert_str_eq(table_of("GenuineIntel", 0x8c, 1)->name, "tiger-lake");
	ck_assert_str_eq(table_of("GenuineIntel", 0x8f, 8)->name, "sapphire-rapids");
	ck_assert_str_eq(hp_stack_table_of(&zen_4)->name, "zen-4");
	ck_assert_str_eq(table_of_arm(0xd0c, 0x31)->name, "neoverse-n1");
	ck_assert_str_eq(table_of_arm(0xd49, 0x00)->name, "neoverse-n2-r0p0");
	ck_assert_str_eq(table_of_arm(0xd49, 0x03)->name, "neoverse-n2");
	ck_assert_str_eq(table_of_arm(0xd40, 0x11)->name, "neoverse-v1");
	ck_assert_str_eq(table_of_arm(0xd4f, 0x01)->name, "neoverse-v2");
}

TEST(an_unknown_cpu_has_the_generic_one)
{
	ck_assert(hp_stack_table_is_generic(hp_stack_table_of(&(struct hp_cpu){ 0 })));
	ck_assert(hp_stack_table_is_generic(table_of("GenuineIntel", 0x2a, 7)));
	ck_assert(hp_stack_table_is_generic(table_of("CentaurHauls", 0x55, 7)));
	ck_assert(hp_stack_table_is_generic(table_of_arm(0xd07, 0)));
}

/* The parts of Intel's slots, r8000 to r8700. */
static bool is_only_counted(const char *encoding)
{
	return strlen(encoding) == 5 && strncmp(encoding, "r8", 2) == 0 &&
	       strcmp(encoding + 3, "00") == 0;
}

TEST(what_is_to_be_sampled_the_kernel_samples)
{
	static const uint32_t models[] = { 0x55, 0x9e, 0x6a, 0x7e, 0x8c, 0x8f };
	bool any = false;

	for (size_t i = 0; i < HP_ARRAY_COUNT(models); i++) {
		const struct hp_cpu cpu = { .vendor = (char[]){ "GenuineIntel" },
					    .family = 6,
					    .model = models[i] };
		const struct hp_stack_table *counted = hp_stack_table_of(&cpu);
		const struct hp_stack_table *sampled = hp_stack_table_sampled(&cpu);

		ck_assert_str_eq(sampled->title, counted->title);
		ck_assert(!counted->sampled || sampled != counted);
		for (size_t j = 0; j < counted->event_count; j++)
			any |= is_only_counted(counted->events[j].encoding);
		for (size_t j = 0; j < sampled->event_count; j++)
			ck_assert(!is_only_counted(sampled->events[j].encoding));
	}
	ck_assert(any);
}

/* With an arbitrary count of each event. */
static void fill(double *counts)
{
	for (size_t i = 0; i < STACK_EVENTS_MOST; i++)
		counts[i] = 1000 + 37 * (double)i;
}

TEST(every_formula_has_a_value)
{
	const struct hp_stack_table *table;

	for (size_t i = 0; (table = hp_stack_table_at(i)); i++) {
		double events[STACK_EVENTS_MOST];
		struct stack_counts counts;

		ck_assert_uint_le(table->event_count, STACK_EVENTS_MOST);
		ck_assert_uint_le(table->term_count, STACK_TERMS_MOST);
		ck_assert_str_eq(table->events[0].symbol, "cycles");
		ck_assert_str_eq(table->events[1].symbol, "instructions");
		fill(events);
		stack_counts_begin(&counts, table, events);
		for (size_t j = 0; j < table->term_count; j++)
			ck_assert_msg(!isnan(counts.terms[j]), "%s: %s", table->name,
				      table->terms[j].formula);
		for (size_t j = 0; j < table->row_count * HP_STACK_ACCOUNTINGS; j++) {
			const char *formula = table->rows[j / HP_STACK_ACCOUNTINGS]
						      .formulas[j % HP_STACK_ACCOUNTINGS];

			ck_assert_msg(!formula || !isnan(stack_counts_value(&counts, formula)),
				      "%s: %s", table->name, formula);
		}
	}
}

/* What is not used costs counters, and what is named twice is taken for the other. */
TEST(every_event_is_used_and_has_its_own_name)
{
	const struct hp_stack_table *table;

	for (size_t i = 0; (table = hp_stack_table_at(i)); i++) {
		bool needed[STACK_EVENTS_MOST] = { true, true };

		for (size_t j = 0; j < table->row_count * HP_STACK_ACCOUNTINGS; j++) {
			const char *formula = table->rows[j / HP_STACK_ACCOUNTINGS]
						      .formulas[j % HP_STACK_ACCOUNTINGS];

			if (formula)
				ck_assert(stack_formula_events(table, formula, needed));
		}
		for (size_t j = 0; j < table->event_count; j++) {
			ck_assert_msg(needed[j], "%s: nothing uses %s", table->name,
				      table->events[j].symbol);
			for (size_t k = 0; k < j; k++)
				ck_assert_str_ne(table->events[k].encoding,
						 table->events[j].encoding);
		}
	}
}

/* Interval formulas of a core that counts slots claim all of them, whatever the counts. */
TEST(components_add_up_to_the_cycles)
{
	static const char *const names[] = { "skylake", "ice-lake-sp", "sapphire-rapids" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		const struct hp_stack_table *table = hp_stack_table_named(names[i]);
		double events[STACK_EVENTS_MOST];
		struct stack_counts counts;
		double sum = 0;

		fill(events);
		/* More stalls of outer levels than of inner ones would be none. */
		for (size_t j = 0; j < table->event_count; j++)
			if (strncmp(table->events[j].symbol, "stalls_l", 8) == 0)
				events[j] = 900 - 100 * (table->events[j].symbol[8] - '0');
		for (size_t j = 0; j < table->event_count; j++)
			if (strcmp(table->events[j].symbol, "slots") == 0)
				events[j] = 5e5;
		events[0] = 1e5;
		stack_counts_begin(&counts, table, events);
		for (size_t j = 0; j < table->row_count; j++)
			sum += stack_counts_value(&counts,
						  table->rows[j].formulas[HP_STACK_INTERVAL]);
		ck_assert_msg(fabs(sum - 1e5) < 1e-6, "%s: %g", names[i], sum);
	}
}

/* As stat asks for it: what the kernel is handed is the encoding, however wide. */
TEST(every_encoding_is_one_event)
{
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = NULL;
	const struct hp_stack_table *table;

	hp_assert_ok(hp_machine_create(&machine));
	for (size_t i = 0; (table = hp_stack_table_at(i)); i++)
		for (size_t j = 2; table->list && j < table->event_count; j++) {
			struct hp_event_list events = { 0 };
			const char *encoding = table->events[j].encoding;

			hp_assert_ok(hp_event_parse(encoding, machine, &events));
			ck_assert_uint_eq(events.count, 1);
			ck_assert_uint_eq(events.events[0].type, PERF_TYPE_RAW);
			ck_assert_uint_eq(events.events[0].config,
					  strtoull(encoding + 1, NULL, 16));
			hp_event_list_clear(&events);
		}
}

/* --- public lists ----------------------------------------------------------------------------- */

/* Lines "LIST NAME ENCODING" of scripts/stack/events.txt, which scripts/stack-tables makes. */
static bool is_listed(const char *list, const struct hp_stack_event *event)
{
	char path[4096], line[LINE_BYTES], wanted[LINE_BYTES];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/scripts/stack/events.txt", getenv("top_srcdir"));
	snprintf(wanted, sizeof(wanted), "%s %s %s\n", list, event->name, event->encoding);
	file = fopen(path, "re");
	ck_assert_msg(file != NULL, "%s", path);
	while (!found && fgets(line, sizeof(line), file))
		found = strcmp(line, wanted) == 0;
	fclose(file);
	return found;
}

TEST(every_encoding_is_in_the_public_lists_under_its_name)
{
	const struct hp_stack_table *table;

	for (size_t i = 0; (table = hp_stack_table_at(i)); i++)
		for (size_t j = 2; table->list && j < table->event_count; j++)
			ck_assert_msg(is_listed(table->list, &table->events[j]), "%s: %s %s",
				      table->list, table->events[j].name,
				      table->events[j].encoding);
}

HP_TEST_MAIN("stack/tables")
