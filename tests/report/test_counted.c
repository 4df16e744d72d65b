/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows counted, from made-up windows of this very program to figures in reports. Four
 * windows of 100 ms, in which two procedures of known code ran, stand for 4 s: ten times as much.
 */
#include "../json.h"
#include "fixture.h"

#include <hpcprof/image/identity.h>
#include <hpcprof/report/comparison.h>
#include <hpcprof/report/export.h>
#include <hpcprof/uarch/resize.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

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
extern const char counted_loop[], counted_body[], counted_back[], counted_jump[], counted_end[];
extern const char counted_leaf[], counted_leaf_jump[], counted_leaf_then[], counted_leaf_end[];
extern const char counted_hidden[], counted_hidden_jump[], counted_hidden_target[];
extern const char counted_after[];

enum { LINE_OF_FUNCTION = __LINE__ + 3 };
int counted_function(int x);
__attribute__((noinline, noclone)) int counted_function(int x)
{
	return x + 1;
}

/* --- this program ----------------------------------------------------------------------------- */

struct own_segments {
	uintptr_t base;
	uint64_t offset;
};

static int find_text(struct dl_phdr_info *info, size_t size, void *found)
{
	struct own_segments *own = found;

	(void)size;
	own->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			own->offset = info->dlpi_phdr[i].p_offset - info->dlpi_phdr[i].p_vaddr;
	return 1;
}

static uint64_t link_address(const char *at)
{
	struct own_segments own = { 0 };

	dl_iterate_phdr(find_text, &own);
	return (uintptr_t)at - own.base;
}

static uint64_t offset_of(const char *at)
{
	struct own_segments own = { 0 };

	dl_iterate_phdr(find_text, &own);
	return (uintptr_t)at - own.base + own.offset;
}

static struct hp_image_id self;

static void find_self(void)
{
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_gt(length, 0);
	path[length] = 0;
	self = (struct hp_image_id){ .kind = HP_IMAGE_FILE, .path = path };
	hp_assert_ok(hp_identity_of_fd(fd, &self.identity));
	close(fd);
}

/* --- windows ---------------------------------------------------------------------------------- */

enum { WINDOWS = 4, PARTS = HP_WINDOW_PARTS, MOST_ITEMS = 24 };
static const uint64_t window_ns = 100000000;

static struct hp_counted items[MOST_ITEMS];
static size_t item_count;
static struct hp_window_stratum stratum;
static struct hp_window_evidence windows;
static char command[] = "t";
static bool is_relative;

/* Of windows of one part each. */
static void set_counts(struct hp_counted *item, const uint64_t *counts)
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

static void block(const char *start, const char *end, uint32_t instructions, const uint64_t *counts)
{
	counted((struct hp_counted){ .kind = HP_COUNTED_BLOCK,
				     .at = { offset_of(start) },
				     .bytes = (uint32_t)(end - start),
				     .instructions = instructions },
		counts);
}

static void edge(enum hp_counted_kind kind, const char *from, const char *to,
		 const uint64_t *counts)
{
	counted((struct hp_counted){ .kind = (uint8_t)kind,
				     .at = { offset_of(from) },
				     .to = { offset_of(to) } },
		counts);
}

/* Samples in windows: the loop's, and the leaf's after its branch. */
static struct hp_counted ticks[2];

/* In the part `part` of each window from `first` to `end`. */
static void put_ticks(size_t place, size_t first, size_t end, size_t part, uint64_t count)
{
	for (size_t i = first; i < end; i++)
		ticks[place].counts[i * PARTS + part] = count;
}

static void take_ticks(void)
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

static int compare_items(const void *a, const void *b)
{
	return hp_counted_compare(a, b);
}

/* In each window about 100 runs of counted_loop; a quarter of the calls find 0. */
static const uint64_t entered[WINDOWS] = { 100, 102, 98, 100 };
static const uint64_t around[WINDOWS] = { 1000, 1020, 980, 1000 };
static const uint64_t back[WINDOWS] = { 900, 918, 882, 900 };
static const uint64_t zero[WINDOWS] = { 250, 255, 245, 250 };
static const uint64_t other[WINDOWS] = { 750, 765, 735, 750 };

static void count_all(void)
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

static struct hp_command_times times = { .command = command, .processes = 0 };

/* A sample a millisecond. */
#define clock_at(at, samples)                                                                      \
	{                                                                                          \
		"cpu-clock:u", &self, "t", 0, 1000000, offset_of(at), samples                      \
	}

static struct fixture *record_counts(const struct fixture_count *counts, size_t count)
{
	struct fixture_epoch epoch = { .counts = counts,
				       .count = count,
				       .clock_hz = 3e9,
				       .evidence = &windows,
				       .commands = &times,
				       .command_count = 1 };
	struct fixture *fixture = fixture_create();

	hp_assert_ok(hp_window_evidence_check(&windows));
	fixture_add(fixture, &epoch);
	return fixture;
}

/* 4 s at 3 GHz: half of it in the loop, half in the leaf. Of the leaf some are of another command. */
static struct fixture *record(uint64_t of_others)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 2000 - of_others),
		{ "cpu-clock:u", &self, "other", 0, 1000000, offset_of(counted_leaf_then),
		  of_others },
	};

	return record_counts(counts, of_others ? 3 : 2);
}

SETUP
{
	count_all();
}

/* --- reports ---------------------------------------------------------------------------------- */

static json_t *report_json(struct fixture *fixture, const struct hp_report_options *options)
{
	return json_parsed(fixture_output(fixture, options));
}

static json_t *view_of(struct fixture *fixture, enum hp_report_view view)
{
	const struct hp_report_options options = { .view = view, .format = HP_FORMAT_JSON };

	return report_json(fixture, &options);
}

static json_t *listed(struct fixture *fixture, const char *name)
{
	const struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
						   .format = HP_FORMAT_JSON,
						   .of.listed = name };

	return json_at(report_json(fixture, &options), "images.0.procedures.0");
}

static json_t *instruction_at(json_t *procedure, const char *at)
{
	json_t *list = json_at(procedure, "instructions");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (strtoull(string_at(list, "%zu.address", i), NULL, 16) == link_address(at))
			return json_array_get(list, i);
	ck_abort_msg("no such instruction");
	return NULL;
}

static double executions(json_t *procedure, const char *at, const char *which)
{
	return number_at(instruction_at(procedure, at), "executions.%s", which);
}

static bool has_source(json_t *procedure, const char *source)
{
	json_t *list = json_at(procedure, "frequency_source");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(string_at(list, "%zu", i), source) == 0)
			return true;
	return false;
}

static void assert_near(double value, double expected, double share)
{
	ck_assert_msg(fabs(value - expected) <= share * expected, "%g, not %g", value, expected);
}

/* What a figure has to be; 0: whatever it is. */
struct expected {
	double estimate;
	double within; /* as a share */
	double low_above;
	double low_below;
	double high_above;
	double high_below;
};

static void assert_figure(json_t *figure, const char *what, struct expected expected)
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

/* All that a figure of executions has in JSON: numbers, or nothing. */
static bool has_null(json_t *object)
{
	return json_is_null(json_at(object, "estimate")) && json_is_null(json_at(object, "low")) &&
	       json_is_null(json_at(object, "high"));
}

static void assert_leaf_runs(struct fixture *fixture, double estimate, double within)
{
	assert_near(executions(listed(fixture, "counted_leaf"), counted_leaf, "estimate"), estimate,
		    within);
}

TEST(executions_are_those_of_the_windows_times_what_they_stand_for)
{
	static const struct {
		const char *at;
		double estimate;
	} rows[] = {
		{ counted_loop, 4000 },	 { counted_body, 40000 },      { counted_end, 4000 },
		{ counted_leaf, 40000 }, { counted_leaf_then, 30000 }, { counted_leaf_end, 40000 },
	};
	struct fixture *fixture = record(0);
	json_t *loop = listed(fixture, "counted_loop");
	json_t *leaf = listed(fixture, "counted_leaf");
	double cycles = 0;

	ck_assert(has_source(loop, "shadow"));
	ck_assert(!has_source(loop, "counts"));
	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++)
		assert_near(executions(i < 3 ? loop : leaf, rows[i].at, "estimate"),
			    rows[i].estimate, 0.04);
	/* Windows vary by 2 %, but that four do is no proof. */
	assert_figure(
		json_at(instruction_at(loop, counted_body), "executions"), "the loop's body",
		(struct expected){ 40000, 0.04, 40000 * 0.75, 40000 * 0.99, 40000 * 1.01, 0 });
	/* 2000 samples of 3 million cycles each over 40000 executions, nearly all of them there. */
	cycles += number_at(instruction_at(loop, counted_back), "cycles.per_execution");
	cycles += number_at(instruction_at(loop, counted_body), "cycles.per_execution");
	cycles += number_at(instruction_at(loop, counted_jump), "cycles.per_execution");
	assert_near(cycles, 2000 * 3e6 / 40000, 0.05);
}

/* The sum of the column of cycles, which is the fourth from the right; none after it is quoted. */
static double csv_cycles(const char *csv)
{
	const char *line = strstr(csv, "\r\n");
	double sum = 0;

	ck_assert_ptr_nonnull(strstr(csv, ",cycles,cycles_per_execution,best_case,stalls\r\n"));
	while (line[2]) {
		const char *field = line = strstr(line + 2, "\r\n");

		for (unsigned i = 0; i < 4; i++)
			while (*--field != ',')
				;
		sum += strtod(field + 1, NULL);
	}
	return sum;
}

/* Samples come an instruction late, and cycles are of the instruction before: most rows have only one
 * of both. */
TEST(cycles_of_instructions_add_up_to_those_of_the_program)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),	 clock_at(counted_leaf_then, 1500),
		clock_at(counted_leaf_end, 500), clock_at(counted_body + 1, 7),
		clock_at(counted_hidden, 3),
	};
	const struct hp_report_options csv = { .view = HP_VIEW_INSTRUCTIONS,
					       .format = HP_FORMAT_CSV };
	struct fixture_epoch epoch = { .counts = counts,
				       .count = HP_ARRAY_COUNT(counts),
				       .clock_hz = 3e9,
				       .skid_instructions = 1 };
	struct fixture *fixture = fixture_create();
	json_t *list;
	double sum = 0, without_samples = 0;

	fixture_add(fixture, &epoch);
	list = json_at(view_of(fixture, HP_VIEW_INSTRUCTIONS), "images.0.procedures");
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *rows = json_at(list, "%zu.instructions", i);

		for (size_t j = 0; j < json_array_size(rows); j++) {
			double cycles = number_at(rows, "%zu.cycles.total", j);

			sum += cycles;
			without_samples += number_at(rows, "%zu.samples.0", j) > 0 ? 0 : cycles;
		}
	}
	/* The clock's histogram has steps of a percent. */
	assert_near(sum, 4010 * 3e6, 0.01);
	ck_assert_double_gt(without_samples, 0.4 * sum);
	assert_near(csv_cycles(fixture_output(fixture, &csv)), sum, 1e-4);
	list = json_at(view_of(fixture, HP_VIEW_PROCEDURES), "images.0.procedures");
	ck_assert_uint_eq(json_array_size(list), 3);
	assert_near(sum, 4010 * number_at(view_of(fixture, HP_VIEW_STALLS), "stack.cycles") / 4007,
		    1e-9);
}

/* How often anything ran is in no view, but which way branches go, is. */
static void assert_insufficient(struct fixture *fixture)
{
	json_t *loop = listed(fixture, "counted_loop");
	json_t *body = instruction_at(loop, counted_body);
	json_t *document = view_of(fixture, HP_VIEW_CALLS);

	ck_assert(has_null(json_at(body, "executions")));
	ck_assert(json_is_null(json_at(body, "cycles.per_execution")));
	/* One window says little even of that. */
	assert_near(executions(loop, counted_loop, "relative"), 0.1, 0.5);
	ck_assert_uint_eq(json_array_size(json_at(document, "calls")), 2);
	ck_assert(has_null(json_at(document, "calls.0.calls")));
	document = view_of(fixture, HP_VIEW_EXECUTIONS);
	ck_assert(has_null(json_at(document, "procedures.0.calls")));
	ck_assert(has_null(json_at(document, "procedures.0.instructions")));
	ck_assert(has_null(json_at(document, "lines.0.executions")));
	document = view_of(fixture, HP_VIEW_PROCEDURES);
	ck_assert(has_null(json_at(document, "images.0.procedures.0.counts.calls")));
	ck_assert(json_is_null(json_at(document, "images.0.procedures.0.counts.cycles_per_call")));
}

static void keep_windows(size_t count)
{
	for (size_t i = 0; i < item_count; i++)
		for (size_t j = count; j < WINDOWS; j++)
			items[i].counts[j * PARTS] = 0;
	for (size_t i = count; i < WINDOWS; i++)
		stratum.groups[i * PARTS] = (struct hp_window_group){ 0 };
}

TEST(one_window_is_not_enough_to_tell_how_often)
{
	keep_windows(1);
	assert_insufficient(record(0));
}

TEST(one_window_and_a_moment_are_not_enough_either)
{
	keep_windows(2);
	for (size_t i = 0; i < item_count; i++)
		items[i].counts[PARTS] /= 25;
	stratum.groups[PARTS].time_ns /= 25;
	assert_insufficient(record(0));
}

TEST(two_windows_that_agree_are_enough)
{
	keep_windows(2);
	assert_near(executions(listed(record(0), "counted_loop"), counted_body, "estimate"),
		    20 * (1000 + 1020), 0.04);
}

/* Of the time of windows three quarters were in the loop, of all of it half: windows came by the
 * leaf too seldom, and by the loop too often. */
TEST(counts_are_of_the_time_of_their_procedure)
{
	json_t *list;

	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 7500);
	put_ticks(1, 0, WINDOWS, 0, 2500);
	list = json_at(view_of(record(0), HP_VIEW_PROCEDURES), "images.0.procedures");
	assert_near(number_at(json_with(list, "name", "counted_leaf"), "counts.calls.estimate"),
		    40000 * 2, 0.05);
	assert_near(number_at(json_with(list, "name", "counted_loop"), "counts.calls.estimate"),
		    4000 / 1.5, 0.05);
}

/* Of twenty samples in windows twelve where ten are due are chance. */
TEST(a_few_samples_are_no_reason_to_think_that_windows_were_elsewhere)
{
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 3);
	put_ticks(1, 0, WINDOWS, 0, 2);
	assert_leaf_runs(record(0), 40000, 0.01);
}

/* Windows came by the leaf a few times, but not where its time went: 160 executions of 12 ms each
 * there cannot be. */
TEST(a_few_counts_beside_much_time_are_of_another_occasion)
{
	uint64_t start = offset_of(counted_leaf);
	struct fixture *fixture;
	json_t *leaf;

	for (size_t i = 0; i < item_count; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS &&
				   items[i].at.value - start < offset_of(counted_hidden) - start;
		     j++)
			items[i].counts[j] /= 240;
	take_ticks();
	stratum.tick_count = 1;
	put_ticks(0, 0, WINDOWS, 0, 100);
	fixture = record(0);
	leaf = listed(fixture, "counted_leaf");
	ck_assert(has_null(json_at(instruction_at(leaf, counted_leaf_then), "executions")));
	ck_assert_double_gt(executions(listed(fixture, "counted_loop"), counted_loop, "estimate"),
			    0);
}

/* The same of one way through the leaf, while windows saw the other as often as it ran. */
TEST(so_are_those_of_one_way_through_a_procedure)
{
	static const uint64_t hardly[WINDOWS] = { 2, 3, 3, 2 };
	static const uint64_t mostly[WINDOWS] = { 998, 1017, 977, 998 };
	json_t *figure;

	for (size_t i = 0; i < item_count; i++) {
		bool is_then = items[i].at.value == offset_of(counted_leaf_then) ||
			       items[i].to.value == offset_of(counted_leaf_then);
		bool is_end = items[i].kind == HP_COUNTED_BLOCK
				      ? items[i].at.value == offset_of(counted_leaf_end)
				      : items[i].to.value == offset_of(counted_leaf_end);

		if (is_then || is_end)
			set_counts(&items[i], is_then ? hardly : mostly);
	}
	take_ticks();
	ticks[1].at.value = ticks[1].to.value = offset_of(counted_leaf_end);
	put_ticks(0, 0, WINDOWS, 0, 50);
	put_ticks(1, 0, WINDOWS, 0, 50);
	figure = json_at(instruction_at(listed(record(0), "counted_leaf"), counted_leaf_then),
			 "executions");
	ck_assert(has_null(figure) || number_at(figure, "high") > 1000);
}

/* Half of all time was another command's, which had no windows and ran other code: that is no
 * reason to think that windows came by anything too often. */
TEST(commands_without_windows_are_no_part_of_their_time)
{
	struct hp_image_id elsewhere = self;
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 2000),
		{ "cpu-clock:u", &elsewhere, "other", 0, 1000000, 0x1000, 4000 },
	};

	elsewhere.path = (char[]){ "/nowhere/at/all" };
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 5000);
	put_ticks(1, 0, WINDOWS, 0, 5000);
	assert_leaf_runs(record_counts(counts, HP_ARRAY_COUNT(counts)), 40000, 0.04);
}

/* What the report says of counted_leaf's jump being taken. */
static json_t *taken(void)
{
	return json_with(json_at(listed(record(0), "counted_leaf"), "cfg.edge_list"), "kind",
			 "jump");
}

TEST(edges_are_those_of_the_windows)
{
	assert_near(number_at(taken(), "estimate"), 10000, 0.01);
}

/* Sixteen times in all: that all windows saw it four times is luck. Of a number that varies as
 * chance has it 16 plus or minus 4 are two thirds. */
TEST(what_was_seen_a_few_times_is_not_certain_because_windows_agree)
{
	for (size_t i = 0; i < item_count; i++) {
		uint64_t *counts = items[i].counts;
		bool is_other = counts[0] == other[0];
		bool is_zero = counts[0] == zero[0];

		for (size_t j = 0; j < WINDOWS && (is_other || is_zero); j++)
			counts[j * PARTS] = is_other ? around[j] - 4 : 4;
	}
	assert_figure(taken(), "the jump",
		      (struct expected){ 160, 0.03, .low_below = 120, .high_above = 200 });
}

TEST(a_jump_that_only_windows_saw_is_an_edge)
{
	json_t *hidden = listed(record(0), "counted_hidden");

	ck_assert_double_eq(number_at(hidden, "cfg.edges"), 1);
	assert_near(executions(hidden, counted_hidden_target, "estimate"), 4000, 0.02);
}

/* How often the leaf ran is not known, but that in three of four runs it went straight on. */
static void assert_relative(struct fixture *fixture)
{
	json_t *leaf = listed(fixture, "counted_leaf");

	ck_assert(json_is_null(json_at(instruction_at(leaf, counted_leaf), "executions.estimate")));
	assert_near(executions(leaf, counted_leaf_then, "relative"), 0.75, 0.02);
	ck_assert(has_source(leaf, "shadow"));
}

TEST(truncated_windows_only_say_how_counts_are_to_each_other)
{
	is_relative = true;
	count_all();
	assert_relative(record(0));
}

/* Of 4 s that were sampled of the command only 1 is told of: the rest was merged to it. */
TEST(time_that_nobody_told_of_makes_counts_relative)
{
	stratum.time_ns = 1000000000;
	assert_relative(record(0));
}

/* A tenth of the time at most may be of commands that nobody counted. */
TEST(commands_without_windows_are_allowed_for_or_make_counts_relative)
{
	struct fixture *fixture = record(200);
	json_t *leaf = listed(fixture, "counted_leaf");

	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 40000 / 0.95, 0.02, .low_below = 40000 * 0.98 });
	assert_near(number_at(view_of(fixture, HP_VIEW_CALLS), "calls.0.calls.estimate"),
		    40000 / 0.95, 0.005);
	assert_relative(record(1000));
}

static const char *text_of(struct fixture *fixture, enum hp_report_view view, const char *name,
			   enum hp_report_format format)
{
	struct hp_report_options options = { .view = view, .of.listed = name, .format = format };

	return fixture_output(fixture, &options);
}

static void assert_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

TEST(procedures_have_calls_and_what_one_costs)
{
	/* Two before the loop, three in it, two after it; two or four. */
	static const struct {
		const char *name;
		double calls;
		double instructions;
	} rows[] = {
		{ "counted_leaf", 40000, 40000 * 3 + 30000 },
		{ "counted_loop", 4000, 4000 * 4 + 40000 * 3 },
	};
	struct fixture *fixture = record(0);
	json_t *list = json_at(view_of(fixture, HP_VIEW_PROCEDURES), "images.0.procedures");

	ck_assert_uint_eq(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *counts = json_at(json_with(list, "name", rows[i].name), "counts");

		assert_near(number_at(counts, "calls.estimate"), rows[i].calls, 0.001);
		assert_near(number_at(counts, "instructions.estimate"), rows[i].instructions,
			    0.001);
		assert_near(number_at(counts, "cycles_per_call"), 6e9 / rows[i].calls, 0.003);
		assert_near(number_at(counts, "instructions_per_cycle"), rows[i].instructions / 6e9,
			    0.003);
	}
	assert_contains(text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT), "cycles/call");
	assert_contains(text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_CSV),
			",calls,calls_low,calls_high,instructions,cycles_per_call,"
			"instructions_per_cycle");
}

TEST(texts_say_what_was_counted_at_which_price_trips_and_which_way_branches_go)
{
	static const struct {
		enum hp_report_view view;
		const char *listed;
		enum hp_report_format format;
		const char *said;
	} rows[] = {
		{ HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT,
		  "# counted    by 4 shadow windows: 0.40 s of 4.00 s in user code\n" },
		{ HP_VIEW_SUMMARY, NULL, HP_FORMAT_TEXT,
		  "cost the program 0.50 % of its time (budget 1 %)" },
		{ HP_VIEW_SUMMARY, NULL, HP_FORMAT_TEXT, "100 % of their samples were matched" },
		{ HP_VIEW_ANNOTATE, "counted_loop", HP_FORMAT_TEXT,
		  "head of a loop, depth 1, 10.0 iterations per entry, jumps 90 % of the time" },
		{ HP_VIEW_ANNOTATE, "counted_leaf", HP_FORMAT_TEXT, "jumps 25 % of the time" },
		{ HP_VIEW_INSTRUCTIONS, "counted_loop", HP_FORMAT_DOT, "(90 %)" },
		{ HP_VIEW_CALLS, NULL, HP_FORMAT_TEXT, "counted_leaf" },
		{ HP_VIEW_CALLS, NULL, HP_FORMAT_CSV, ",call,counted_loop," },
	};
	struct fixture *fixture = record(0);

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++)
		assert_contains(text_of(fixture, rows[i].view, rows[i].listed, rows[i].format),
				rows[i].said);
}

TEST(without_a_window_the_header_says_why_and_counts_none)
{
	static char refused[] = "over budget";
	struct hp_window_reason refusal = { .what = refused, .is_refusal = true, .count = 3 };
	const char *text;

	keep_windows(0);
	stratum.item_count = 0;
	windows.reasons = &refusal;
	windows.reason_count = 1;
	windows.samples = windows.matched = 0;
	text = text_of(record(0), HP_VIEW_SUMMARY, NULL, HP_FORMAT_TEXT);
	assert_contains(text, "# windows    cost the program 0.50 % of its time (budget 1 %)\n");
	assert_contains(text, "windows refused: over budget 3 times\n");
	ck_assert_ptr_null(strstr(text, "# counted"));
}

/* Two phases, one of which had three quarters of the time: what ran in the other, sampled or not,
 * has a quarter. That is half of what the windows of the other phase saw of it. */
static void assert_weighted(double seen)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 3000),
		clock_at(counted_leaf_then, 1000),
	};
	json_t *call = json_at(view_of(record_counts(counts, 2), HP_VIEW_CALLS), "calls.1");

	ck_assert_str_eq(string_at(call, "caller.name"), "counted_hidden");
	assert_near(number_at(call, "calls.estimate"), 10 * seen / 2, 0.1);
}

/* Two windows saw each. */
TEST(phases_have_the_weight_of_their_time)
{
	for (size_t i = 0; i < item_count; i++)
		for (size_t j = 0; j < WINDOWS / 2; j++)
			if (items[i].at.value == offset_of(counted_hidden))
				items[i].counts[j * PARTS] = 0;
	take_ticks();
	put_ticks(0, 0, WINDOWS / 2, 0, 100);
	put_ticks(1, WINDOWS / 2, WINDOWS, 0, 100);
	assert_weighted(98 + 100);
}

/* All windows alike saw the one phase in their first half and the other in their second. */
TEST(phases_within_windows_have_the_weight_of_their_time_too)
{
	for (size_t i = 0; i < WINDOWS; i++) {
		stratum.groups[i * PARTS].time_ns = window_ns / 2;
		stratum.groups[i * PARTS + 1].time_ns = window_ns / 2;
		for (size_t j = 0; j < item_count; j++)
			if (items[j].at.value == offset_of(counted_hidden)) {
				items[j].counts[i * PARTS + 1] = items[j].counts[i * PARTS];
				items[j].counts[i * PARTS] = 0;
			}
	}
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 50);
	put_ticks(1, 0, WINDOWS, 1, 50);
	assert_weighted(100 + 102 + 98 + 100);
}

TEST(calls_are_edges_between_procedures)
{
	static const struct {
		const char *caller;
		const char *callee;
		double calls;
	} rows[] = { { "counted_loop", "counted_leaf", 40000 },
		     { "counted_hidden", "counted_loop", 4000 } };
	struct hp_report_options options = { .view = HP_VIEW_CALLS, .format = HP_FORMAT_JSON };
	struct fixture *fixture = record(0);
	json_t *document = report_json(fixture, &options);

	ck_assert_str_eq(string_at(document, "schema"), "hpcprof-calls/1");
	ck_assert_uint_eq(json_array_size(json_at(document, "calls")), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *call = json_at(document, "calls.%zu", i);

		ck_assert_str_eq(string_at(call, "caller.name"), rows[i].caller);
		ck_assert_str_eq(string_at(call, "callee.name"), rows[i].callee);
		assert_near(number_at(call, "calls.estimate"), rows[i].calls, 0.001);
	}
	/* Those that a procedure makes and those that reach it. */
	options.of.procedure = "counted_hidden";
	ck_assert_uint_eq(json_array_size(json_at(report_json(fixture, &options), "calls")), 1);
}

TEST(executions_are_of_procedures_and_of_lines_sampled_or_not)
{
	struct hp_report_options options = { .view = HP_VIEW_EXECUTIONS,
					     .format = HP_FORMAT_JSON,
					     .of.no_debuginfo = true };
	json_t *document = report_json(record(0), &options);
	json_t *list = json_at(document, "procedures");
	json_t *hidden = json_with(list, "name", "counted_hidden");
	size_t lines = 0;

	ck_assert_uint_eq(json_array_size(list), 4);
	assert_near(number_at(hidden, "calls.estimate"), 4000, 0.001);
	assert_near(number_at(hidden, "instructions.estimate"), 4000 * 6, 0.001);
	list = json_at(document, "lines");
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (strcmp(string_at(list, "%zu.procedure", i), "counted_function") != 0)
			continue;
		lines++;
		ck_assert_double_ge(number_at(list, "%zu.line", i), LINE_OF_FUNCTION);
		ck_assert_double_le(number_at(list, "%zu.line", i), LINE_OF_FUNCTION + 2);
		assert_near(number_at(list, "%zu.executions.estimate", i), 30000, 0.001);
	}
	ck_assert_uint_gt(lines, 0);
}

TEST(without_windows_there_are_no_counts_and_the_way_to_them_is_told)
{
	static const enum hp_report_view views[] = { HP_VIEW_CALLS, HP_VIEW_EXECUTIONS };
	static const enum hp_report_format formats[] = { HP_FORMAT_TEXT, HP_FORMAT_JSON,
							 HP_FORMAT_CSV };
	struct fixture *fixture;

	windows = (struct hp_window_evidence){ 0 };
	fixture = record(0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(views) * HP_ARRAY_COUNT(formats); i++) {
		struct hp_report_options options = { .view = views[i / HP_ARRAY_COUNT(formats)],
						     .format =
							     formats[i % HP_ARRAY_COUNT(formats)] };
		struct hp_error *error = fixture_report(fixture, &options, NULL);

		ck_assert_ptr_nonnull(error);
		ck_assert_int_eq(error->class, HP_ERROR_INSUFFICIENT);
		assert_contains(error->advice, "record --shadow");
		hp_error_destroy(error);
		/* Half a document would be worse than none. */
		if (options.format != HP_FORMAT_TEXT)
			ck_assert_str_eq(fixture->output, "");
	}
}

TEST(who_asks_for_costs_without_counts_is_told_of_them_once)
{
	struct fixture *fixture = record(0);

	text_of(fixture, HP_VIEW_ANNOTATE, "counted_loop", HP_FORMAT_TEXT);
	ck_assert_uint_eq(fixture->hints, 0);
	/* What else is known of the command is no window. */
	stratum = (struct hp_window_stratum){ .recording = 77, .command = command };
	windows = (struct hp_window_evidence){ .strata = &stratum, .stratum_count = 1 };
	fixture = record(0);
	text_of(fixture, HP_VIEW_INSTRUCTIONS, "counted_loop", HP_FORMAT_JSON);
	text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT);
	ck_assert_uint_eq(fixture->hints, 0);
	text_of(fixture, HP_VIEW_ANNOTATE, "counted_loop", HP_FORMAT_TEXT);
	ck_assert_uint_eq(fixture->hints, 1);
	text_of(fixture, HP_VIEW_STALLS, NULL, HP_FORMAT_TEXT);
	ck_assert_uint_eq(fixture->hints, 2);
}

/* Another recording of the same, of 1 s, which had no windows: it ran likewise, presumably. */
TEST(recordings_without_windows_ran_like_those_with_them)
{
	struct hp_window_stratum strata[] = {
		stratum, { .recording = 78, .command = command, .time_ns = 1000000000 }
	};
	json_t *leaf;

	windows.strata = strata;
	windows.stratum_count = 2;
	leaf = listed(record(0), "counted_leaf");
	/* Time has a little say in what is that uncertain: a guess about a fifth of it. */
	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 50000, 0.05, .low_below = 50000 / 1.2 });
	strata[1].time_ns = 40000000000;
	assert_relative(record(0));
}

/* Two recordings, of which windows cover different shares: each count stands for its own. */
TEST(each_recording_has_its_own_share_of_time_counted)
{
	struct hp_window_stratum strata[] = { stratum, stratum };
	struct fixture *fixture;
	json_t *list;

	strata[1].recording = 78;
	strata[1].time_ns = 8000000000;
	windows.strata = strata;
	windows.stratum_count = 2;
	fixture = record(0);
	assert_leaf_runs(fixture, 40000 + 80000, 0.01);
	list = json_at(view_of(fixture, HP_VIEW_CALLS), "calls");
	/* What both recordings saw is one row. */
	ck_assert_uint_eq(json_array_size(list), 2);
	assert_near(number_at(list, "0.calls.estimate"), 40000 + 80000, 0.001);
}

static void sort_items(void)
{
	qsort(items, item_count, sizeof(*items), compare_items);
	stratum.item_count = item_count;
}

/* Counts of windows that waited for other threads are left out where others tell how often. */
TEST(relative_counts_do_not_add_to_absolute_ones)
{
	is_relative = true;
	block(counted_leaf, counted_leaf_then, 2, around);
	sort_items();
	assert_leaf_runs(record(0), 40000, 0.01);
}

/* Of the leaf, in a list of all procedures. */
static json_t *leaf_calls(void)
{
	json_t *list = json_at(view_of(record(0), HP_VIEW_EXECUTIONS), "procedures");

	return json_at(json_with(list, "name", "counted_leaf"), "calls");
}

TEST(a_procedure_that_calls_itself_is_called_and_one_that_jumps_back_is_not)
{
	static const enum hp_counted_kind kinds[] = { HP_COUNTED_CALL, HP_COUNTED_JUMP };
	static const double expected[] = { 40000, 10000 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kinds); i++) {
		count_all();
		edge(kinds[i], counted_leaf_then, counted_leaf, other);
		sort_items();
		assert_near(number_at(leaf_calls(), "estimate"), expected[i], 0.001);
	}
}

static void forget_item(size_t i)
{
	memmove(&items[i], &items[i + 1], (item_count - i - 1) * sizeof(*items));
	stratum.item_count = --item_count;
}

/* Windows saw the procedure's middle only; each that was seen stands for ten. */
TEST(calls_that_no_window_saw_have_an_upper_end)
{
	json_t *calls;

	for (size_t i = 0; i < item_count; i++)
		if (items[i].kind == HP_COUNTED_BLOCK &&
		    items[i].at.value == offset_of(counted_leaf))
			forget_item(i);
	calls = leaf_calls();
	ck_assert_double_eq(number_at(calls, "estimate"), 0);
	ck_assert_double_eq(number_at(calls, "low"), 0);
	ck_assert_double_ge(number_at(calls, "high"), 10);
	ck_assert_double_lt(number_at(calls, "high"), 1000);
}

TEST(what_windows_lost_cost_and_ran_beside_makes_counts_less_certain)
{
	const uint64_t target_ns = windows.price.target_ns;
	const double undisturbed = (windows.price.replay_ns = 0, number_at(leaf_calls(), "high"));
	const struct {
		const char *name;
		uint64_t samples;
		uint64_t lost_ns;
		uint64_t replay_ns;
		uint64_t beside_ns;
		struct expected expected;
	} rows[] = {
		/* As copies lost their way: where they do counts are too few. */
		{ "a quarter of the samples is missing", .samples = 182,
		  .expected = { .low_below = 40000 * 0.88, .high_above = 40000 / 0.88 } },
		/* How much of that was in them is not known. */
		{ "as much as the windows' time was lost to them", .lost_ns = WINDOWS * window_ns,
		  .expected = { .low_below = 40000 / 1.1, .high_above = 40000 * 1.1 } },
		/* The program may have been slower then. */
		{ "copies ran all of the time but in windows", .replay_ns = 2 * target_ns,
		  .expected = { .low_below = 40000 / 1.045,
				.high_above = 1.005 * undisturbed,
				.high_below = 40000 * 1.2 } },
		/* These saw that. */
		{ "copies ran beside windows as well", .replay_ns = 2 * target_ns,
		  .beside_ns = WINDOWS * window_ns,
		  .expected = { .high_above = undisturbed * (1 - 1e-9),
				.high_below = undisturbed * (1 + 1e-9) } },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		struct expected expected = rows[i].expected;

		count_all();
		if (rows[i].samples)
			windows.samples = rows[i].samples;
		if (rows[i].lost_ns)
			windows.price.lost_ns = rows[i].lost_ns;
		if (rows[i].replay_ns)
			windows.price.replay_ns = rows[i].replay_ns;
		windows.price.beside_ns = rows[i].beside_ns;
		expected.estimate = 40000;
		expected.within = 0.001;
		assert_figure(leaf_calls(), rows[i].name, expected);
	}
}

/* --- branch records, registers, probes ------------------------------------------------------------ */

static void range(enum hp_counted_kind kind, const char *from, const char *to, uint64_t count)
{
	const uint64_t counts[WINDOWS] = { count / 4, count / 4, count / 4, count / 4 };

	is_relative = true;
	edge(kind, from, to, counts);
}

/* The leaf takes 5 cycles to its branch, or on to its end, whichever way it goes, and the end alone
 * 2: from 1.8e9 and 0.18e9 cycles it was entered 3.6e8 times, and went straight on in 2.7e8. Records
 * stand for half of the samples. */
TEST(branch_records_with_cycles_tell_how_often_code_ran)
{
	const struct fixture_count counts[] = {
		{ "cycles:u", &self, "t", 0, 1000000, offset_of(counted_back), 4000 },
		{ "cycles:u", &self, "t", 0, 1000000, offset_of(counted_leaf_then), 4000 },
	};
	const struct fixture_epoch epoch = { .counts = counts,
					     .count = HP_ARRAY_COUNT(counts),
					     .evidence = &windows,
					     .commands = &times,
					     .command_count = 1 };
	const struct hp_report_options options = { .view = HP_VIEW_ANNOTATE,
						   .of.listed = "counted_leaf",
						   .all = true };
	struct fixture *fixture = fixture_create();
	json_t *leaf;

	item_count = 0;
	range(HP_COUNTED_RANGE, counted_leaf, counted_leaf_end, 300);
	range(HP_COUNTED_RANGE_CYCLES, counted_leaf, counted_leaf_end, 1500);
	range(HP_COUNTED_RANGE, counted_leaf, counted_leaf_jump, 100);
	range(HP_COUNTED_RANGE_CYCLES, counted_leaf, counted_leaf_jump, 500);
	range(HP_COUNTED_RANGE_TIME, counted_leaf, counted_leaf, 1800000000);
	range(HP_COUNTED_RANGE, counted_leaf_end, counted_leaf_end, 100);
	range(HP_COUNTED_RANGE_CYCLES, counted_leaf_end, counted_leaf_end, 200);
	range(HP_COUNTED_RANGE_TIME, counted_leaf_end, counted_leaf_end, 180000000);
	sort_items();
	stratum = (struct hp_window_stratum){
		.recording = 77, .command = command, .ranges = items, .range_count = item_count
	};
	for (unsigned i = 0; i < WINDOWS; i++)
		stratum.record_cycles[i * PARTS] = 1000000000;
	hp_assert_ok(hp_window_evidence_check(&windows));
	fixture_add(fixture, &epoch);
	leaf = listed(fixture, "counted_leaf");
	ck_assert(has_source(leaf, "counters"));
	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 2 * 3.6e8, 0.02, .low_below = 2 * 3.6e8 / 1.05,
					 .high_above = 2 * 3.6e8 * 1.05 });
	assert_near(executions(leaf, counted_leaf_then, "estimate"), 2 * 2.7e8, 0.02);
	assert_contains(fixture_output(fixture, &options), "2.0 cycles by branch records");
}

static struct hp_counted outcome(enum hp_counted_kind kind, const char *at, const char *to,
				 uint64_t by_registers, uint64_t by_records)
{
	struct hp_counted item = { .kind = (uint8_t)kind,
				   .is_relative = true,
				   .at = { offset_of(at) },
				   .to = { offset_of(to) } };

	item.counts[HP_OUTCOMES_OF_REGISTERS] = by_registers;
	item.counts[HP_OUTCOMES_OF_RECORDS] = by_records;
	return item;
}

/* Nothing else is known but where control went. */
static void know_outcomes(struct hp_counted outcomes[2], uint64_t followed)
{
	stratum = (struct hp_window_stratum){ .recording = 77,
					      .command = command,
					      .outcomes = outcomes,
					      .outcome_count = 2,
					      .followed = followed };
}

/* Samples come where time is spent, and their registers tell of what is near; records of all. */
TEST(branch_records_are_believed_before_registers)
{
	static const struct {
		const char *name;
		uint64_t taken[2]; /* by registers, by records */
		uint64_t straight[2];
		double probability;
	} rows[] = {
		{ "registers alone", { 500, 0 }, { 500, 0 }, 0.5 },
		{ "records alone", { 0, 100 }, { 0, 900 }, 0.1 },
		{ "both", { 500, 100 }, { 500, 900 }, 0.1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		struct hp_counted outcomes[] = {
			outcome(HP_COUNTED_TAKEN, counted_leaf_jump, counted_leaf_end,
				rows[i].taken[0], rows[i].taken[1]),
			outcome(HP_COUNTED_FALL, counted_leaf_jump, counted_leaf_then,
				rows[i].straight[0], rows[i].straight[1]),
		};
		json_t *leaf;
		double taken_share;

		know_outcomes(outcomes, 1000);
		leaf = listed(record(0), "counted_leaf");
		ck_assert_msg(has_source(leaf, "registers"), "%s", rows[i].name);
		taken_share = number_at(leaf, "cfg.edge_list.1.probability");
		ck_assert_msg(fabs(taken_share - rows[i].probability) <= rows[i].probability / 4,
			      "%s: %g, not %g", rows[i].name, taken_share, rows[i].probability);
	}
}

/* The jump goes to either of the two instructions behind it. */
TEST(registers_tell_where_indirect_jumps_go)
{
	const struct fixture_count counts[] = { clock_at(counted_hidden, 1000) };
	struct hp_counted outcomes[] = {
		outcome(HP_COUNTED_INDIRECT_JUMP, counted_hidden_jump, counted_hidden_target, 1600,
			0),
		outcome(HP_COUNTED_INDIRECT_JUMP, counted_hidden_jump, counted_hidden_target + 1,
			400, 0),
	};
	json_t *hidden;

	know_outcomes(outcomes, 2000);
	hidden = listed(record_counts(counts, 1), "counted_hidden");
	ck_assert(has_source(hidden, "registers"));
	assert_near(number_at(hidden, "cfg.edge_list.0.probability"), 0.8, 0.1);
	assert_near(number_at(hidden, "cfg.edge_list.1.probability"), 0.2, 0.25);
}

/* In each of four moments of 5 ms the leaf was entered 50 times: 40000 times in 4 s. What was never
 * hit may have run at other times. */
TEST(probes_tell_how_often_what_they_hit_ran_and_nothing_of_what_they_did_not)
{
	static const uint64_t hits[WINDOWS] = { 50, 52, 48, 50 };
	static const uint64_t moments[WINDOWS] = { 5000000, 5000000, 5000000, 5000000 };
	struct fixture *fixture;
	json_t *leaf;
	json_t *loop;

	item_count = 0;
	edge(HP_COUNTED_PROBE, counted_leaf, counted_leaf, hits);
	edge(HP_COUNTED_PROBE_TIME, counted_leaf, counted_leaf, moments);
	edge(HP_COUNTED_PROBE_TIME, counted_loop, counted_loop, moments);
	sort_items();
	stratum = (struct hp_window_stratum){ .recording = 77,
					      .command = command,
					      .time_ns = 4000000000,
					      .probes = items,
					      .probe_count = item_count };
	fixture = record(0);
	leaf = listed(fixture, "counted_leaf");
	ck_assert(has_source(leaf, "probes"));
	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 40000, 0.1, .low_below = 40000 / 1.05,
					 .high_above = 40000 * 1.05 });
	loop = listed(fixture, "counted_loop");
	ck_assert(!has_source(loop, "probes"));
	ck_assert(has_null(json_at(instruction_at(loop, counted_loop), "executions")));
}

/* --- what windows did not see -------------------------------------------------------------------- */

/* The windows never saw the branch taken: it was not often, and nobody says never. */
TEST(what_no_window_saw_has_an_upper_end)
{
	json_t *leaf;
	double end;

	for (size_t i = item_count; i-- > 0;) {
		if (items[i].at.value == offset_of(counted_leaf_then) ||
		    items[i].kind == HP_COUNTED_FALL)
			set_counts(&items[i], around);
		if (items[i].at.value == offset_of(counted_leaf_end) ||
		    (items[i].kind == HP_COUNTED_TAKEN &&
		     items[i].to.value == offset_of(counted_leaf_end)))
			forget_item(i);
	}
	leaf = listed(record(0), "counted_leaf");
	assert_near(executions(leaf, counted_leaf_then, "estimate"), 40000, 0.02);
	end = number_at(leaf, "cfg.edge_list.1.high");
	ck_assert_double_gt(end, 1);
	ck_assert_double_lt(end, 4000);
}

/* In windows the branch was always taken, but half of the leaf's samples are where it was not: that
 * ran when there was no window, and nobody knows how often. */
TEST(what_samples_found_and_no_window_did_is_not_said_to_be_rare)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 1000),
		clock_at(counted_leaf_end, 1000),
	};
	json_t *leaf;
	json_t *high;

	for (size_t i = item_count; i-- > 0;) {
		bool is_jump = items[i].at.value == offset_of(counted_leaf_jump);
		bool is_end = items[i].at.value == offset_of(counted_leaf_end) &&
			      items[i].kind == HP_COUNTED_BLOCK;

		if (is_jump || is_end)
			set_counts(&items[i], around);
		if (items[i].at.value == offset_of(counted_leaf_then) ||
		    (is_jump && items[i].kind == HP_COUNTED_FALL))
			forget_item(i);
	}
	take_ticks();
	ticks[1].at.value = ticks[1].to.value = offset_of(counted_leaf_end);
	put_ticks(0, 0, WINDOWS, 0, 67);
	put_ticks(1, 0, WINDOWS, 0, 33);
	leaf = listed(record_counts(counts, HP_ARRAY_COUNT(counts)), "counted_leaf");
	high = json_at(instruction_at(leaf, counted_leaf_then), "executions.high");
	ck_assert(json_is_null(high) || json_number_value(high) > 20000);
	high = json_at(instruction_at(leaf, counted_leaf_end), "executions.high");
	ck_assert(json_is_null(high) || json_number_value(high) > 60000);
}

/* Windows seldom have the beginning of a process, and ten of them began ten times in 4 s. */
TEST(many_short_processes_are_known_less_well_than_one_long_one)
{
	double low[2];

	for (unsigned i = 0; i < 2; i++) {
		times.processes = i ? 20 : 1;
		low[i] = executions(listed(record(0), "counted_leaf"), counted_leaf, "low");
	}
	ck_assert_double_gt(low[0], 40000 * 0.7);
	ck_assert_double_lt(low[1], 0.8 * low[0]);
}

/* Makes one byte of the latest epoch's evidence another one. */
static void damage_evidence(const struct fixture *fixture, long at, int whence)
{
	char path[PATH_MAX];
	char **list;
	size_t count;
	FILE *file;
	int byte;

	hp_assert_ok(hp_db_resolve(fixture->db, NULL, 0, &list, &count));
	snprintf(path, sizeof(path), "%s/%s/evidence", hp_db_path(fixture->db), list[0]);
	hp_db_free_stamps(list, count);
	file = fopen(path, "r+");
	ck_assert_ptr_nonnull(file);
	fseek(file, at, whence);
	byte = fgetc(file);
	fseek(file, at, whence);
	fputc(byte ^ 1, file);
	fclose(file);
}

TEST(damaged_counts_leave_a_report_of_time)
{
	struct fixture *fixture = record(0);
	json_t *leaf;

	damage_evidence(fixture, 40, SEEK_SET);
	leaf = listed(fixture, "counted_leaf");
	ck_assert(!has_source(leaf, "shadow"));
	ck_assert(has_source(leaf, "time"));
	assert_contains(fixture->warnings, "the counts are lost");
}

/* The last section is of one list. */
TEST(damage_to_one_list_leaves_the_others)
{
	struct fixture *fixture = record(0);

	damage_evidence(fixture, -1, SEEK_END);
	ck_assert(has_source(listed(fixture, "counted_leaf"), "shadow"));
	assert_contains(fixture->warnings, "this part is lost; everything else is intact");
}

/* --- for optimisers --------------------------------------------------------------------------- */

/* The count of the line that begins so, in the exported text; 0 without one. */
static double exported(struct fixture *fixture, const char *format, const char *line)
{
	const struct hp_export_options options = { .format = format, .of.image = self.path };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	char *found;
	double count;

	ck_assert(out != NULL);
	hp_assert_ok(hp_export(fixture->db, NULL, 0, &options, NULL, out));
	fclose(out);
	found = strstr(text, line);
	count = found ? strtod(found + strlen(line), NULL) : 0;
	free(text);
	return count;
}

/* "BEGIN FROM BETWEEN TO END" in hexadecimal. */
static const char *line_of(const char *begin, const char *from, const char *between, const char *to,
			   const char *end)
{
	static char line[64];

	snprintf(line, sizeof(line), "%s%" PRIx64 "%s%" PRIx64 "%s", begin, link_address(from),
		 between, link_address(to), end);
	return line;
}

/* Windows saw the leaf's branch taken more often than they came by what it goes to. */
TEST(optimisers_get_counts_that_balance)
{
	static const uint64_t often[WINDOWS] = { 270, 271, 259, 260 };
	struct fixture *fixture;
	double taken;
	double fallen;
	double called;

	for (size_t i = 0; i < item_count; i++)
		if (items[i].kind == HP_COUNTED_TAKEN &&
		    items[i].at.value == offset_of(counted_leaf_jump))
			set_counts(&items[i], often);
	fixture = record(0);
	taken = exported(fixture, "bolt",
			 line_of("B ", counted_leaf_jump, " ", counted_leaf_end, " "));
	fallen = exported(fixture, "bolt",
			  line_of("F ", counted_leaf_jump, " ", counted_leaf_then, " "));
	called = exported(fixture, "llvm-profgen",
			  line_of("", counted_leaf, "-", counted_leaf_jump, ":"));
	assert_near(called, 40000, 0.05);
	assert_near(taken + fallen, called, 0.0001);
	assert_near(exported(fixture, "bolt",
			     line_of("F ", counted_leaf_then, " ", counted_leaf_end, " ")),
		    fallen, 0.0001);
}

/* Of the leaf there are samples alone: half of the time, in as many instructions as the loop. */
TEST(optimisers_are_told_of_what_was_sampled_and_not_counted)
{
	size_t kept = 0;

	for (size_t i = 0; i < item_count; i++)
		if (items[i].at.value < offset_of(counted_leaf) ||
		    items[i].at.value >= offset_of(counted_hidden))
			items[kept++] = items[i];
	item_count = stratum.item_count = kept;
	ck_assert_double_gt(exported(record(0), "llvm-profgen",
				     line_of("", counted_leaf, "-", counted_leaf_jump, ":")),
			    1000);
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* Windows that were simulated, too: a run of each block takes so many cycles on a core without what
 * `without` has, and `each` on the core as it is. */
static struct hp_counted followed[10];
static size_t followed_count;

static void follow(const char *start, const char *end, uint32_t instructions, uint64_t runs,
		   uint64_t each)
{
	struct hp_counted ran = { .kind = HP_COUNTED_BLOCK,
				  .at = { offset_of(start) },
				  .bytes = (uint32_t)(end - start),
				  .instructions = instructions };
	struct hp_counted cycles = { .kind = HP_COUNTED_BLOCK_CYCLES, .at = { offset_of(start) } };

	ran.counts[0] = runs;
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		cycles.counts[lane] = runs * each;
	followed[followed_count++] = ran;
	followed[followed_count++] = cycles;
}

static void without(enum hp_lane lane, uint64_t cycles)
{
	followed[followed_count - 1].counts[lane] = cycles;
}

/* The loop's body waits for its operands; what comes after it is mispredicted. A sixth of the
 * samples are there. */
static void follow_loop(uint64_t end_cycles)
{
	followed_count = 0;
	follow(counted_loop, counted_body, 2, 1000, 1);
	follow(counted_body, counted_back, 1, 10000, 75000);
	without(HP_LANE_WIDTH, 2500);
	follow(counted_back, counted_end, 2, 10000, 75000);
	without(HP_LANE_WIDTH, 5000);
	follow(counted_end, counted_leaf, 2, 1000, end_cycles);
	without(HP_LANE_WIDTH, 500);
	without(HP_LANE_IDEAL, 500);
	without(HP_LANE_NO_MISPREDICT, 500);
	for (enum hp_lane lane = HP_LANE_ONLY_CODE; lane < HP_LANES; lane++)
		without(lane, 500);
	without(HP_LANE_ONLY_MISPREDICT, 1000 * end_cycles);
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.events = followed;
	stratum.event_count = followed_count;
}

static struct fixture *record_followed(void)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};

	follow_loop(300000);
	return record_counts(counts, HP_ARRAY_COUNT(counts));
}

TEST(a_procedure_and_its_loop_have_stacks_of_their_own)
{
	json_t *document = view_of(record_followed(), HP_VIEW_STACK);
	json_t *procedure = json_with(json_at(document, "procedures"), "procedure", "counted_loop");
	json_t *loop = json_at(procedure, "loops.0");

	ck_assert_uint_eq(json_array_size(json_at(procedure, "loops")), 1);
	ck_assert_uint_eq(strtoull(string_at(loop, "address"), NULL, 16),
			  link_address(counted_body));
	ck_assert_double_eq(number_at(loop, "depth"), 1);
	assert_near(number_at(loop, "share"), 2000 / 2400.0, 0.02);
	ck_assert_double_gt(number_at(loop, "components.dependency.likely"), 0.9);
	ck_assert_double_lt(number_at(loop, "components.branch-mispredict.likely"), 0.01);
	ck_assert_double_gt(number_at(procedure, "components.branch-mispredict.likely"), 0.1);
	ck_assert_double_lt(number_at(procedure, "components.dependency.likely"), 0.9);
}

TEST(people_see_loops_that_are_not_all_of_their_procedure)
{
	const struct hp_report_options options = { .view = HP_VIEW_STACK };
	const struct hp_report_options picture = { .view = HP_VIEW_STACK, .format = HP_FORMAT_SVG };
	struct fixture *fixture = record_followed();
	char address[64];

	snprintf(address, sizeof(address), "loop at 0x%" PRIx64, link_address(counted_body));
	ck_assert_ptr_nonnull(strstr(fixture_output(fixture, &options), address));
	fixture_output(fixture, &picture);
	ck_assert_ptr_nonnull(strstr(fixture->output, "<svg "));
	ck_assert_ptr_nonnull(strstr(fixture->output, address));
	ck_assert_ptr_nonnull(strstr(fixture->output, "prefers-color-scheme:dark"));
	ck_assert_ptr_nonnull(strstr(fixture->output, "<title>mispredicted: "));
	/* Without what comes after it the loop is nearly all. */
	fixture = record_counts((const struct fixture_count[]){ clock_at(counted_back, 2000) }, 1);
	ck_assert_ptr_null(strstr(fixture_output(fixture, &options), "loop at"));
	ck_assert_ptr_nonnull(strstr(fixture->output, "counted_loop"));
}

TEST(what_if_says_what_the_program_and_its_procedures_would_save)
{
	const struct hp_report_options options = { .view = HP_VIEW_WHAT_IF,
						   .format = HP_FORMAT_JSON,
						   .what_if = "branch:perfect,l2:64M" };
	json_t *document = report_json(record_followed(), &options);
	json_t *change = json_at(document, "changes.0.change");

	ck_assert_str_eq(string_at(document, "schema"), "hpcprof-what-if/1");
	ck_assert_str_eq(string_at(document, "changes.0.what"), "branch:perfect");
	assert_near(-number_at(change, "likely"), 400 / 2400.0, 0.1);
	ck_assert_double_lt(number_at(change, "low"), number_at(change, "likely"));
	ck_assert_double_gt(number_at(change, "high"), number_at(change, "likely"));
	ck_assert(json_is_null(json_at(document, "changes.1.change.likely")));
	ck_assert(json_is_null(json_at(document, "program.likely")));
	ck_assert_str_eq(string_at(document, "procedures.0.procedure"), "counted_loop");
}

/* The loop takes half as long with 64 MiB: 1000 of 2400 ms. */
TEST(what_was_recorded_of_other_sizes_is_what_they_save)
{
	const struct hp_resizes sizes = { { { HP_PART_L2, 64 << 20 } }, 1 };
	struct hp_report_options options = { .view = HP_VIEW_WHAT_IF,
					     .format = HP_FORMAT_JSON,
					     .what_if = "l2:64M" };
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};
	struct fixture *fixture;
	json_t *change;

	follow_loop(300000);
	for (size_t i = 0, count = followed_count; i < count; i++) {
		struct hp_counted resized = followed[i];

		if (resized.kind != HP_COUNTED_BLOCK_CYCLES || resized.counts[0] != 750000000)
			continue;
		resized.kind = HP_COUNTED_RESIZED_CYCLES;
		resized.to.value = hp_resizes_code(&sizes);
		for (unsigned lane = 0; lane < HP_LANES; lane++)
			resized.counts[lane] /= 2;
		followed[followed_count++] = resized;
	}
	ck_assert_uint_eq(followed_count, 10);
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.event_count = followed_count;
	fixture = record_counts(counts, HP_ARRAY_COUNT(counts));
	change = json_at(report_json(fixture, &options), "program");
	assert_near(-number_at(change, "likely"), 1000 / 2400.0, 0.05);
	ck_assert_double_lt(number_at(change, "low"), number_at(change, "likely"));
	ck_assert_double_gt(number_at(change, "high"), number_at(change, "likely"));
	/* Of other sizes it says nothing. */
	options.what_if = "l2:32M";
	change = json_at(report_json(fixture, &options), "program");
	ck_assert(json_is_null(json_at(change, "likely")));
}

/* --- comparisons of stacks --------------------------------------------------------------------- */

enum { RUNS = 5 };

struct run {
	const char *label;
	uint64_t loop; /* samples there, and after it, where branches are mispredicted */
	uint64_t end;
};

static void record_run(struct fixture *fixture, const struct run *run, size_t number)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, run->loop),
		clock_at(counted_end, run->end),
	};
	const struct fixture_epoch epoch = { .label = run->label,
					     .counts = counts,
					     .count = HP_ARRAY_COUNT(counts),
					     .clock_hz = 3e9,
					     .evidence = &windows,
					     .commands = &times,
					     .command_count = 1,
					     .later_ns = number * 10000000000 };

	/* As the samples have it, against 75000 twice in the loop, which runs ten times as often. */
	follow_loop(1500000 * run->end / run->loop);
	stratum.recording++;
	fixture_add(fixture, &epoch);
}

static void free_stamps(void *stamps)
{
	hp_db_free_stamps(stamps, RUNS);
}

/* Of the candidate's loop, against 2000 samples in it and 400 after it. */
static const struct hp_compared *compare_runs(uint64_t loop, uint64_t end)
{
	static struct hp_comparison *comparison;
	const struct hp_compare_options options = { 0 };
	const struct run runs[HP_SIDES] = { { "before", 2000, 400 }, { "after", loop, end } };
	struct fixture *fixture = fixture_create();
	struct hp_compare_epochs sides[HP_SIDES];

	/* In turns: otherwise the machine might be to blame. */
	for (size_t i = 0; i < (size_t)HP_SIDES * RUNS; i++)
		record_run(fixture, &runs[i % HP_SIDES], i);
	for (size_t i = 0; i < HP_SIDES; i++) {
		char label[16];
		char *word = label;
		char **stamps;
		size_t count;

		snprintf(label, sizeof(label), "%s", runs[i].label);
		hp_assert_ok(hp_db_resolve_apart(fixture->db, &word, 1, &stamps, &count));
		ck_assert_uint_eq(count, RUNS);
		at_end(free_stamps, stamps);
		sides[i] = (struct hp_compare_epochs){ fixture->db, stamps, RUNS, 0 };
	}
	hp_assert_ok(hp_compare(sides, &options, &comparison));
	hp_assert_ok(hp_comparison_add_reasons(comparison, sides, &options));
	for (size_t i = 0; i < comparison->finding_count; i++)
		if (comparison->findings[i]->scope == HP_SCOPE_PROCEDURE)
			return comparison->findings[i];
	ck_abort_msg("no procedure changed");
	return NULL;
}

TEST(a_cause_that_grew_is_named_with_both_ranges)
{
	const struct hp_compared *loop = compare_runs(2000, 1600);

	ck_assert_str_eq(loop->name, "counted_loop");
	ck_assert(loop->has_causes);
	ck_assert_uint_eq(loop->cause_count, 1);
	ck_assert_str_eq(loop->causes[0].name, "branch-mispredict");
	assert_near(loop->causes[0].share[HP_BASE].value, 400 / 2400.0, 0.2);
	assert_near(loop->causes[0].share[HP_CANDIDATE].value, 1600 / 3600.0, 0.2);
	ck_assert_double_gt(loop->causes[0].share[HP_CANDIDATE].low,
			    loop->causes[0].share[HP_BASE].high);
}

TEST(so_is_one_that_shrank_where_the_procedure_did)
{
	const struct hp_compared *loop = compare_runs(2000, 4);

	ck_assert_uint_eq(loop->cause_count, 1);
	ck_assert_str_eq(loop->causes[0].name, "branch-mispredict");
	ck_assert_double_lt(loop->causes[0].share[HP_CANDIDATE].high,
			    loop->causes[0].share[HP_BASE].low);
}

/* More of the same, and a little more of one cause than before. */
TEST(no_cause_is_named_where_all_grew_or_ranges_overlap)
{
	const struct hp_compared *loop = compare_runs(4000, 800);

	ck_assert(loop->has_causes);
	ck_assert_uint_eq(loop->cause_count, 0);
	loop = compare_runs(2300, 500);
	ck_assert(loop->has_causes);
	ck_assert_uint_eq(loop->cause_count, 0);
}

HP_TEST_MAIN("report/counted")

#else

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
