/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/bytes.h>
#include <hpcprof/sample/record.h>

#include <linux/perf_event.h>
#include <string.h>

/* Reads a number in native byte order, unlike numbers on disk: the kernel of this machine writes
 * rings. */
static bool take_u32(struct hp_reader *reader, uint32_t *value)
{
	return hp_read_copy(reader, value, sizeof(*value));
}

static bool take_u64(struct hp_reader *reader, uint64_t *value)
{
	return hp_read_copy(reader, value, sizeof(*value));
}

/* A NUL-terminated string; the kernel pads it with NULs to a multiple of 8. */
static bool take_string(struct hp_reader *reader, const char **text)
{
	size_t left = hp_reader_left(reader);
	const uint8_t *bytes;

	*text = (const char *)reader->at;
	return left && memchr(reader->at, 0, left) && hp_read_bytes(reader, left, &bytes);
}

/* The size of what sample_id_all appends to records other than samples: TID, TIME, ID, STREAM_ID,
 * CPU, IDENTIFIER. */
static size_t trailer_size(struct hp_record_layout layout)
{
	return 16 + sizeof(uint64_t) * ((size_t)layout.event_id + layout.stream + layout.cpu +
					layout.identifier);
}

/* Each field has 8 bytes; the CPU's includes 4 bytes of padding. */
static bool parse_origin(struct hp_reader *reader, struct hp_record_layout layout,
			 struct hp_record *record)
{
	uint64_t skipped;
	uint32_t padding;

	return (!layout.event_id || take_u64(reader, &record->id)) &&
	       (!layout.stream || take_u64(reader, &skipped)) &&
	       (!layout.cpu || (take_u32(reader, &record->cpu) && take_u32(reader, &padding)));
}

static size_t sample_time_offset(struct hp_record_layout layout)
{
	/* header, [identifier], ip, pid and tid */
	return sizeof(struct perf_event_header) + (layout.identifier ? 24 : 16);
}

uint64_t hp_record_time(const uint8_t *bytes, size_t size, struct hp_record_layout layout)
{
	struct perf_event_header header;
	size_t offset;
	uint64_t time;

	memcpy(&header, bytes, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		offset = sample_time_offset(layout);
	else
		offset = size < trailer_size(layout) ? size : size - trailer_size(layout) + 8;
	if (offset + sizeof(time) > size)
		return 0;
	memcpy(&time, bytes + offset, sizeof(time));
	return time;
}

/* Parses addresses, between marks that tell whether the following ones are in the kernel or in user
 * code. Others (hypervisors, guests) are left out. */
static bool parse_chain(struct hp_reader *reader, struct hp_record *record)
{
	bool is_skipped = true;
	bool is_user = false;
	uint64_t count;

	if (!take_u64(reader, &count) || count > hp_reader_left(reader) / sizeof(uint64_t))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address;

		if (!take_u64(reader, &address))
			return false;
		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			is_user = address == (uint64_t)PERF_CONTEXT_USER;
			is_skipped = !is_user && address != (uint64_t)PERF_CONTEXT_KERNEL;
			continue;
		}
		if (is_skipped || record->sample.chain_count == HP_RECORD_CHAIN)
			continue;
		record->sample.chain[record->sample.chain_count++] = address;
		if (!is_user)
			record->sample.chain_user = record->sample.chain_count;
	}
	return true;
}

/* Each branch takes three words: from, to, and flags with the cycles at bits 4 to 19 (struct
 * perf_branch_entry). */
static bool parse_branches(struct hp_reader *reader, struct hp_record *record)
{
	uint64_t count;

	if (!take_u64(reader, &count) ||
	    count > hp_reader_left(reader) / sizeof(struct perf_branch_entry))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct hp_record_branch branch;
		uint64_t flags;

		if (!take_u64(reader, &branch.from) || !take_u64(reader, &branch.to) ||
		    !take_u64(reader, &flags))
			return false;
		branch.cycles = (uint16_t)(flags >> 4);
		if (record->sample.branch_count < HP_RECORD_BRANCHES)
			record->sample.branches[record->sample.branch_count++] = branch;
	}
	return true;
}

/* The ABI of the registers comes first. Only those of 64-bit programs are kept, because the numbers
 * of others mean other registers. */
static bool parse_registers(struct hp_reader *reader, struct hp_record_layout layout,
			    struct hp_record *record)
{
	unsigned count = (unsigned)__builtin_popcountll(layout.registers);
	uint64_t abi;

	if (count > HP_RECORD_REGISTERS || !take_u64(reader, &abi))
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	if (!hp_read_copy(reader, record->sample.registers, count * sizeof(uint64_t)))
		return false;
	record->sample.register_count = abi == PERF_SAMPLE_REGS_ABI_64 ? count : 0;
	return true;
}

/* Parses the requested size, so many bytes, and the number of valid ones. */
static bool parse_stack(struct hp_reader *reader, struct hp_record *record)
{
	uint64_t size;
	uint64_t filled;

	if (!take_u64(reader, &size))
		return false;
	if (size == 0)
		return true;
	if (size > hp_reader_left(reader) ||
	    !hp_read_bytes(reader, (size_t)size, &record->sample.stack) ||
	    !take_u64(reader, &filled) || filled > size)
		return false;
	record->sample.stack_bytes = (size_t)filled;
	return true;
}

/* Of a tracepoint. */
static bool skip_raw(struct hp_reader *reader)
{
	const uint8_t *bytes;
	uint32_t size;

	return take_u32(reader, &size) && hp_read_bytes(reader, size, &bytes);
}

static bool parse_sample(struct hp_reader *reader, struct hp_record_layout layout,
			 struct hp_record *record)
{
	uint64_t skipped;

	record->kind = HP_RECORD_SAMPLE;
	return (!layout.identifier || take_u64(reader, &record->id)) &&
	       take_u64(reader, &record->sample.address) && take_u32(reader, &record->pid) &&
	       take_u32(reader, &record->tid) && take_u64(reader, &record->time_ns) &&
	       (!layout.data_address || take_u64(reader, &skipped)) &&
	       parse_origin(reader, layout, record) &&
	       (!layout.period || take_u64(reader, &record->sample.period)) &&
	       (!layout.callchain || parse_chain(reader, record)) &&
	       (!layout.raw || skip_raw(reader)) &&
	       (!layout.branches || parse_branches(reader, record)) &&
	       (!layout.registers || parse_registers(reader, layout, record)) &&
	       (!layout.stack_bytes || parse_stack(reader, record));
}

static bool parse_build_id(struct hp_reader *reader, struct hp_identity *identity)
{
	uint8_t size = 0;
	const uint8_t *skipped;

	if (!hp_read_u8(reader, &size) || !hp_read_bytes(reader, 3, &skipped) ||
	    !hp_read_copy(reader, identity->bytes, HP_IDENTITY_MAX_BYTES) ||
	    size > HP_IDENTITY_MAX_BYTES)
		return false;
	identity->kind = size ? HP_IDENTITY_BUILD_ID : HP_IDENTITY_NONE;
	identity->size = size;
	memset(identity->bytes + size, 0, HP_IDENTITY_MAX_BYTES - (size_t)size);
	return true;
}

static bool parse_mmap2(struct hp_reader *reader, bool has_build_id, struct hp_record *record)
{
	struct hp_record_mmap *mmap = &record->mmap;
	uint32_t protection;
	uint32_t flags;
	bool ok;

	record->kind = HP_RECORD_MMAP;
	ok = take_u32(reader, &record->pid) && take_u32(reader, &record->tid) &&
	     take_u64(reader, &mmap->start) && take_u64(reader, &mmap->size) &&
	     take_u64(reader, &mmap->file_offset);
	if (!ok)
		return false;
	if (has_build_id)
		ok = parse_build_id(reader, &mmap->build_id);
	else
		ok = take_u32(reader, &mmap->major) && take_u32(reader, &mmap->minor) &&
		     take_u64(reader, &mmap->inode) && take_u64(reader, &mmap->generation);
	return ok && take_u32(reader, &protection) && take_u32(reader, &flags) &&
	       take_string(reader, &mmap->path);
}

/* The record of older programs, which does not identify the file. */
static bool parse_mmap(struct hp_reader *reader, struct hp_record *record)
{
	struct hp_record_mmap *mmap = &record->mmap;

	record->kind = HP_RECORD_MMAP;
	return take_u32(reader, &record->pid) && take_u32(reader, &record->tid) &&
	       take_u64(reader, &mmap->start) && take_u64(reader, &mmap->size) &&
	       take_u64(reader, &mmap->file_offset) && take_string(reader, &mmap->path);
}

static bool parse_comm(struct hp_reader *reader, uint16_t misc, struct hp_record *record)
{
	record->kind = HP_RECORD_COMM;
	record->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	return take_u32(reader, &record->pid) && take_u32(reader, &record->tid) &&
	       take_string(reader, &record->comm.name);
}

static bool parse_fork_or_exit(struct hp_reader *reader, enum hp_record_kind kind,
			       struct hp_record *record)
{
	uint64_t time;

	record->kind = kind;
	return take_u32(reader, &record->pid) && take_u32(reader, &record->fork.parent_pid) &&
	       take_u32(reader, &record->tid) && take_u32(reader, &record->fork.parent_tid) &&
	       take_u64(reader, &time);
}

static bool parse_lost(struct hp_reader *reader, bool with_id, struct hp_record *record)
{
	uint64_t id;

	record->kind = HP_RECORD_LOST;
	return (!with_id || take_u64(reader, &id)) && take_u64(reader, &record->lost);
}

static bool parse_trailer(const uint8_t *bytes, size_t size, struct hp_record_layout layout,
			  struct hp_record *record)
{
	struct hp_reader trailer =
		hp_reader_over(bytes + size - trailer_size(layout), trailer_size(layout));
	uint32_t pid;
	uint32_t tid;

	return take_u32(&trailer, &pid) && take_u32(&trailer, &tid) &&
	       take_u64(&trailer, &record->time_ns) && parse_origin(&trailer, layout, record) &&
	       (!layout.identifier || take_u64(&trailer, &record->id));
}

bool hp_record_parse(const uint8_t *bytes, size_t size, struct hp_record_layout layout,
		     struct hp_record *record)
{
	struct perf_event_header header;
	struct hp_reader reader;

	*record = (struct hp_record){ .kind = HP_RECORD_OTHER };
	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	record->cpu_mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (header.type == PERF_RECORD_SAMPLE) {
		reader = hp_reader_over(bytes + sizeof(header), size - sizeof(header));
		return parse_sample(&reader, layout, record);
	}
	if (size < sizeof(header) + trailer_size(layout))
		return false;
	if (!parse_trailer(bytes, size, layout, record))
		return false;
	reader = hp_reader_over(bytes + sizeof(header),
				size - sizeof(header) - trailer_size(layout));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return parse_mmap2(&reader,
				   !layout.no_build_ids &&
					   header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID,
				   record);
	case PERF_RECORD_MMAP:
		return parse_mmap(&reader, record);
	case PERF_RECORD_COMM:
		return parse_comm(&reader, header.misc, record);
	case PERF_RECORD_FORK:
		return parse_fork_or_exit(&reader, HP_RECORD_FORK, record);
	case PERF_RECORD_EXIT:
		return parse_fork_or_exit(&reader, HP_RECORD_EXIT, record);
	case PERF_RECORD_LOST:
		return parse_lost(&reader, true, record);
	case PERF_RECORD_LOST_SAMPLES:
		return parse_lost(&reader, false, record);
	case PERF_RECORD_THROTTLE:
		record->kind = HP_RECORD_THROTTLE;
		return true;
	default:
		return true;
	}
}
