/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counted.h"

#include <math.h>
#include <string.h>

#ifdef __x86_64__

/* counted_loop calls counted_leaf ten times, which goes straight on or, if its argument is 0, not.
 * counted_hidden jumps where only windows know. */
__asm__(".text\n"
	".globl counted_loop\n"
	".type counted_loop, @function\n"
	"counted_loop:\n"
	"	push %rbx\n"
	"	mov $10, %ebx\n"
	".globl counted_body\n"
	"counted_body:\n"
	"	call counted_leaf\n"
	".globl counted_back\n"
	"counted_back:\n"
	"	dec %ebx\n"
	".globl counted_jump\n"
	"counted_jump:\n"
	"	jnz counted_body\n"
	".globl counted_end\n"
	"counted_end:\n"
	"	pop %rbx\n"
	"	ret\n"
	".size counted_loop, . - counted_loop\n"
	".globl counted_leaf\n"
	".type counted_leaf, @function\n"
	"counted_leaf:\n"
	"	test %edi, %edi\n"
	".globl counted_leaf_jump\n"
	"counted_leaf_jump:\n"
	"	je counted_leaf_end\n"
	".globl counted_leaf_then\n"
	"counted_leaf_then:\n"
	"	inc %eax\n"
	".globl counted_leaf_end\n"
	"counted_leaf_end:\n"
	"	ret\n"
	".size counted_leaf, . - counted_leaf\n"
	".globl counted_hidden\n"
	".type counted_hidden, @function\n"
	"counted_hidden:\n"
	"	push %rbx\n"
	"	mov (%rdi,%rsi,8), %rax\n"
	"	lea 3(%rax), %rbx\n"
	".globl counted_hidden_jump\n"
	"counted_hidden_jump:\n"
	"	jmp *%rax\n"
	".globl counted_hidden_target\n"
	"counted_hidden_target:\n"
	"	pop %rbx\n"
	"	ret\n"
	".size counted_hidden, . - counted_hidden\n"
	".globl counted_after\n"
	"counted_after:\n");

const unsigned line_of_counted_function = __LINE__ + 2;
__attribute__((noinline, noclone)) int counted_function(int x)
{
	return x + 1;
}

/* --- windows ---------------------------------------------------------------------------------- */

struct hp_counted items[MOST_ITEMS];
size_t item_count;
struct hp_window_stratum stratum;
struct hp_window_evidence windows;
char command[] = "t";
bool is_relative;

void set_counts(struct hp_counted *item, const uint64_t *counts)
{
	for (size_t i = 0; i < WINDOWS; i++)
		item->counts[i * PARTS] = counts[i];
}

static void counted(struct hp_counted item, const uint64_t *counts)
{
	item.is_relative = is_relative;
	set_counts(&item, counts);
	items[item_count++] = item;
}

void block(const char *start, const char *end, uint32_t instructions, const uint64_t *counts)
{
	counted((struct hp_counted){ .kind = HP_COUNTED_BLOCK,
				     .at = { offset_of(start) },
				     .bytes = (uint32_t)(end - start),
				     .instructions = instructions },
		counts);
}

void edge(enum hp_counted_kind kind, const char *from, const char *to, const uint64_t *counts)
{
	counted((struct hp_counted){ .kind = (uint8_t)kind,
				     .at = { offset_of(from) },
				     .to = { offset_of(to) } },
		counts);
}

struct hp_counted ticks[2];

void put_ticks(size_t place, size_t first, size_t end, size_t part, uint64_t count)
{
	for (size_t i = first; i < end; i++)
		ticks[place].counts[i * PARTS + part] = count;
}

void take_ticks(void)
{
	const char *const places[] = { counted_back, counted_leaf_then };

	for (size_t i = 0; i < HP_ARRAY_COUNT(ticks); i++) {
		ticks[i] = (struct hp_counted){ .kind = HP_COUNTED_TICK,
						.at = { offset_of(places[i]) } };
		ticks[i].to = ticks[i].at;
	}
	stratum.ticks = ticks;
	stratum.tick_count = HP_ARRAY_COUNT(ticks);
}

int compare_items(const void *a, const void *b)
{
	const struct hp_counted *x = a, *y = b;

	return hp_counted_compare(&x->place, &y->place);
}

const uint64_t entered[WINDOWS] = { 100, 102, 98, 100 };
const uint64_t around[WINDOWS] = { 1000, 1020, 980, 1000 };
static const uint64_t back[WINDOWS] = { 900, 918, 882, 900 };
const uint64_t zero[WINDOWS] = { 250, 255, 245, 250 };
const uint64_t other[WINDOWS] = { 750, 765, 735, 750 };

void count_all(void)
{
	find_self();
	item_count = 0;
	/* As an engine finds them: from where control arrives to the next branch or call. */
	block(counted_loop, counted_back, 3, entered);
	block(counted_body, counted_back, 1, back);
	block(counted_back, counted_end, 2, around);
	block(counted_end, counted_leaf, 2, entered);
	block(counted_leaf, counted_leaf_then, 2, around);
	block(counted_leaf_then, counted_hidden, 2, other);
	block(counted_leaf_end, counted_hidden, 1, zero);
	edge(HP_COUNTED_CALL, counted_body, counted_leaf, around);
	edge(HP_COUNTED_TAKEN, counted_jump, counted_body, back);
	edge(HP_COUNTED_FALL, counted_jump, counted_end, entered);
	edge(HP_COUNTED_TAKEN, counted_leaf_jump, counted_leaf_end, zero);
	edge(HP_COUNTED_FALL, counted_leaf_jump, counted_leaf_then, other);
	edge(HP_COUNTED_RETURN, counted_leaf_end, counted_back, around);
	edge(HP_COUNTED_INDIRECT_CALL, counted_hidden, counted_loop, entered);
	block(counted_hidden, counted_hidden_target, 4, entered);
	block(counted_hidden_target, counted_after, 2, entered);
	edge(HP_COUNTED_INDIRECT_JUMP, counted_hidden_jump, counted_hidden_target, entered);
	/* As much of it as its first instruction, however long that is. */
	block((const char *)(uintptr_t)counted_function,
	      (const char *)(uintptr_t)counted_function + 1, 1, other);
	qsort(items, item_count, sizeof(*items), compare_items);
	stratum = (struct hp_window_stratum){ .recording = 77,
					      .command = command,
					      .time_ns = 4000000000,
					      .items = items,
					      .item_count = item_count };
	for (size_t i = 0; i < WINDOWS; i++)
		(is_relative ? stratum.relative : stratum.groups)[i * PARTS] =
			(struct hp_window_group){ 1, window_ns };
	windows = (struct hp_window_evidence){
		.images = &self,
		.image_count = 1,
		.strata = &stratum,
		.stratum_count = 1,
		.price = { .shadows = 4,
			   .lost_ns = 20000000,
			   .target_ns = 4000000000,
			   .replay_ns = 800000000,
			   .budget_ppm = 10000 },
		.samples = 137,
		.matched = 137,
	};
	hp_assert_ok(hp_window_evidence_check(&windows));
}

struct hp_command_times command_times = { .command = command, .processes = 0 };

struct fixture *record_counts(const struct fixture_count *counts, size_t count)
{
	struct fixture_epoch epoch = { .counts = counts,
				       .count = count,
				       .clock_hz = 3e9,
				       .evidence = &windows,
				       .commands = &command_times,
				       .command_count = 1 };
	struct fixture *fixture = fixture_create();

	hp_assert_ok(hp_window_evidence_check(&windows));
	fixture_add(fixture, &epoch);
	return fixture;
}

struct fixture *record(uint64_t of_others)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 2000 - of_others),
		{ "cpu-clock:u", &self, "other", 0, 1000000, offset_of(counted_leaf_then),
		  of_others },
	};

	return record_counts(counts, of_others ? 3 : 2);
}

void keep_windows(size_t count)
{
	for (size_t i = 0; i < item_count; i++)
		for (size_t j = count; j < WINDOWS; j++)
			items[i].counts[j * PARTS] = 0;
	for (size_t i = count; i < WINDOWS; i++)
		stratum.groups[i * PARTS] = (struct hp_window_group){ 0 };
}

/* --- reports ---------------------------------------------------------------------------------- */

json_t *report_json(struct fixture *fixture, const struct hp_report_options *options)
{
	return json_parsed(fixture_output(fixture, options));
}

json_t *view_of(struct fixture *fixture, enum hp_report_view view)
{
	const struct hp_report_options options = { .view = view, .format = HP_FORMAT_JSON };

	return report_json(fixture, &options);
}

json_t *listed(struct fixture *fixture, const char *name)
{
	const struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
						   .format = HP_FORMAT_JSON,
						   .of.listed = name };

	return json_at(report_json(fixture, &options), "images.0.procedures.0");
}

json_t *instruction_at(json_t *procedure, const char *at)
{
	json_t *list = json_at(procedure, "instructions");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (strtoull(string_at(list, "%zu.address", i), NULL, 16) == link_address(at))
			return json_array_get(list, i);
	ck_abort_msg("no such instruction");
	return NULL;
}

double executions(json_t *procedure, const char *at, const char *which)
{
	return number_at(instruction_at(procedure, at), "executions.%s", which);
}

bool has_source(json_t *procedure, const char *source)
{
	json_t *list = json_at(procedure, "frequency_source");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(string_at(list, "%zu", i), source) == 0)
			return true;
	return false;
}

void assert_near(double value, double expected, double share)
{
	ck_assert_msg(fabs(value - expected) <= share * expected, "%g, not %g", value, expected);
}

void assert_figure(json_t *figure, const char *what, struct expected expected)
{
	double low = number_at(figure, "low");
	double high = number_at(figure, "high");
	double value = number_at(figure, "estimate");

	ck_assert_msg(fabs(value - expected.estimate) <= expected.within * expected.estimate,
		      "%s: %g, not %g", what, value, expected.estimate);
	ck_assert_msg(!(expected.low_above > 0) || low > expected.low_above, "%s: low %g", what,
		      low);
	ck_assert_msg(!(expected.low_below > 0) || low < expected.low_below, "%s: low %g", what,
		      low);
	ck_assert_msg(!(expected.high_above > 0) || high > expected.high_above, "%s: high %g", what,
		      high);
	ck_assert_msg(!(expected.high_below > 0) || high < expected.high_below, "%s: high %g", what,
		      high);
}

bool has_null(json_t *object)
{
	return json_is_null(json_at(object, "estimate")) && json_is_null(json_at(object, "low")) &&
	       json_is_null(json_at(object, "high"));
}

void assert_leaf_runs(struct fixture *fixture, double estimate, double within)
{
	assert_near(executions(listed(fixture, "counted_leaf"), counted_leaf, "estimate"), estimate,
		    within);
}

void sort_items(void)
{
	qsort(items, item_count, sizeof(*items), compare_items);
	stratum.item_count = item_count;
}

void forget_item(size_t i)
{
	memmove(&items[i], &items[i + 1], (item_count - i - 1) * sizeof(*items));
	stratum.item_count = --item_count;
}

#endif
