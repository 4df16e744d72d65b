/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose cycles are known by construction, on the core of the paper: 4 wide, 128 in flight, data
 * after 2, 9 or 259 cycles, 5 stages from fetch to dispatch. */
#include "../support.h"

#include <hpcprof/cycle/model.h>

#include <elf.h>
#include <math.h>
#include <string.h>

enum { CODE = 0x400000, DATA = 0x10000000, INSNS = 64, TURNS = 3000 };

static struct hp_trace_writer writer;
static struct hp_cycle_config config;
static struct hp_cycle_result result;
static uint8_t code[INSNS * 15], lengths[INSNS];
static struct hp_trace_access accesses[INSNS];
static struct hp_trace_block block;
static size_t code_bytes;

SETUP
{
	writer = (struct hp_trace_writer){ 0 };
	at_end((void (*)(void *))hp_trace_writer_free, &writer);
	hp_trace_begin(&writer, EM_X86_64);
	hp_assert_ok(hp_cycle_config_named("eyerman2006", &config));
	block = (struct hp_trace_block){
		.address = CODE, .lengths = lengths, .code = code, .accesses = accesses
	};
	code_bytes = 0;
}

/* --- making programs --------------------------------------------------------------------------- */

static void insn(const char *bytes, size_t count)
{
	memcpy(code + code_bytes, bytes, count);
	code_bytes += count;
	lengths[block.insn_count++] = (uint8_t)count;
}
#define INSN(bytes) insn(bytes, sizeof(bytes) - 1)

static void accessing(enum hp_trace_access_kind kind)
{
	accesses[block.access_count++] = (struct hp_trace_access){
		.bytes = 8, .insn = (uint8_t)(block.insn_count - 1), .kind = (uint8_t)kind
	};
}

/* Ends a block; the next one is at `next`. */
static void end_block(uint64_t next)
{
	ck_assert(hp_trace_add_block(&writer, &block));
	block.insn_count = block.access_count = 0;
	block.address = next;
	code_bytes = 0;
}

#define ADD   "\x48\x01\xc0"	 /* add %rax,%rax */
#define MOV   "\xb8\x01\0\0\0"	 /* mov $1,%eax */
#define MUL   "\x48\x0f\xaf\xc0" /* imul %rax,%rax */
#define LOAD  "\x48\x8b\x03"	 /* mov (%rbx),%rax */
#define CHASE "\x48\x8b\x00"	 /* mov (%rax),%rax */
#define STORE "\x48\x89\x03"	 /* mov %rax,(%rbx) */
#define JUMP  "\xeb\x00"	 /* to what follows, as far as the predictor cares */
#define JNE   "\x75\x10"	 /* 16 bytes further, if taken */

static void repeat(const char *bytes, size_t count, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		insn(bytes, count);
}
#define REPEAT(bytes, times) repeat(bytes, sizeof(bytes) - 1, times)

static void run(uint32_t number, uint64_t address, uint64_t step)
{
	struct hp_trace_run one = { .block = number };

	for (unsigned i = 0; i < INSNS; i++)
		one.addresses[i] = address + i * step;
	hp_trace_add_run(&writer, &one);
}

static double measure(bool has_truth)
{
	struct hp_cycle_options options = { .has_truth = has_truth };
	struct hp_trace *trace;

	hp_trace_end(&writer);
	ck_assert(!writer.out.failed);
	hp_assert_ok(hp_trace_open(writer.out.bytes, writer.out.size, &trace));
	options.warming = trace->instructions / 2;
	hp_assert_ok(hp_cycle_measure(trace, &config, &options, &result));
	hp_trace_close(trace);
	ck_assert_uint_ge(result.counts.instructions + config.core.retire_width, options.warming);
	return (double)result.counts.cycles / (double)result.counts.instructions;
}

static void ck_near(double found, double expected, double tolerance)
{
	ck_assert_msg(fabs(found - expected) <= tolerance, "%.4f, expected %.4f", found, expected);
}

/* All accountings and the truth are exactly of the cycles that there were. */
static void ck_add_up(void)
{
	const struct hp_cycle_counters *counters = &result.counters;
	double cpi = (double)result.counts.cycles / (double)result.counts.instructions;

	for (unsigned i = 0; i < HP_ACCOUNTINGS; i++) {
		double sum = 0;

		for (unsigned part = 0; part < HP_CYCLE_PARTS; part++)
			sum += result.stacks[i].cpi[part];
		ck_near(sum, cpi, 1e-9);
	}
	ck_assert_uint_eq(counters->path_slots + counters->strayed_slots + counters->front_slots +
				  counters->refill_slots + counters->back_slots,
			  4 * result.counts.cycles);
	ck_assert_uint_le(counters->stalled_l3, counters->stalled_l2);
	ck_assert_uint_le(counters->stalled_l2, counters->stalled_l1);
	ck_assert_uint_le(counters->stalled_l1, counters->stalled_load);
	ck_assert_uint_le(counters->stalled_load, counters->stalled);
	ck_assert_uint_le(counters->no_retire_load + counters->no_retire_empty,
			  counters->no_retire);
}

/* --- execution --------------------------------------------------------------------------------- */

static double of_loop(const char *bytes, size_t count)
{
	repeat(bytes, count, 32);
	end_block(0);
	for (unsigned i = 0; i < TURNS; i++)
		run(0, DATA, 0);
	return measure(false);
}
#define OF_LOOP(bytes) of_loop(bytes, sizeof(bytes) - 1)

TEST(independent_instructions_are_as_fast_as_the_core_is_wide)
{
	ck_near(OF_LOOP(MOV), 0.25, 0.01);
	ck_add_up();
}

TEST(a_chain_of_additions_takes_a_cycle_each)
{
	ck_near(OF_LOOP(ADD), 1, 0.01);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_BASE], 1, 0.01);
}

TEST(a_chain_of_multiplications_takes_three_and_is_the_units)
{
	ck_near(OF_LOOP(MUL), 3, 0.02);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_UNITS], 3, 0.1);
}

TEST(perfect_units_take_a_cycle)
{
	hp_assert_ok(hp_cycle_config_change(&config, "units:perfect"));
	ck_near(OF_LOOP(MUL), 1, 0.02);
}

/* What is multiplied is new each time: two units take one each per cycle. */
TEST(units_bound_what_is_independent)
{
	for (unsigned i = 0; i < 16; i++) {
		INSN(MOV);
		INSN(MUL);
		INSN(MOV);
		INSN(MUL);
		INSN("\x48\x0f\xaf\xc9"); /* imul %rcx,%rcx, whose chain is the longest */
		if (block.insn_count > 58)
			break;
	}
	end_block(0);
	for (unsigned i = 0; i < TURNS; i++)
		run(0, DATA, 0);
	/* 3 multiplications of 5 instructions: 1.5 cycles for units, 3 for the chain of rcx. */
	ck_near(measure(false), 0.6, 0.02);
}

/* --- data -------------------------------------------------------------------------------------- */

static double of_loads(const char *bytes, size_t count, uint64_t region, uint64_t step,
		       unsigned turns)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < 32; i++) {
		insn(bytes, count);
		accessing(HP_TRACE_LOAD);
	}
	end_block(0);
	for (unsigned i = 0; i < turns; i++) {
		run(0, DATA + at, step);
		at = region ? (at + 32 * step) % region : at + 32 * step;
	}
	return measure(true);
}
#define OF_LOADS(bytes, region, step) of_loads(bytes, sizeof(bytes) - 1, region, step, TURNS)

TEST(chased_pointers_take_what_their_level_takes)
{
	ck_near(OF_LOADS(CHASE, 64 * 32, 64), 2, 0.02);
	ck_add_up();
}

TEST(chased_pointers_of_the_second_level)
{
	ck_near(OF_LOADS(CHASE, 128 << 10, 64), 9, 0.05);
	ck_near(result.truth_low.cpi[HP_CYCLE_UNITS], 7, 0.05);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_UNITS], 9, 0.2);
}

/* Every line of memory: 250 more than the second level's. A page has one line of it: 60 more. */
TEST(chased_pointers_of_memory_and_their_pages)
{
	enum hp_cycle_part worst;

	ck_near(OF_LOADS(CHASE, 0, 4160), 259 + 60, 3);
	ck_add_up();
	/* Nothing begins while the one load is under way, but in the cycle that it begins in. */
	ck_near((double)result.counters.stalled_l3 / (double)result.counts.cycles, 318.0 / 319,
		0.01);
	ck_near((double)result.counters.no_retire_load / (double)result.counts.cycles, 1, 0.01);
	ck_near(result.truth_high.cpi[HP_CYCLE_L2D], 250, 2);
	ck_near(result.truth_low.cpi[HP_CYCLE_DTLB], 60, 2);
	/* The page is waited for first, then the line. */
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_DTLB], 60, 2);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_L2D], 257, 3);
	ck_assert(hp_cycle_error(&result, HP_ACCOUNTING_NAIVE_EXECUTED, &worst) < 0.05);
}

TEST(independent_misses_overlap_within_the_window)
{
	enum hp_cycle_part worst;
	double cpi;

	hp_assert_ok(hp_cycle_config_change(&config, "dtlb:perfect"));
	/* Loads fill the queue of 64: so many misses at a time. */
	cpi = OF_LOADS(LOAD, 0, 64);
	ck_near(cpi, 259.0 / 64, 0.3);
	/* Each miss by itself would be more than there is. */
	ck_assert(result.stacks[HP_ACCOUNTING_NAIVE].cpi[HP_CYCLE_BASE] < 0);
	ck_assert(hp_cycle_error(&result, HP_ACCOUNTING_FMT, &worst) < 0.1);
}

/* What there is no room in is counted apart. */
static void ck_full(uint64_t found, uint64_t other)
{
	ck_assert_uint_gt(found, result.counts.cycles / 2);
	ck_assert_uint_eq(other, 0);
	ck_near((double)result.counters.back_load_slots / (double)result.counters.back_slots, 1,
		0.02);
}

TEST(a_larger_queue_overlaps_more)
{
	hp_assert_ok(hp_cycle_config_change(&config, "dtlb:perfect,rob:256"));
	config.lsq_entries = 255;
	ck_near(OF_LOADS(LOAD, 0, 64), 259.0 / 255, 0.1);
	ck_full(result.counters.queue_cycles, result.counters.buffer_cycles);
}

TEST(behind_it_is_the_reorder_buffer)
{
	hp_assert_ok(hp_cycle_config_change(&config, "dtlb:perfect"));
	config.lsq_entries = 256;
	ck_near(OF_LOADS(LOAD, 0, 64), 259.0 / 128, 0.1);
	ck_full(result.counters.buffer_cycles, result.counters.queue_cycles);
}

TEST(in_order_nothing_overlaps)
{
	hp_assert_ok(hp_cycle_config_change(&config, "dtlb:perfect"));
	config.is_in_order = true;
	/* Each of these takes as many cycles as 64 of those above. */
	ck_near(of_loads(LOAD, sizeof(LOAD) - 1, 0, 64, TURNS / 20), 259, 3);
	ck_add_up();
}

TEST(in_order_an_instruction_takes_a_cycle)
{
	config.is_in_order = true;
	ck_near(OF_LOOP(MOV), 1, 0.01);
}

static double of_stores(uint64_t step)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < 32; i++) {
		INSN(STORE);
		accessing(HP_TRACE_STORE);
	}
	end_block(0);
	for (unsigned i = 0; i < TURNS; i++) {
		run(0, DATA + at, step);
		at += 32 * step;
	}
	return measure(true);
}

/* Each waits for its line when it has retired, as many at a time as there are entries. */
TEST(stores_that_miss_fill_the_store_buffer)
{
	config.has_store_buffer = true;
	config.geometry.store_entries = 8;
	ck_near(of_stores(64), 259.0 / 8, 1);
	ck_add_up();
	ck_near(result.truth_low.cpi[HP_CYCLE_STORE], 259.0 / 8, 1);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_STORE], 259.0 / 8, 1);
	ck_near((double)result.counters.store_full / (double)result.counts.cycles, 1, 0.05);
	ck_near((double)result.counters.store_bound / (double)result.counts.cycles, 1, 0.1);
}

TEST(stores_that_hit_leave_one_in_a_cycle)
{
	config.has_store_buffer = true;
	config.geometry.store_entries = 8;
	ck_near(of_stores(0), 1, 0.05);
}

TEST(nobody_waits_for_stores_of_a_core_without_a_store_buffer)
{
	ck_near(of_stores(64), 0.25, 0.02);
	ck_near(result.truth_high.cpi[HP_CYCLE_STORE], 0, 1e-9);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_STORE], 0, 1e-9);
}

/* Loads that miss hold up retirement, and stores behind them: they are the cause. */
TEST(a_store_buffer_full_behind_a_load_is_the_loads_doing)
{
	config.has_store_buffer = true;
	config.geometry.store_entries = 8;
	INSN(CHASE);
	accessing(HP_TRACE_LOAD);
	for (unsigned i = 0; i < 24; i++) {
		INSN(STORE);
		accessing(HP_TRACE_STORE);
	}
	end_block(0);
	for (unsigned i = 0; i < TURNS; i++) {
		struct hp_trace_run one = { .block = 0 };

		one.addresses[0] = DATA + i * UINT64_C(64);
		for (unsigned k = 1; k <= 24; k++)
			one.addresses[k] = DATA - 64;
		hp_trace_add_run(&writer, &one);
	}
	measure(true);
	ck_assert(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_STORE] <
		  0.2 * result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_L2D]);
}

TEST(a_load_waits_for_the_store_of_its_bytes)
{
	for (unsigned i = 0; i < 16; i++) {
		INSN(STORE);
		accessing(HP_TRACE_STORE);
		INSN(LOAD);
		accessing(HP_TRACE_LOAD);
	}
	end_block(0);
	for (unsigned i = 0; i < TURNS; i++)
		run(0, DATA, 0);
	/* Through memory and back: a store's cycle and a load's two. */
	ck_near(measure(false), 1.5, 0.02);
}

/* --- code -------------------------------------------------------------------------------------- */

/* Blocks of one line each, 64 bytes behind one another. */
static void add_lines(unsigned lines)
{
	for (unsigned line = 0; line < lines; line++) {
		REPEAT(MOV, 12);
		REPEAT("\x90", 4);
		end_block(CODE + 64 * (line + 1));
	}
}

TEST(code_of_the_second_level_takes_nine_for_each_line)
{
	enum { LINES = 512, ROUNDS = 20 };
	enum hp_cycle_part worst;

	hp_assert_ok(hp_cycle_config_change(&config, "itlb:perfect"));
	add_lines(LINES);
	for (unsigned i = 0; i < LINES * ROUNDS; i++)
		run(i % LINES, DATA, 0);
	/* 9 until it comes, then 16 instructions at 8 per cycle. */
	ck_near(measure(true), (9 + 2) / 16.0, 0.02);
	ck_near(result.one_pass_cpi, (9 + 2) / 16.0, 0.03);
	ck_near(result.truth_low.cpi[HP_CYCLE_L1I], (9 + 2 - 4) / 16.0, 0.03);
	ck_near((double)result.counts.misses[HP_CYCLE_L1I], (double)result.counts.instructions / 16,
		4);
	ck_assert(hp_cycle_error(&result, HP_ACCOUNTING_POWER5, &worst) > 0.1);
}

/* Lines of code, each with so many moves of 5 bytes, instructions of 1 byte, and a jump to the next line: more lines
 * than the first cache holds. */
static void run_lines_that_miss(unsigned moves, unsigned short_ones)
{
	enum { LINES = 512, ROUNDS = 20 };

	hp_assert_ok(hp_cycle_config_change(&config, "itlb:perfect"));
	for (unsigned line = 0; line < LINES; line++) {
		REPEAT(MOV, moves);
		REPEAT("\x90", short_ones);
		INSN("\x0f\x1f\x40\0");
		INSN(JUMP);
		end_block(CODE + 64 * (line + 1));
	}
	for (unsigned i = 0; i < LINES * ROUNDS; i++)
		run(i % LINES, DATA, 0);
}

/* For two cycles of nine decode takes what was fetched in two before. */
TEST(code_that_misses_costs_nothing_until_the_fetch_buffer_has_too_little)
{
	run_lines_that_miss(11, 3);
	ck_near(measure(true), (9 + 2) / 16.0, 0.02);
	ck_near(result.truth_low.cpi[HP_CYCLE_L1I], 7 / 16.0, 0.01);
	ck_near(result.stacks[HP_ACCOUNTING_FMT_MISSES].cpi[HP_CYCLE_L1I], 9 / 16.0, 0.01);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_L1I], 7 / 16.0, 0.01);
	ck_near(result.stacks[HP_ACCOUNTING_SFMT].cpi[HP_CYCLE_L1I], 7 / 16.0, 0.01);
}

/* 20 instructions take three cycles after the nine, not two and a half. */
TEST(in_one_pass_too_fetch_takes_whole_cycles)
{
	double cpi;

	run_lines_that_miss(10, 8);
	cpi = measure(false);
	ck_near(cpi, (9 + 3) / 20.0, 0.01);
	ck_near(result.one_pass_cpi / cpi, 1, 0.02);
}

/* A cycle fetches until a branch that is taken: two instructions for a core of four. */
TEST(what_branches_cost_that_end_a_fetch_is_told)
{
	for (unsigned i = 0; i < 8; i++) {
		INSN(MOV);
		INSN("\xeb\x10");
		end_block(CODE + (i + 1) * 23);
	}
	for (unsigned i = 0; i < 8 * TURNS; i++)
		run(i % 8, DATA, 0);
	ck_near(measure(true), 0.5, 0.02);
	ck_near(result.truth_low.cpi[HP_CYCLE_BASE], 0.5, 0.02);
	ck_near(result.fetch_low, 0.25, 0.02);
	ck_near(result.fetch_high, 0.25, 0.02);
}

/* --- branches ---------------------------------------------------------------------------------- */

/* A block that ends with a branch by chance, and both that it can lead to, which go back. */
static void add_branches(unsigned turns)
{
	struct hp_random random = hp_random_seeded(1);

	REPEAT(MOV, 15);
	INSN(JNE);
	end_block(CODE + 77);
	REPEAT("\x90", 14);
	INSN("\xeb\xa3"); /* jmp to the beginning: 77 + 16 - 93 */
	end_block(CODE + 93);
	REPEAT("\x90", 14);
	INSN("\xeb\x93");
	end_block(0);
	for (unsigned i = 0; i < turns; i++) {
		run(0, DATA, 0);
		run(hp_random_next(&random) >> 32 & 1 ? 1 : 2, DATA, 0);
	}
}

TEST(a_mispredicted_branch_costs_the_front_end_and_its_resolution)
{
	enum hp_cycle_part worst;
	double mispredicts;

	add_branches(TURNS);
	(void)measure(true);
	mispredicts = (double)result.counts.mispredicts / (double)result.counts.instructions;
	ck_near(mispredicts * 31, 0.5, 0.05);
	/* 5 stages, a cycle until it begins, one until it is done; the branch's own cycle is no loss. */
	ck_near(result.truth_low.cpi[HP_CYCLE_BRANCH] / mispredicts, 6.5, 1);
	ck_near(result.stacks[HP_ACCOUNTING_FMT].cpi[HP_CYCLE_BRANCH] / mispredicts, 6.5, 1);
	ck_assert(hp_cycle_error(&result, HP_ACCOUNTING_FMT, &worst) < 0.05);
	ck_add_up();
	/* Of the refill's five cycles, the second to the fourth. */
	ck_near((double)result.counters.refill_cycles / (double)result.counts.mispredicts, 5, 0.1);
	ck_near((double)result.counters.refill_late / (double)result.counts.mispredicts, 3, 0.1);
}

/* A branch by chance that is resolved late; what follows on either side is fetched on both. */
TEST(in_one_pass_too_a_wrong_path_fetches_what_follows)
{
	enum { PLACES = 256, ROUNDS = 20 };
	struct hp_random random = hp_random_seeded(1);
	double cpi;

	hp_assert_ok(hp_cycle_config_change(&config, "itlb:perfect"));
	for (unsigned i = 0; i < PLACES; i++) {
		uint64_t at = CODE + 128 * i;

		block.address = at;
		REPEAT(MUL, 12);
		INSN(JNE);
		end_block(at + 50);
		REPEAT("\x90", 12);
		INSN("\xeb\x40"); /* jmp to the next place: 50 + 14 + 64 */
		end_block(at + 66);
		INSN("\xeb\x3c");
		end_block(0);
	}
	for (unsigned i = 0; i < PLACES * ROUNDS; i++) {
		unsigned first = i % PLACES * 3;

		run(first, DATA, 0);
		run(first + (hp_random_next(&random) >> 32 & 1 ? 1 : 2), DATA, 0);
	}
	cpi = measure(false);
	ck_assert_uint_gt(result.counts.strayed_misses[HP_CYCLE_L1I], PLACES);
	ck_near(result.one_pass_cpi / cpi, 1, 0.02);
}

TEST(with_a_perfect_predictor_there_is_no_wrong_path)
{
	hp_assert_ok(hp_cycle_config_change(&config, "branch:perfect"));
	add_branches(TURNS);
	(void)measure(false);
	ck_assert_uint_eq(result.counts.mispredicts, 0);
	for (unsigned part = 0; part < HP_CYCLE_PARTS; part++)
		ck_assert_uint_eq(result.counts.strayed_misses[part], 0);
}

/* A branch that waits for memory is resolved late: more than the front end, which is all that the naive
 * way knows of. */
TEST(a_branch_that_waits_for_data_costs_more)
{
	struct hp_random random = hp_random_seeded(1);

	INSN("\x48\x85\xc0"); /* test %rax,%rax */
	INSN(JNE);
	end_block(CODE + 5);
	REPEAT("\x90", 14);
	INSN("\xeb\x10");
	end_block(CODE + 21);
	REPEAT("\x90", 14);
	INSN("\xeb\x00");
	end_block(CODE + 37);
	INSN(LOAD);
	accessing(HP_TRACE_LOAD);
	INSN("\xeb\xd6"); /* to the beginning */
	end_block(0);
	for (unsigned i = 0; i < TURNS; i++) {
		run(3, DATA + (i * UINT64_C(64)) % (128 << 10), 0);
		run(0, DATA, 0);
		run(hp_random_next(&random) >> 32 & 1 ? 1 : 2, DATA, 0);
	}
	(void)measure(true);
	ck_assert(result.truth_low.cpi[HP_CYCLE_BRANCH] >
		  1.3 * result.stacks[HP_ACCOUNTING_NAIVE].cpi[HP_CYCLE_BRANCH]);
}

/* --- traces ------------------------------------------------------------------------------------ */

/* Of one instruction. */
static void ck_refused(enum hp_error_class class, uint8_t machine, uint64_t warming)
{
	struct hp_cycle_options options = { .warming = warming };
	struct hp_trace *trace;

	INSN(ADD);
	end_block(0);
	run(0, 0, 0);
	hp_trace_end(&writer);
	writer.out.bytes[16] = machine;
	hp_assert_ok(hp_trace_open(writer.out.bytes, writer.out.size, &trace));
	hp_assert_fails(class, hp_cycle_measure(trace, &config, &options, &result));
	hp_trace_close(trace);
}

TEST(a_trace_of_another_machine_is_refused)
{
	ck_refused(HP_ERROR_USAGE, EM_AARCH64, 0);
}

TEST(a_trace_that_only_warms_measures_nothing)
{
	ck_refused(HP_ERROR_INSUFFICIENT, EM_X86_64, 1000);
}

HP_TEST_MAIN("cycle/core")
