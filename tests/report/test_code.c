/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This program reports on itself: where its code is comes from labels in it, which lines they are
 * on from __LINE__, and what the bytes mean from the assembler that made them.
 */
#include "../json.h"
#include "fixture.h"

#include <string.h>

#ifdef __x86_64__

/* mov rbp, rsp (3 bytes); nop (1); mov eax, 0x12345678 (5); ret (1). Never called. */
__asm__(".text\n"
	".globl fixture_code\n"
	".type fixture_code, @function\n"
	"fixture_code:\n"
	"	mov %rsp, %rbp\n"
	"	nop\n"
	"	mov $0x12345678, %eax\n"
	"	ret\n"
	".size fixture_code, . - fixture_code\n"
	/* A procedure that was split, its rare part first: nop; ret and ret. */
	".type fixture_split.cold, @function\n"
	"fixture_split.cold:\n"
	".globl fixture_rare\n"
	"fixture_rare = .\n"
	".type fixture_rare, @notype\n"
	"	nop\n"
	"	ret\n"
	".size fixture_split.cold, . - fixture_split.cold\n"
	".globl fixture_split\n"
	".type fixture_split, @function\n"
	"fixture_split:\n"
	"	ret\n"
	".size fixture_split, . - fixture_split\n"
	/* Two ways through it: blocks of two, one and one instruction. */
	".globl fixture_branch\n"
	".type fixture_branch, @function\n"
	"fixture_branch:\n"
	"	test %edi, %edi\n"
	"	je 1f\n"
	"	inc %eax\n"
	"1:	ret\n"
	".size fixture_branch, . - fixture_branch\n");
extern const char fixture_code[];
extern const char fixture_rare[];
extern const char fixture_split[];
extern const char fixture_branch[];

/* A label's run-time address, left in data by the code that holds the label. */
#define MARK(name)                                                                                 \
	__asm__ volatile("1: nop\n"                                                                \
			 ".pushsection .data\n"                                                    \
			 ".globl " #name "\n" #name ": .quad 1b\n"                                 \
			 ".popsection\n")
extern const char *const mark_in_inlined;
extern const char *const mark_in_procedure;

enum { INLINED_LINE = __LINE__ + 4, PROCEDURE_LINE = __LINE__ + 11 };

static inline __attribute__((always_inline)) void inlined_function(void)
{
	MARK(mark_in_inlined);
}

void outer_procedure(void);
__attribute__((noinline)) void outer_procedure(void)
{
	inlined_function();
	MARK(mark_in_procedure);
}

static struct fixture *report_on_clocked(const struct fixture_count *counts, size_t count,
					 double clock_hz)
{
	struct fixture *fixture = fixture_create();
	struct fixture_epoch epoch = { .counts = counts, .count = count, .clock_hz = clock_hz };

	find_self();
	fixture_add(fixture, &epoch);
	return fixture;
}

static struct fixture *report_on(const struct fixture_count *counts, size_t count)
{
	return report_on_clocked(counts, count, 0);
}

/* outer_procedure 4 + 3, of which 4 inlined; fixture_code 2 at its start, 1 inside the mov eax. */
static struct fixture *report_on_self(void)
{
	const char *code = fixture_code;
	const struct fixture_count counts[] = {
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(mark_in_inlined), 4 },
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(mark_in_procedure), 3 },
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(code), 2 },
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(code + 6), 1 },
	};

	return report_on(counts, HP_ARRAY_COUNT(counts));
}

TEST(inlined_code_counts_for_its_procedure_unless_asked_for)
{
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };
	struct fixture *fixture = report_on_self();

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "      7  70.00   70.00  outer_procedure");
	assert_contains(fixture->output, "      3  30.00  100.00  fixture_code");
	options.of.inlines = true;
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "      4  40.00   40.00  inlined_function (inlined)");
	assert_contains(fixture->output, "      3  30.00   70.00  fixture_code");
	assert_contains(fixture->output, "      3  30.00  100.00  outer_procedure");
}

TEST(a_line_is_that_of_the_innermost_function)
{
	struct hp_report_options options = { .view = HP_VIEW_LINES };
	struct fixture *fixture = report_on_self();
	char line[128];

	fixture_output(fixture, &options);
	snprintf(line, sizeof(line), "      4  40.00   40.00  test_code.c:%d  outer_procedure",
		 INLINED_LINE);
	assert_contains(fixture->output, line);
	snprintf(line, sizeof(line), "test_code.c:%d  outer_procedure", PROCEDURE_LINE);
	assert_contains(fixture->output, line);
	options.of.inlines = true;
	fixture_output(fixture, &options);
	snprintf(line, sizeof(line), "test_code.c:%d  inlined_function (inlined)", INLINED_LINE);
	assert_contains(fixture->output, line);
}

static json_t *report_json(struct fixture *fixture, const struct hp_report_options *options)
{
	return json_parsed(fixture_output(fixture, options));
}

static json_t *only_procedure(json_t *document)
{
	json_t *images = json_at(document, "images");
	json_t *procedures = json_at(images, "0.procedures");

	ck_assert_uint_eq(json_array_size(images), 1);
	ck_assert_uint_eq(json_array_size(procedures), 1);
	return json_at(procedures, "0");
}

static json_int_t first_sample(json_t *object)
{
	return json_integer_value(json_at(object, "samples.0"));
}

TEST(a_named_procedure_is_listed_whole_and_no_sample_inside_an_instruction_is_dropped)
{
	static const struct {
		unsigned at;
		const char *bytes;
		const char *text; /* NULL: says that it is inside the one before */
		json_int_t samples;
	} expected[] = {
		{ 0, "4889e5", "mov rbp, rsp", 2 },
		{ 3, "90", "nop", 0 },
		{ 4, "b878563412", "mov eax, 0x12345678", 0 },
		{ 6, "", NULL, 1 },
		{ 9, "c3", "ret", 0 },
	};
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_JSON,
					     .of.listed = "fixture_code" };
	struct fixture *fixture = report_on_self();
	json_t *document = report_json(fixture, &options);
	json_t *procedure = only_procedure(document);
	json_t *instructions = json_at(procedure, "instructions");
	uint64_t start = link_address(fixture_code);

	ck_assert_str_eq(string_at(procedure, "name"), "fixture_code");
	ck_assert_int_eq(json_integer_value(json_at(procedure, "size")), 10);
	ck_assert_uint_eq(strtoull(string_at(procedure, "address"), NULL, 16), start);
	ck_assert_uint_eq(json_array_size(instructions), HP_ARRAY_COUNT(expected));
	for (size_t i = 0; i < HP_ARRAY_COUNT(expected); i++) {
		json_t *instruction = json_array_get(instructions, i);

		ck_assert_uint_eq(strtoull(string_at(instruction, "address"), NULL, 16),
				  start + expected[i].at);
		ck_assert_str_eq(string_at(instruction, "bytes"), expected[i].bytes);
		ck_assert_int_eq(first_sample(instruction), expected[i].samples);
		if (expected[i].text)
			ck_assert_str_eq(string_at(instruction, "text"), expected[i].text);
		else
			assert_contains(string_at(instruction, "text"), "(inside the instruction");
	}
}

TEST(instructions_say_which_block_of_the_graph_they_are_in)
{
	static const json_int_t blocks[] = { 0, 0, 1, 2 };
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_JSON,
					     .of.listed = "fixture_branch" };
	struct fixture *fixture = report_on_self();
	json_t *document = report_json(fixture, &options);
	json_t *procedure = only_procedure(document);
	json_t *cfg = json_at(procedure, "cfg");
	json_t *instructions = json_at(procedure, "instructions");

	ck_assert_int_eq(json_integer_value(json_at(cfg, "blocks")), 3);
	ck_assert_int_eq(json_integer_value(json_at(cfg, "edges")), 3);
	ck_assert(json_is_false(json_at(cfg, "missing_edges")));
	ck_assert_uint_eq(json_array_size(instructions), HP_ARRAY_COUNT(blocks));
	for (size_t i = 0; i < HP_ARRAY_COUNT(blocks); i++) {
		json_t *block = json_at(json_array_get(instructions, i), "block");

		ck_assert(json_is_integer(block));
		ck_assert_int_eq(json_integer_value(block), blocks[i]);
	}
}

TEST(a_graph_has_a_box_a_block_and_an_arrow_an_edge)
{
	static const char *const wanted[] = {
		"label=\"fixture_branch",   "p0b0 [label=\"block 0",
		"test edi, edi\\l",	    "p0b2 [label=\"block 2",
		"p0entry -> p0b0 [",	    "p0b0 -> p0b1 [style=solid",
		"p0b0 -> p0b2 [color=blue", "p0b1 -> p0b2 [style=solid",
		"p0b2 -> p0exit [",
	};
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_DOT,
					     .of.listed = "fixture_branch" };
	struct fixture *fixture = report_on_self();

	fixture_output(fixture, &options);
	for (size_t i = 0; i < HP_ARRAY_COUNT(wanted); i++)
		assert_contains(fixture->output, wanted[i]);
	hp_assert_lacks(fixture->output, "p0b3");
}

TEST(what_is_no_instruction_is_in_no_block)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_JSON,
					     .of.listed = "fixture_code" };
	struct fixture *fixture = report_on_self();
	json_t *document = report_json(fixture, &options);
	json_t *instructions = json_at(only_procedure(document), "instructions");

	ck_assert(json_is_null(json_at(instructions, "3.block")));
	ck_assert(json_is_integer(json_at(instructions, "4.block")));
}

TEST(unnamed_only_instructions_with_samples_are_listed_hottest_procedure_first)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_CSV };
	struct fixture *fixture = report_on_self();
	const char *outer;
	const char *code;

	fixture_output(fixture, &options);
	ck_assert_uint_eq(fixture_csv_records(fixture->output), 4);
	ck_assert_uint_eq(fixture_csv_sum(fixture->output, 0), 10);
	outer = strstr(fixture->output, "outer_procedure");
	code = strstr(fixture->output, "fixture_code");
	ck_assert(outer && code && outer < code);
}

TEST(a_listing_gives_shares_of_everything_and_of_the_procedure)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS };
	struct fixture *fixture = report_on_self();

	fixture_output(fixture, &options);
	/* 2 of 10 and of 3; 1 of 10 and of 3. */
	assert_contains(fixture->output, "      2  20.00  66.67 ");
	assert_contains(fixture->output, "      1  10.00  33.33 ");
}

TEST(a_part_that_was_split_off_counts_for_its_procedure_and_is_listed_after_it)
{
	const struct fixture_count counts[] = {
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(fixture_split), 5 },
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(fixture_rare), 2 },
	};
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };
	struct fixture *fixture = report_on(counts, HP_ARRAY_COUNT(counts));
	const char *body;
	const char *rare;

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "      7  100.00  100.00  fixture_split ");
	options.view = HP_VIEW_INSTRUCTIONS;
	options.of.listed = "fixture_split";
	fixture_output(fixture, &options);
	body = strstr(fixture->output, "      5  71.43  71.43 ");
	rare = strstr(fixture->output, "      2  28.57  28.57 ");
	ck_assert_msg(body && rare && body < rare, "%s", fixture->output);
}

TEST(a_procedure_without_samples_can_be_listed_by_name)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_CSV,
					     .of.listed = "hp_test_run" };
	struct fixture *fixture = report_on_self();

	fixture_output(fixture, &options);
	ck_assert_uint_gt(fixture_csv_records(fixture->output), 3);
	ck_assert_uint_eq(fixture_csv_sum(fixture->output, 0), 0);
}

TEST(att_syntax_is_there_for_those_who_want_it)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .of.listed = "fixture_code",
					     .syntax = HP_SYNTAX_ATT };
	struct fixture *fixture = report_on_self();

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "4889e5      mov %rsp, %rbp");
}

TEST(a_changed_file_is_refused_by_name_and_never_symbolised)
{
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };
	struct fixture *fixture = report_on_self();
	struct fixture_count count = { "cpu-clock:u", &self, "t", 0, 1000000, 0, 9 };
	struct fixture_epoch epoch = { .counts = &count, .count = 1 };
	char raw[64];

	/* As if another build had run: its identity is not that of the file there now. */
	self.identity.bytes[0] ^= 0xff;
	count.offset = offset_of(fixture_code);
	fixture = fixture_of_epoch(&epoch);
	fixture_output(fixture, &options);
	hp_assert_lacks(fixture->output, "fixture_code");
	snprintf(raw, sizeof(raw), "+0x%llx", (unsigned long long)count.offset);
	assert_contains(fixture->output, raw);
	ck_assert_ptr_nonnull(fixture->warnings);
	assert_contains(fixture->warnings, self.path);
	assert_contains(fixture->warnings, "--symfs");
}

/* A number, or null where the data does not say. */
static bool is_number(json_t *object, const char *name, bool *known)
{
	json_t *value = json_object_get(object, name);

	*known = json_is_number(value);
	return *known || json_is_null(value);
}

static void check_executions(json_t *executions)
{
	static const char *const words[] = { "none", "low", "medium", "high" };
	const char *confidence = string_at(executions, "confidence");
	bool known[3];
	bool is_word = false;

	ck_assert(is_number(executions, "estimate", &known[0]));
	ck_assert(is_number(executions, "low", &known[1]));
	ck_assert(is_number(executions, "high", &known[2]));
	/* Time alone says nothing absolute. */
	ck_assert(!known[0] && !known[1] && !known[2]);
	ck_assert(is_number(executions, "relative", &known[0]));
	for (size_t i = 0; i < HP_ARRAY_COUNT(words); i++)
		is_word = is_word || strcmp(confidence, words[i]) == 0;
	ck_assert(is_word);
	ck_assert(known[0] == (strcmp(confidence, "none") != 0));
}

static void check_stall(json_t *stall)
{
	static const char names[] =
		" icache itlb branch-mispredict dcache dtlb store-buffer store-forward divider "
		"multiplier fp-latency sync fetch issue-width dependency port unexplained ";
	double low = number_at(stall, "low");
	double high = number_at(stall, "high");
	json_t *culprit = json_at(stall, "culprit");
	char name[64];

	snprintf(name, sizeof(name), " %s ", string_at(stall, "cause"));
	ck_assert_msg(strstr(names, name) != NULL, "cause %s", name);
	ck_assert_msg(0 <= low && low <= high && high <= 1, "%g to %g", low, high);
	ck_assert(json_is_null(culprit) || strncmp(json_string_value(culprit), "0x", 2) == 0);
}

static struct fixture *report_on_branch(double clock_hz)
{
	const char *branch = fixture_branch;
	const struct fixture_count counts[] = {
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(branch + 2), 400 },
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(branch + 6), 90 },
	};

	return report_on_clocked(counts, HP_ARRAY_COUNT(counts), clock_hz);
}

static void check_together(json_t *together)
{
	double low = number_at(together, "low");
	double likely = number_at(together, "likely");
	double high = number_at(together, "high");
	json_t *culprit = json_at(together, "culprit");

	ck_assert_uint_ge(json_array_size(json_at(together, "causes")), 2);
	ck_assert_msg(0 <= low && low <= likely && likely <= high && high <= 1, "%g to %g", low,
		      high);
	ck_assert(json_is_null(culprit) || strncmp(json_string_value(culprit), "0x", 2) == 0);
}

/* Of the procedure: the causes of each family, and the cycles that they took together. */
static void check_families(json_t *families)
{
	json_t *family;
	size_t index;

	ck_assert_uint_eq(json_array_size(families), HP_FAMILY_COUNT);
	json_array_foreach(families, index, family)
	{
		json_t *cycles = json_at(family, "cycles");

		ck_assert_uint_ge(json_array_size(json_at(family, "causes")), 2);
		ck_assert_double_le(number_at(cycles, "low"), number_at(cycles, "high"));
	}
}

/* What `cycles` and `stalls` say of all instructions of the branch. */
struct said {
	double cycles;
	size_t stalls;
};

static struct said check_branch(bool has_clock)
{
	static const char *const members[] = { "address", "block",	"bytes",  "text",  "line",
					       "samples", "executions", "cycles", "stalls" };
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_JSON,
					     .of.listed = "fixture_branch" };
	struct fixture *fixture = report_on_branch(has_clock ? 2e9 : 0);
	json_t *document = report_json(fixture, &options);
	struct said said = { 0 };
	json_t *instruction;
	size_t index;

	json_array_foreach(json_at(only_procedure(document), "instructions"), index, instruction)
	{
		json_t *cycles = json_at(instruction, "cycles");
		json_t *stall;
		size_t at;
		bool known;

		json_t *together = json_object_get(instruction, "together");

		ck_assert_uint_eq(json_object_size(instruction),
				  HP_ARRAY_COUNT(members) + (together != NULL));
		if (together)
			check_together(together);
		for (size_t i = 0; i < HP_ARRAY_COUNT(members); i++)
			ck_assert_ptr_nonnull(json_object_get(instruction, members[i]));
		check_executions(json_at(instruction, "executions"));
		ck_assert(is_number(cycles, "per_execution", &known) && !known);
		ck_assert(is_number(cycles, "best_case", &known) && known);
		ck_assert(is_number(cycles, "total", &known) && known == has_clock);
		said.cycles += json_number_value(json_at(cycles, "total"));
		json_array_foreach(json_at(instruction, "stalls"), at, stall)
		{
			check_stall(stall);
			said.stalls++;
		}
	}
	ck_assert_uint_eq(index, 4);
	if (has_clock)
		check_families(json_at(json_at(only_procedure(document), "stack"), "together"));
	return said;
}

TEST(analysed_instructions_keep_the_contract)
{
	struct said said = check_branch(true);

	/* 490 samples of a millisecond at 2 GHz. */
	ck_assert_double_eq_tol(said.cycles, 490 * 2e6, 490 * 2e6 * 0.01);
	ck_assert_uint_gt(said.stalls, 0);
}

/* Of each millisecond. */
TEST(the_annotation_says_what_samples_took_themselves)
{
	struct hp_report_options options = { .view = HP_VIEW_ANNOTATE,
					     .of.listed = "fixture_branch" };
	const struct fixture_count counts[] = {
		{ "cpu-clock:u", &self, "t", 0, 1000000, offset_of(fixture_branch + 2), 400 },
	};
	struct fixture_epoch epoch = { .counts = counts, .count = 1, .clock_hz = 2e9 };

	for (uint64_t cost_ns = 5000; cost_ns <= 50000; cost_ns += 45000) {
		struct fixture *fixture = fixture_create();

		find_self();
		epoch.sample_cost_ns = cost_ns;
		fixture_add(fixture, &epoch);
		fixture_output(fixture, &options);
		assert_contains(fixture->output, "2.00 GHz, measured while recording");
		if (cost_ns == 50000)
			assert_contains(
				fixture->output,
				"; cycles are without the 5.0 % of the time that samples took\n");
		else
			hp_assert_lacks(fixture->output, "that samples took");
	}
}

TEST(without_a_clock_instructions_have_frequencies_but_neither_cycles_nor_stalls)
{
	ck_assert_uint_eq(check_branch(false).stalls, 0);
}

TEST(without_a_clock_the_annotation_says_why_there_are_no_cycles)
{
	struct hp_report_options options = { .view = HP_VIEW_ANNOTATE,
					     .of.listed = "fixture_branch" };
	struct fixture *fixture = report_on_branch(0);

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "the clock was not measured while recording");
	assert_contains(fixture->output, "record again");
	assert_contains(fixture->output, "*** Actual: not known");
	assert_contains(fixture->output, "frequency ");
	hp_assert_lacks(fixture->output, "Summary of", "nanoseconds");
}

TEST(without_a_clock_there_is_no_table_of_stalls_in_any_format)
{
	static const enum hp_report_format formats[] = { HP_FORMAT_TEXT, HP_FORMAT_JSON,
							 HP_FORMAT_CSV };
	struct fixture *fixture = report_on_branch(0);

	for (size_t i = 0; i < HP_ARRAY_COUNT(formats); i++) {
		struct hp_report_options options = { .view = HP_VIEW_STALLS, .format = formats[i] };

		hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, NULL));
	}
}

TEST(without_a_clock_the_summary_says_why_there_is_no_stack)
{
	struct hp_report_options options = { .view = HP_VIEW_SUMMARY };
	struct fixture *fixture = report_on_branch(0);

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "caution: the clock was not measured");
	hp_assert_lacks(fixture->output, "Where the cycles went");
}

/* The block has four instructions: 400,000 of them are 100,000 executions, in twice the cycles. */
TEST(sampled_instructions_say_how_often_code_ran)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_JSON };
	const char *code = fixture_code;
	const struct fixture_count counts[] = {
		{ "cycles:u", &self, "t", 0, 1000, offset_of(code), 500 },
		{ "cycles:u", &self, "t", 0, 1000, offset_of(code + 4), 300 },
		{ "instructions:u", &self, "t", 0, 1000, offset_of(code), 100 },
		{ "instructions:u", &self, "t", 0, 1000, offset_of(code + 3), 100 },
		{ "instructions:u", &self, "t", 0, 1000, offset_of(code + 4), 100 },
		{ "instructions:u", &self, "t", 0, 1000, offset_of(code + 9), 100 },
	};
	struct fixture *fixture = report_on(counts, HP_ARRAY_COUNT(counts));
	json_t *document = report_json(fixture, &options);
	json_t *procedure = only_procedure(document);
	json_t *figures = json_at(procedure, "counts");
	json_t *instructions = json_at(figures, "instructions");
	json_t *sources = json_at(procedure, "frequency_source");
	json_t *first = json_at(procedure, "instructions.0");
	json_t *executions = json_at(first, "executions");
	bool is_source = false;

	ck_assert_double_eq_tol(number_at(figures, "instructions_per_cycle"), 0.5, 1e-9);
	ck_assert_double_eq_tol(number_at(instructions, "estimate"), 4e5, 1);
	ck_assert_double_gt(number_at(instructions, "low"), 3.5e5);
	ck_assert_double_lt(number_at(instructions, "low"), 4e5);
	ck_assert_double_gt(number_at(instructions, "high"), 4e5);
	ck_assert(json_is_null(json_at(figures, "calls.estimate")));
	for (size_t i = 0; i < json_array_size(sources); i++)
		is_source |= strcmp(json_string_value(json_array_get(sources, i)), "counters") == 0;
	ck_assert(is_source);
	ck_assert_double_eq_tol(number_at(executions, "estimate"), 1e5, 1e4);
}

HP_TEST_MAIN("report/code")
#else

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
