/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branches of a known piece of this very program's code, from registers made up for it. */
#include "../db_fixture.h"
#include "../support.h"

#include "../../src/collect/evidence/outcomes.h"
#include "../../src/collect/evidence/ranges.h"

#include <hpcprof/image/identity.h>
#include <hpcprof/pmu/registers.h>

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__

#include <asm/perf_regs.h>

/*
 * rdi < rsi: a loop of rdi rounds (rdi above 0), then a call through a table of constants, then a
 * branch on what is loaded from elsewhere. The stack's first word decides one more.
 */
__asm__(".pushsection .text\n"
	".globl sample_code, sample_compare, sample_head, sample_loop, sample_jump, sample_case0, "
	"sample_case1\n"
	".globl sample_stack, sample_unknown, sample_end, sample_table\n"
	"sample_code:\n\tcmp %rsi, %rdi\n"
	"sample_compare:\n\tjae sample_end\n"
	"sample_head:\n1:\tdec %rdi\n"
	"sample_loop:\n\tjnz 1b\n"
	"\tand $1, %esi\n"
	"\tlea sample_table(%rip), %rax\n"
	"\tmovslq (%rax,%rsi,4), %rcx\n"
	"\tadd %rax, %rcx\n"
	"sample_jump:\n\tjmp *%rcx\n"
	"sample_case0:\n\tnop\n"
	"sample_case1:\n\tcmpl $7, (%rsp)\n"
	"sample_stack:\n\tje sample_end\n"
	"\tcmpl $7, (%rdx)\n"
	"sample_unknown:\n\tje sample_end\n"
	"sample_end:\n\tret\n"
	".popsection\n"
	".pushsection .rodata\n"
	"\t.align 4\n"
	"sample_table:\n\t.long sample_case0 - sample_table, sample_case1 - sample_table\n"
	".popsection\n");
extern const char sample_code[], sample_compare[], sample_head[], sample_loop[], sample_jump[],
	sample_case0[], sample_case1[], sample_stack[], sample_unknown[], sample_end[];

struct bench {
	char *directory;
	struct hp_db *db;
	struct images *images;
	struct names commands;
	struct context context;
	struct outcomes *outcomes;
	struct ranges *ranges;
	uint64_t shift; /* run-time addresses less file offsets, of the code */
};
static struct bench bench;
/* What was written last. */
static struct hp_window_evidence evidence;

/* Where this program's code is mapped from. */
static struct mapping own_mapping(void)
{
	uint64_t wanted = (uintptr_t)sample_code;
	struct mapping found = { 0 };
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	ck_assert_ptr_nonnull(maps);
	while (!found.end && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    wanted >= start && wanted < end)
			found = (struct mapping){ .start = start, .end = end, .offset = offset };
	}
	fclose(maps);
	ck_assert_uint_ne(found.end, 0);
	return found;
}

static void bench_end(void *nothing)
{
	(void)nothing;
	hp_window_evidence_clear(&evidence);
	outcomes_destroy(bench.outcomes);
	ranges_destroy(bench.ranges);
	space_release(bench.context.space);
	names_clear(&bench.commands);
	images_destroy(bench.images);
}

SETUP
{
	struct mapping mapping = own_mapping();
	struct hp_identity identity = { 0 };
	char path[512];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int fd;

	ck_assert_int_gt((int)length, 0);
	path[length] = '\0';
	fd = open(path, O_RDONLY);
	hp_assert_ok(hp_identity_of_fd(fd, &identity));
	close(fd);
	bench.directory = temporary_directory();
	bench.db = fixture_db(bench.directory);
	bench.images = images_create();
	ck_assert(names_create(&bench.commands));
	bench.context = (struct context){
		.space = space_create(),
		.command = names_number(&bench.commands, "sample"),
		.pid = (uint32_t)getpid(),
	};
	bench.context.space->processes = 1;
	bench.shift = mapping.start - mapping.offset;
	mapping.image = images_named(bench.images, HP_IMAGE_FILE, path, &identity);
	ck_assert(space_map(&bench.context.space, &mapping));
	hp_assert_ok(outcomes_create(77, &bench.outcomes));
	hp_assert_ok(ranges_create(77, &bench.ranges));
	at_end(bench_end, NULL);
}

/* A sample at `address`; the kernel sends registers in the order of its own numbers. */
static struct hp_record sample_at(const char *address, uint64_t rdi, uint64_t rsi)
{
	struct hp_record record = {
		.kind = HP_RECORD_SAMPLE,
		.cpu_mode = PERF_RECORD_MISC_USER,
		.sample.address = (uintptr_t)address,
	};
	uint64_t values[64] = { 0 };

	values[PERF_REG_X86_DI] = rdi;
	values[PERF_REG_X86_SI] = rsi;
	/* Elsewhere, or farther up the stack than is looked at. */
	values[PERF_REG_X86_DX] = 0x7ffc00000400;
	values[PERF_REG_X86_SP] = 0x7ffc00000000;
	values[PERF_REG_X86_IP] = (uintptr_t)address;
	for (unsigned i = 0; i < 64; i++)
		if (hp_sampled_registers() >> i & 1)
			record.sample.registers[record.sample.register_count++] = values[i];
	return record;
}

static void follow(const struct hp_record *record)
{
	outcomes_follow(bench.outcomes, record, &bench.context);
}

static void write_all(void)
{
	struct hp_epoch_writer *writer;
	struct hp_epoch *epoch;
	struct hp_error *lost;
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, true);

	hp_window_evidence_clear(&evidence);
	hp_assert_ok(hp_epoch_create(bench.db, NULL, &writer));
	hp_assert_ok(outcomes_write(bench.outcomes, &bench.commands, writer));
	hp_assert_ok(ranges_write(bench.ranges, &bench.commands, writer));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_assert_ok(hp_epoch_open(bench.db, hp_epoch_writer_stamp(writer), &epoch));
	hp_assert_ok(hp_epoch_read_evidence(epoch, &evidence, &lost));
	ck_assert_ptr_null(lost);
	hp_epoch_close(epoch);
	hp_epoch_writer_destroy(writer);
	hp_epoch_meta_clear(&meta);
}

static void assert_all_are_of(size_t source)
{
	const struct hp_window_stratum *stratum = &evidence.strata[0];

	ck_assert_uint_gt(stratum->outcome_count, 0);
	for (size_t i = 0; i < stratum->outcome_count; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			ck_assert_uint_eq(stratum->outcomes[i].counts[j] > 0, j == source);
}

/* How often the branch went to `to`, or went straight on (NULL: by kind alone). */
static uint64_t seen(const char *at, uint8_t kind, const char *to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < evidence.strata[0].outcome_count; i++) {
		const struct hp_counted *item = &evidence.strata[0].outcomes[i];

		if (item->kind != kind || item->at.value != (uintptr_t)at - bench.shift ||
		    (to && item->to.value != (uintptr_t)to - bench.shift))
			continue;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			sum += item->counts[j];
	}
	return sum;
}

TEST(branches_are_followed_as_far_as_registers_tell)
{
	struct hp_record record = sample_at(sample_code, 3, 5);

	follow(&record);
	write_all();
	ck_assert_uint_eq(evidence.stratum_count, 1);
	ck_assert_str_eq(evidence.strata[0].command, "sample");
	ck_assert_uint_eq(evidence.strata[0].recording, 77);
	ck_assert_uint_eq(evidence.strata[0].followed, 1);
	ck_assert_uint_eq(seen(sample_compare, HP_COUNTED_FALL, NULL), 1);
	ck_assert_uint_eq(seen(sample_compare, HP_COUNTED_TAKEN, NULL), 0);
	ck_assert_uint_eq(seen(sample_loop, HP_COUNTED_TAKEN, NULL), 2);
	assert_all_are_of(HP_OUTCOMES_OF_REGISTERS);
	ck_assert_uint_eq(seen(sample_loop, HP_COUNTED_FALL, NULL), 1);
	ck_assert_uint_eq(seen(sample_jump, HP_COUNTED_INDIRECT_JUMP, sample_case1), 1);
	/* Nobody sent the stack. */
	ck_assert_uint_eq(seen(sample_stack, HP_COUNTED_TAKEN, NULL), 0);
	ck_assert_uint_eq(seen(sample_stack, HP_COUNTED_FALL, NULL), 0);
}

/* Much more may come with it, for call paths. */
TEST(the_beginning_of_a_samples_stack_is_read_and_other_memory_is_not)
{
	static const uint8_t stack[2048] = { 9 };
	struct hp_record record = sample_at(sample_case0, 1, 2);

	record.sample.stack = stack;
	record.sample.stack_bytes = sizeof(stack);
	for (unsigned i = 0; i < 5; i++)
		follow(&record);
	write_all();
	ck_assert_uint_eq(seen(sample_stack, HP_COUNTED_FALL, NULL), 5);
	ck_assert_uint_eq(seen(sample_unknown, HP_COUNTED_TAKEN, NULL), 0);
	ck_assert_uint_eq(seen(sample_unknown, HP_COUNTED_FALL, NULL), 0);
}

TEST(what_was_written_is_not_written_again)
{
	struct hp_record record = sample_at(sample_code, 9, 5);

	follow(&record);
	write_all();
	ck_assert_uint_eq(seen(sample_compare, HP_COUNTED_TAKEN, sample_end), 1);
	write_all();
	ck_assert(hp_window_evidence_is_empty(&evidence));
}

/* More or less a fifth: some standard deviations. */
static void assert_about(uint64_t found, uint64_t expected)
{
	ck_assert_uint_gt(found, expected * 4 / 5);
	ck_assert_uint_lt(found, expected * 6 / 5);
}

TEST(all_of_a_commands_first_samples_are_followed_and_then_ever_fewer)
{
	enum { MORE = OUTCOMES_ALL_SAMPLES };
	struct hp_record record = sample_at(sample_loop, 0, 5);
	struct context other = bench.context;

	other.command = names_number(&bench.commands, "other");
	for (unsigned i = 0; i < OUTCOMES_ALL_SAMPLES; i++)
		follow(&record);
	write_all();
	ck_assert_uint_eq(evidence.strata[0].followed, OUTCOMES_ALL_SAMPLES);
	for (unsigned i = 0; i < MORE; i++) {
		follow(&record);
		outcomes_follow(bench.outcomes, &record, &other);
	}
	write_all();
	ck_assert_uint_eq(evidence.stratum_count, 2);
	ck_assert_str_eq(evidence.strata[0].command, "other");
	ck_assert_uint_eq(evidence.strata[0].followed, MORE);
	assert_about(evidence.strata[1].followed, MORE / 2);
	/* Up to four times as many, and on. */
	for (unsigned i = 0; i < 16 * OUTCOMES_ALL_SAMPLES; i++)
		follow(&record);
	write_all();
	for (unsigned i = 0; i < MORE; i++)
		follow(&record);
	write_all();
	assert_about(evidence.strata[0].followed, MORE / OUTCOMES_ONE_IN);
}

/* Twice round the loop in 4 and 6 cycles, out of it in 20, and through the table; the sample is on
 * the way from there. How long it took to the first branch is of no code that is known. */
static struct hp_record with_branches(void)
{
	const char *loop = sample_head;

	return (struct hp_record){
		.kind = HP_RECORD_SAMPLE,
		.cpu_mode = PERF_RECORD_MISC_USER,
		.sample.address = (uintptr_t)sample_stack,
		.sample.branch_count = 4,
		.sample.branches = {
			{ (uintptr_t)sample_jump, (uintptr_t)sample_case1, 20 },
			{ (uintptr_t)sample_loop, (uintptr_t)loop, 6 },
			{ (uintptr_t)sample_loop, (uintptr_t)loop, 4 },
			{ (uintptr_t)sample_loop, (uintptr_t)loop, 7000 },
		},
	};
}

TEST(branch_records_say_what_ran)
{
	const char *loop = sample_head;
	struct hp_record record = with_branches();

	/* Not recorded. */
	record.sample.branches[3] = (struct hp_record_branch){ 0 };
	follow(&record);
	write_all();
	ck_assert_uint_eq(evidence.strata[0].followed, 1);
	ck_assert_uint_eq(seen(sample_loop, HP_COUNTED_TAKEN, loop), 2);
	ck_assert_uint_eq(seen(sample_loop, HP_COUNTED_FALL, NULL), 1);
	ck_assert_uint_eq(seen(sample_jump, HP_COUNTED_INDIRECT_JUMP, sample_case1), 1);
	/* Where the sample is nothing has run yet. */
	ck_assert_uint_eq(seen(sample_stack, HP_COUNTED_FALL, NULL), 0);
	assert_all_are_of(HP_OUTCOMES_OF_RECORDS);
}

/* Of straight code from one place to another, by kind. */
static uint64_t range_sum(uint8_t kind, const char *at, const char *to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < evidence.strata[0].range_count; i++) {
		const struct hp_counted *item = &evidence.strata[0].ranges[i];

		if (item->kind != kind || item->at.value != (uintptr_t)at - bench.shift ||
		    item->to.value != (uintptr_t)to - bench.shift)
			continue;
		for (size_t j = 0; j < HP_RECORD_GROUPS; j++)
			sum += item->counts[j];
	}
	return sum;
}

TEST(branch_records_say_how_long_straight_code_takes)
{
	const char *loop = sample_head;
	struct hp_record record = with_branches();
	struct hp_record none = record;
	struct hp_record gap = record;
	struct hp_record full = record;

	for (unsigned i = 0; i < 4; i++)
		none.sample.branches[i].cycles = 0;
	gap.sample.branches[2].from = 0;
	full.sample.branches[1].cycles = UINT16_MAX;
	ranges_take(bench.ranges, &none, 100000, &bench.context);
	ranges_take(bench.ranges, &gap, 100000, &bench.context);
	ranges_take(bench.ranges, &full, 100000, &bench.context);
	for (unsigned i = 0; i < 3; i++)
		ranges_take(bench.ranges, &record, 100000, &bench.context);
	write_all();
	ck_assert_uint_eq(evidence.stratum_count, 1);
	ck_assert_uint_eq(range_sum(HP_COUNTED_RANGE, loop, sample_loop), 6);
	ck_assert_uint_eq(range_sum(HP_COUNTED_RANGE_CYCLES, loop, sample_loop), 30);
	ck_assert_uint_eq(range_sum(HP_COUNTED_RANGE, loop, sample_jump), 3);
	ck_assert_uint_eq(range_sum(HP_COUNTED_RANGE_CYCLES, loop, sample_jump), 60);
	ck_assert_uint_eq(range_sum(HP_COUNTED_RANGE_TIME, sample_case1, sample_case1), 300000);
	for (unsigned i = 0; i < HP_RECORD_GROUPS; i++)
		ck_assert_uint_eq(evidence.strata[0].record_cycles[i], i < 3 ? 100000 : 0);
	write_all();
	ck_assert(hp_window_evidence_is_empty(&evidence));
}

/* Of places that are no code, backwards, and across a call, which would have been recorded. */
TEST(branch_records_that_make_no_sense_say_nothing)
{
	struct hp_record record = {
		.kind = HP_RECORD_SAMPLE,
		.cpu_mode = PERF_RECORD_MISC_USER,
		.sample.address = (uintptr_t)sample_code,
		.sample.branch_count = 3,
		.sample.branches = {
			{ 0x10, UINT64_MAX },
			{ UINT64_MAX, (uintptr_t)sample_end },
			{ (uintptr_t)sample_end, 0x20 },
		},
	};

	follow(&record);
	write_all();
	ck_assert_uint_eq(evidence.strata[0].outcome_count, 0);
}

TEST(samples_without_registers_of_their_own_are_not_followed)
{
	struct hp_record none = sample_at(sample_code, 3, 5);
	struct hp_record in_kernel = sample_at(sample_code, 3, 5);
	struct hp_record elsewhere = sample_at(sample_code, 3, 5);

	none.sample.register_count = 0;
	in_kernel.cpu_mode = PERF_RECORD_MISC_KERNEL;
	elsewhere.sample.address++;
	follow(&none);
	follow(&in_kernel);
	follow(&elsewhere);
	write_all();
	ck_assert(hp_window_evidence_is_empty(&evidence));
}

TEST(code_that_is_mapped_from_nowhere_is_not_followed)
{
	struct hp_record record = sample_at((const char *)0x1000, 3, 5);

	follow(&record);
	write_all();
	ck_assert_uint_eq(evidence.strata[0].followed, 1);
	ck_assert_uint_eq(evidence.strata[0].outcome_count, 0);
}

HP_TEST_MAIN("collect/outcomes")
#else

TEST(there_is_no_interpreter_for_this_machine)
{
	ck_assert_uint_eq(hp_sampled_registers(), 0);
}

HP_TEST_MAIN("collect/outcomes")
#endif
