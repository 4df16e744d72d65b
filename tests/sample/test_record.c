/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"
#include "raw.h"

#include <hpcprof/base/cleanup.h>

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

static const struct hp_record_layout layouts[] = {
	{ .identifier = false },
	{ .identifier = true },
	{ .period = true },
	{ .identifier = true, .period = true },
	{ .registers = 0x7 },
	{ .identifier = true, .period = true, .registers = 0x800000000000ff01, .stack_bytes = 64 },
	{ .period = true, .stack_bytes = 8 },
	{ .branches = true },
	{ .callchain = true },
	{ .identifier = true,
	  .period = true,
	  .callchain = true,
	  .branches = true,
	  .registers = 0xff,
	  .stack_bytes = 8 },
	{ .event_id = true, .cpu = true, .period = true },
	{ .identifier = true,
	  .data_address = true,
	  .event_id = true,
	  .stream = true,
	  .cpu = true,
	  .period = true,
	  .callchain = true,
	  .raw = true,
	  .branches = true,
	  .registers = 0xff,
	  .stack_bytes = 8 },
};

static const struct raw_trailer who = { .pid = 41, .tid = 42, .time_ns = 987654321, .id = 77 };

static uint64_t id_in(struct hp_record_layout layout)
{
	return layout.identifier || layout.event_id ? who.id : 0;
}

/* From a copy of exact size, so that a sanitizer sees a read past the end. The record's strings
 * point into `*copy`. */
static bool parse(const struct raw *raw, struct hp_record_layout layout, uint8_t **copy,
		  struct hp_record *record)
{
	*copy = malloc(raw->size ? raw->size : 1);
	ck_assert_ptr_nonnull(*copy);
	memcpy(*copy, raw->bytes, raw->size);
	return hp_record_parse(*copy, raw->size, layout, record);
}

static bool is_refused(const struct raw *raw, struct hp_record_layout layout)
{
	_cleanup_free_ uint8_t *copy;
	struct hp_record record;
	bool parsed = parse(raw, layout, &copy, &record);

	return !parsed;
}

/* The body of a mapping up to and with the flags; the path is missing. */
static struct raw mmap2(const void *build_id, uint8_t build_id_size)
{
	struct raw raw =
		raw_begin(PERF_RECORD_MMAP2,
			  PERF_RECORD_MISC_USER | (build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));

	raw_u32(&raw, 5);
	raw_u32(&raw, 6);
	raw_u64(&raw, 0x7f0000001000);
	raw_u64(&raw, 0x3000);
	raw_u64(&raw, 0x2000);
	if (build_id) {
		raw_u8(&raw, build_id_size);
		raw_u8(&raw, 0);
		raw_u16(&raw, 0);
		raw_bytes(&raw, build_id, HP_IDENTITY_MAX_BYTES);
	} else {
		raw_u32(&raw, 0xfe);
		raw_u32(&raw, 3);
		raw_u64(&raw, 123456);
		raw_u64(&raw, 99);
	}
	raw_u32(&raw, 5);
	raw_u32(&raw, 2);
	return raw;
}

TEST(a_sample_parses_in_every_layout)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(layouts); i++) {
		struct raw raw = raw_sample(layouts[i], who, 0xffffffff81000123, 1000003);
		struct hp_record record;
		_cleanup_free_ uint8_t *copy;

		ck_assert(parse(&raw, layouts[i], &copy, &record));
		ck_assert_int_eq(record.kind, HP_RECORD_SAMPLE);
		ck_assert_uint_eq(record.cpu_mode, PERF_RECORD_MISC_USER);
		ck_assert_uint_eq(record.pid, who.pid);
		ck_assert_uint_eq(record.tid, who.tid);
		ck_assert_uint_eq(record.time_ns, who.time_ns);
		ck_assert_uint_eq(record.sample.address, 0xffffffff81000123);
		ck_assert_uint_eq(record.sample.period, layouts[i].period ? 1000003 : 0);
		ck_assert_uint_eq(record.id, id_in(layouts[i]));
		ck_assert_uint_eq(record.cpu, layouts[i].cpu ? RAW_CPU : 0);
		ck_assert_uint_eq(record.sample.chain_count, layouts[i].callchain ? 5 : 0);
		ck_assert_uint_eq(record.sample.chain_user, layouts[i].callchain ? 2 : 0);
		for (unsigned j = 0; j < record.sample.chain_count; j++)
			ck_assert_uint_eq(record.sample.chain[j],
					  (j < 2 ? 0xffffffff80000000 : 0) + 0x6000 + j);
		ck_assert_uint_eq(record.sample.branch_count, layouts[i].branches ? 3 : 0);
		for (unsigned j = 0; j < record.sample.branch_count; j++) {
			ck_assert_uint_eq(record.sample.branches[j].from, 0x4000 + j);
			ck_assert_uint_eq(record.sample.branches[j].to, 0x5000 + j);
			ck_assert_uint_eq(record.sample.branches[j].cycles, j);
		}
		ck_assert_int_eq((int)record.sample.register_count,
				 __builtin_popcountll(layouts[i].registers));
		for (unsigned j = 0; j < record.sample.register_count; j++)
			ck_assert_uint_eq(record.sample.registers[j], 0x1000 + j);
		ck_assert_uint_eq(record.sample.stack_bytes, layouts[i].stack_bytes / 2);
		for (unsigned j = 0; j < record.sample.stack_bytes; j++)
			ck_assert_uint_eq(record.sample.stack[j], j);
	}
}

static const struct hp_record_layout with_all = {
	.identifier = true, .period = true, .registers = 0xff, .stack_bytes = 64
};
static const size_t registers_offset = 8 + 8 + 8 + 8 + 8 + 8;

TEST(registers_of_no_program_or_of_another_kind_are_none)
{
	for (uint64_t abi = 0; abi < 2; abi++) {
		struct raw raw = raw_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		struct hp_record record;
		_cleanup_free_ uint8_t *copy;

		for (unsigned i = 0; i < 5; i++)
			raw_u64(&raw, i);
		raw_u64(&raw, abi);
		for (unsigned i = 0; abi && i < 8; i++)
			raw_u64(&raw, i);
		raw_u64(&raw, 0); /* no stack either, and then no size of what there is */
		raw_size(&raw);
		ck_assert(parse(&raw, with_all, &copy, &record));
		ck_assert_uint_eq(record.sample.register_count, 0);
		ck_assert_uint_eq(record.sample.stack_bytes, 0);
	}
}

TEST(a_sample_cut_short_anywhere_is_refused)
{
	struct raw whole = raw_sample(with_all, who, 0x1234, 1);

	for (size_t size = 8; size < whole.size; size += 8) {
		struct raw cut = whole;

		cut.size = size;
		raw_size(&cut);
		ck_assert_msg(is_refused(&cut, with_all), "%zu of %zu bytes", size, whole.size);
	}
}

static const struct hp_record_layout with_branches = { .branches = true, .registers = 0x3 };

TEST(branches_cut_short_or_promised_are_refused)
{
	static const uint64_t counts[] = { 4, 5, 1000, UINT64_MAX / 24 + 1, UINT64_MAX };
	struct raw whole = raw_sample(with_branches, who, 0x1234, 1);
	size_t at = 8 + 8 + 8 + 8;

	for (size_t size = 8; size < whole.size; size += 8) {
		struct raw cut = whole;

		cut.size = size;
		raw_size(&cut);
		ck_assert_msg(is_refused(&cut, with_branches), "%zu of %zu bytes", size,
			      whole.size);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(counts); i++) {
		struct raw raw = whole;

		memcpy(raw.bytes + at, &counts[i], 8);
		ck_assert_msg(is_refused(&raw, with_branches), "%llu branches",
			      (unsigned long long)counts[i]);
	}
}

TEST(a_path_cut_short_or_promised_is_refused)
{
	static const struct hp_record_layout layout = { .callchain = true };
	struct raw whole = raw_sample(layout, who, 0x1234, 1);
	size_t begin = whole.size - (1 + 9) * sizeof(uint64_t);
	uint64_t promises[] = { 10, HP_RECORD_CHAIN + 1, UINT64_MAX };

	for (size_t size = begin; size < whole.size; size++) {
		struct raw cut = whole;

		cut.size = size;
		ck_assert_msg(is_refused(&cut, layout), "%zu of %zu bytes", size, whole.size);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(promises); i++) {
		struct raw raw = whole;

		memcpy(raw.bytes + begin, &promises[i], sizeof(promises[i]));
		ck_assert(is_refused(&raw, layout));
	}
}

/* What is nearest to the root is left out. */
TEST(of_a_long_path_the_innermost_are_kept)
{
	static const struct hp_record_layout layout = { .callchain = true };
	enum { MANY = HP_RECORD_CHAIN + 10 };
	static uint8_t bytes[sizeof(struct perf_event_header) + 24 + (2 + MANY) * 8];
	struct raw head = raw_sample((struct hp_record_layout){ 0 }, who, 0x1234, 1);
	uint64_t words[2 + MANY] = { 1 + MANY, PERF_CONTEXT_USER };
	struct hp_record record;

	for (uint64_t i = 0; i < MANY; i++)
		words[2 + i] = 1 + i;
	ck_assert_uint_eq(head.size + sizeof(words), sizeof(bytes));
	memcpy(bytes, head.bytes, head.size);
	memcpy(bytes + head.size, words, sizeof(words));
	ck_assert(hp_record_parse(bytes, sizeof(bytes), layout, &record));
	ck_assert_uint_eq(record.sample.chain_count, HP_RECORD_CHAIN);
	ck_assert_uint_eq(record.sample.chain_user, 0);
	ck_assert_uint_eq(record.sample.chain[HP_RECORD_CHAIN - 1], HP_RECORD_CHAIN);
}

TEST(of_many_branches_the_latest_are_kept)
{
	static const struct hp_record_layout layout = { .branches = true };
	struct {
		uint8_t bytes[8 + 24 + 8 + 100 * 24];
		size_t size;
	} large = { .size = 0 };
	uint64_t words[4 + 1 + 300] = { 0 };
	struct hp_record record;
	struct raw head = raw_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	uint16_t size = sizeof(large.bytes);

	words[3] = 100;
	for (unsigned i = 0; i < 100; i++)
		words[4 + 3 * i] = i + 1;
	memcpy(large.bytes, head.bytes, 8);
	memcpy(large.bytes + 6, &size, 2);
	memcpy(large.bytes + 8, words, sizeof(large.bytes) - 8);
	ck_assert(hp_record_parse(large.bytes, sizeof(large.bytes), layout, &record));
	ck_assert_uint_eq(record.sample.branch_count, HP_RECORD_BRANCHES);
	ck_assert_uint_eq(record.sample.branches[0].from, 1);
	ck_assert_uint_eq(record.sample.branches[HP_RECORD_BRANCHES - 1].from, HP_RECORD_BRANCHES);
}

TEST(a_stack_larger_than_its_record_is_refused)
{
	static const uint64_t sizes[] = { 72, 1 << 20, UINT64_MAX, UINT64_MAX - 7 };
	size_t at = registers_offset + 8 + 8 * 8;

	for (size_t i = 0; i < HP_ARRAY_COUNT(sizes); i++) {
		struct raw raw = raw_sample(with_all, who, 0x1234, 1);

		memcpy(raw.bytes + at, &sizes[i], 8);
		ck_assert(is_refused(&raw, with_all));
		raw = raw_sample(with_all, who, 0x1234, 1);
		memcpy(raw.bytes + at + 8 + 64, &sizes[i], 8); /* more filled than there is */
		ck_assert(is_refused(&raw, with_all));
	}
}

TEST(a_mapping_of_a_file_carries_its_inode)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(layouts); i++) {
		struct raw raw = mmap2(NULL, 0);
		struct hp_record record;
		_cleanup_free_ uint8_t *copy;

		raw_string(&raw, "/usr/lib/libm.so.6");
		raw_end(&raw, layouts[i], who);
		ck_assert(parse(&raw, layouts[i], &copy, &record));
		ck_assert_int_eq(record.kind, HP_RECORD_MMAP);
		ck_assert_uint_eq(record.pid, 5);
		ck_assert_uint_eq(record.tid, 6);
		ck_assert_uint_eq(record.time_ns, who.time_ns);
		ck_assert_uint_eq(record.id, id_in(layouts[i]));
		ck_assert_uint_eq(record.mmap.start, 0x7f0000001000);
		ck_assert_uint_eq(record.mmap.size, 0x3000);
		ck_assert_uint_eq(record.mmap.file_offset, 0x2000);
		ck_assert_uint_eq(record.mmap.major, 0xfe);
		ck_assert_uint_eq(record.mmap.minor, 3);
		ck_assert_uint_eq(record.mmap.inode, 123456);
		ck_assert_uint_eq(record.mmap.generation, 99);
		ck_assert_int_eq(record.mmap.build_id.kind, HP_IDENTITY_NONE);
		ck_assert_uint_eq(record.mmap.build_id.size, 0);
		ck_assert_str_eq(record.mmap.path, "/usr/lib/libm.so.6");
	}
}

/* The kernel leaves a mark of another event's mapping in place. */
TEST(a_mapping_of_an_event_without_build_ids_has_an_inode_whatever_it_says)
{
	struct hp_record_layout layout = { .no_build_ids = true };
	struct raw raw = mmap2(NULL, 0);
	struct hp_record record;
	_cleanup_free_ uint8_t *copy;
	uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID;

	memcpy(raw.bytes + offsetof(struct perf_event_header, misc), &misc, sizeof(misc));
	raw_string(&raw, "/usr/lib/libm.so.6");
	raw_end(&raw, layout, who);
	ck_assert(parse(&raw, layout, &copy, &record));
	ck_assert_uint_eq(record.mmap.inode, 123456);
	ck_assert_int_eq(record.mmap.build_id.kind, HP_IDENTITY_NONE);
}

TEST(a_mapping_with_a_build_id_of_up_to_20_bytes_has_no_inode_and_with_more_is_refused)
{
	uint8_t build_id[HP_IDENTITY_MAX_BYTES];

	for (size_t i = 0; i < sizeof(build_id); i++)
		build_id[i] = (uint8_t)(0xa0 + i);
	for (unsigned size = 0; size <= UINT8_MAX; size++) {
		struct raw raw = mmap2(build_id, (uint8_t)size);
		const struct hp_identity *found;
		struct hp_record record;
		_cleanup_free_ uint8_t *copy = NULL;

		raw_string(&raw, "/bin/true");
		raw_end(&raw, layouts[1], who);
		if (size > HP_IDENTITY_MAX_BYTES) {
			ck_assert(is_refused(&raw, layouts[1]));
			continue;
		}
		ck_assert(parse(&raw, layouts[1], &copy, &record));
		found = &record.mmap.build_id;
		ck_assert_uint_eq(record.mmap.inode, 0);
		ck_assert_uint_eq(record.mmap.generation, 0);
		ck_assert_int_eq(found->kind, size ? HP_IDENTITY_BUILD_ID : HP_IDENTITY_NONE);
		ck_assert_uint_eq(found->size, size);
		ck_assert_mem_eq(found->bytes, build_id, size);
		/* Identities are compared and hashed as bytes: the rest is zero. */
		for (size_t j = size; j < sizeof(found->bytes); j++)
			ck_assert_uint_eq(found->bytes[j], 0);
		ck_assert_str_eq(record.mmap.path, "/bin/true");
	}
}

TEST(a_name_says_whether_it_came_with_an_exec)
{
	static const uint16_t misc[] = { 0, PERF_RECORD_MISC_COMM_EXEC };

	for (size_t i = 0; i < HP_ARRAY_COUNT(layouts) * HP_ARRAY_COUNT(misc); i++) {
		struct hp_record_layout layout = layouts[i / 2];
		struct raw raw = raw_comm(layout, who, "sixteen-bytes-xx", misc[i % 2]);
		struct hp_record record;
		_cleanup_free_ uint8_t *copy;

		ck_assert(parse(&raw, layout, &copy, &record));
		ck_assert_int_eq(record.kind, HP_RECORD_COMM);
		ck_assert_uint_eq(record.pid, who.pid);
		ck_assert_uint_eq(record.tid, who.tid);
		ck_assert_str_eq(record.comm.name, "sixteen-bytes-xx");
		ck_assert(record.comm.exec == (misc[i % 2] != 0));
	}
}

TEST(fork_and_exit_name_the_task_and_its_parent)
{
	static const struct {
		uint32_t type;
		enum hp_record_kind kind;
	} kinds[] = { { PERF_RECORD_FORK, HP_RECORD_FORK }, { PERF_RECORD_EXIT, HP_RECORD_EXIT } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(layouts) * HP_ARRAY_COUNT(kinds); i++) {
		struct hp_record_layout layout = layouts[i / 2];
		struct raw raw = raw_begin(kinds[i % 2].type, 0);
		struct hp_record record;
		_cleanup_free_ uint8_t *copy;

		raw_u32(&raw, 11);
		raw_u32(&raw, 12);
		raw_u32(&raw, 13);
		raw_u32(&raw, 14);
		raw_u64(&raw, 15);
		raw_end(&raw, layout, who);
		ck_assert(parse(&raw, layout, &copy, &record));
		ck_assert_int_eq(record.kind, kinds[i % 2].kind);
		ck_assert_uint_eq(record.pid, 11);
		ck_assert_uint_eq(record.fork.parent_pid, 12);
		ck_assert_uint_eq(record.tid, 13);
		ck_assert_uint_eq(record.fork.parent_tid, 14);
		ck_assert_uint_eq(record.time_ns, who.time_ns);
	}
}

TEST(both_kinds_of_loss_are_counted_alike)
{
	for (size_t i = 0; i < 2 * HP_ARRAY_COUNT(layouts); i++) {
		struct hp_record_layout layout = layouts[i / 2];
		struct raw raw = raw_begin(i % 2 ? PERF_RECORD_LOST_SAMPLES : PERF_RECORD_LOST, 0);
		struct hp_record record;
		_cleanup_free_ uint8_t *copy;

		if (i % 2 == 0)
			raw_u64(&raw, 5);
		raw_u64(&raw, 1000 + i);
		raw_end(&raw, layout, who);
		ck_assert(parse(&raw, layout, &copy, &record));
		ck_assert_int_eq(record.kind, HP_RECORD_LOST);
		ck_assert_uint_eq(record.lost, 1000 + i);
		if (i % 2)
			ck_assert_uint_eq(record.id, id_in(layout));
	}
}

TEST(a_throttle_says_which_event_was_held_back)
{
	struct raw raw = raw_begin(PERF_RECORD_THROTTLE, 0);
	struct hp_record record;
	_cleanup_free_ uint8_t *copy;

	raw_u64(&raw, 1);
	raw_u64(&raw, 2);
	raw_u64(&raw, 3);
	raw_end(&raw, layouts[1], who);
	ck_assert(parse(&raw, layouts[1], &copy, &record));
	ck_assert_int_eq(record.kind, HP_RECORD_THROTTLE);
	ck_assert_uint_eq(record.id, who.id);
}

TEST(kinds_of_no_interest_and_of_newer_kernels_are_passed_over)
{
	static const uint32_t types[] = { PERF_RECORD_UNTHROTTLE,
					  PERF_RECORD_READ,
					  PERF_RECORD_SWITCH,
					  PERF_RECORD_KSYMBOL,
					  PERF_RECORD_TEXT_POKE,
					  0,
					  1000,
					  UINT32_MAX };

	for (size_t i = 0; i < HP_ARRAY_COUNT(types); i++) {
		struct raw raw = raw_begin(types[i], 0);
		struct hp_record record;
		_cleanup_free_ uint8_t *copy;

		raw_u64(&raw, UINT64_MAX);
		raw_end(&raw, layouts[3], who);
		ck_assert(parse(&raw, layouts[3], &copy, &record));
		ck_assert_int_eq(record.kind, HP_RECORD_OTHER);
		ck_assert_uint_eq(record.time_ns, who.time_ns);
	}
}

/* Every kind with all its fields; `needed` bytes of them, without the trailer. */
static struct raw body_of(uint32_t type, bool build_id)
{
	static const uint8_t some_id[HP_IDENTITY_MAX_BYTES] = { 9, 9 };
	struct raw raw = raw_begin(type, 0);

	switch (type) {
	case PERF_RECORD_MMAP2:
		raw = mmap2(build_id ? some_id : NULL, 20);
		raw_string(&raw, "/twelve/byte");
		break;
	case PERF_RECORD_COMM:
		raw_u64(&raw, 1);
		raw_string(&raw, "twelve-bytes");
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		raw_u64(&raw, 1);
		raw_u64(&raw, 2);
		raw_u64(&raw, 3);
		break;
	case PERF_RECORD_LOST:
		raw_u64(&raw, 1);
		raw_u64(&raw, 2);
		break;
	default:
		raw_u64(&raw, 1);
	}
	return raw;
}

TEST(a_record_cut_at_any_field_is_refused)
{
	static const struct {
		uint32_t type;
		bool build_id;
	} kinds[] = {
		{ PERF_RECORD_MMAP2, false },	     { PERF_RECORD_MMAP2, true },
		{ PERF_RECORD_COMM, false },	     { PERF_RECORD_FORK, false },
		{ PERF_RECORD_EXIT, false },	     { PERF_RECORD_LOST, false },
		{ PERF_RECORD_LOST_SAMPLES, false },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(kinds); i++) {
		struct raw whole = body_of(kinds[i].type, kinds[i].build_id);

		for (size_t j = 0; j < HP_ARRAY_COUNT(layouts); j++) {
			for (size_t size = 8; size <= whole.size; size += 4) {
				struct raw cut = whole;
				bool is_whole = size == whole.size;

				cut.size = size;
				raw_end(&cut, layouts[j], who);
				ck_assert_msg(is_refused(&cut, layouts[j]) == !is_whole,
					      "type %u layout %zu cut to %zu of %zu", kinds[i].type,
					      j, size, whole.size);
			}
		}
	}
}

TEST(a_sample_cut_at_any_field_is_refused)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(layouts); i++) {
		struct raw whole = raw_sample(layouts[i], who, 1, 2);

		for (size_t size = 0; size < whole.size; size += 4) {
			struct raw cut = whole;

			cut.size = size;
			ck_assert(is_refused(&cut, layouts[i]));
		}
	}
}

TEST(a_record_without_room_for_its_trailer_is_refused)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(layouts); i++) {
		size_t trailer = layouts[i].identifier ? 24 : 16;

		for (size_t size = 0; size < trailer; size += 8) {
			struct raw raw = raw_begin(1000, 0);

			for (size_t j = 0; j < size; j += 8)
				raw_u64(&raw, 1);
			ck_assert(is_refused(&raw, layouts[i]));
		}
	}
}

TEST(a_string_without_a_nul_is_refused)
{
	struct raw raws[] = { raw_begin(PERF_RECORD_COMM, 0), mmap2(NULL, 0) };

	raw_u64(&raws[0], 1);
	for (size_t i = 0; i < HP_ARRAY_COUNT(raws); i++) {
		raw_bytes(&raws[i], "12345678", 8);
		/* The NULs of the trailer are not the string's. */
		raw_end(&raws[i], layouts[0], (struct raw_trailer){ 0 });
		ck_assert(is_refused(&raws[i], layouts[0]));
	}
}

TEST(the_time_alone_is_that_of_the_whole_record)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(layouts); i++) {
		struct raw sample = raw_sample(layouts[i], who, 1, 2);
		struct raw comm = raw_comm(layouts[i], who, "x", 0);

		ck_assert_uint_eq(hp_record_time(sample.bytes, sample.size, layouts[i]),
				  who.time_ns);
		ck_assert_uint_eq(hp_record_time(comm.bytes, comm.size, layouts[i]), who.time_ns);
	}
}

TEST(a_record_too_short_for_a_time_has_none)
{
	static const uint32_t types[] = { PERF_RECORD_SAMPLE, PERF_RECORD_COMM, 1000 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(types) * HP_ARRAY_COUNT(layouts); i++) {
		struct raw raw = raw_begin(types[i / HP_ARRAY_COUNT(layouts)], 0);
		_cleanup_free_ uint8_t *copy = malloc(raw.size);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, raw.bytes, raw.size);
		ck_assert_uint_eq(
			hp_record_time(copy, raw.size, layouts[i % HP_ARRAY_COUNT(layouts)]), 0);
	}
}

HP_TEST_MAIN("sample/record")
