/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_perf_data [--stack BYTES [--whole N]] FILE
 *
 * Finds the call paths of samples that another recorder took, with registers and stacks that it kept, for
 * scripts/path-accuracy: by the tables and the way up a stack of hpcprof record -g. FILE is a perf.data
 * file of one event, recorded on this machine by
 *	perf record --call-graph dwarf,65528 --user-regs=AX,BX,CX,DX,SI,DI,BP,SP,IP,FLAGS,R8,...,R15
 * Of each stack only BYTES are used; with --whole, all of every Nth sample, and paths that are cut are
 * joined to the thread's last one. A sample is printed as its time and how its path ends (root,
 * truncated, lost), each frame of it as its flags (E exact, R return address, ? guess), image and offset.
 * The last line has what it took: samples, frames, ns of CPU time per frame with all tables made, tables, ms of CPU
 * time to make them, bytes of tables, bytes that they were made from.
 */
#include "../../src/collect/maps/process.h"
#include "../../src/collect/paths/lasts.h"
#include "../../src/collect/paths/registers.h"
#include "../../src/collect/paths/tables.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FRAMES = 1024, MOST_PLACES = MOST_FRAMES + 1, HEADER_BYTES = 104 };
#define MOST_FILE_BYTES (UINT64_C(4) << 30)

struct job {
	struct images *images;
	struct processes processes;
	struct tables tables;
	uint64_t sample_type;
	uint64_t registers; /* which */
	size_t stack_bytes;
	size_t whole_each; /* 0: never */
	struct lasts lasts;
	/* Of the sample at hand. */
	const struct context *context;
	struct hp_path_frame places[MOST_PLACES];
	uint64_t procedures[MOST_PLACES]; /* of the places */
	struct last_frame path[MOST_FRAMES];
	HP_VECTOR(const char *) images_seen; /* by number */
	/* All samples. */
	uint64_t samples;
	uint64_t frames;
	uint64_t ns;
};

static void require(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "unwind_perf_data: %s\n", what);
	exit(1);
}

static void succeed(struct hp_error *error)
{
	require(!error, error ? error->message : NULL);
}

static bool find(void *context, size_t number, uint64_t address, struct hp_unwind_place *place)
{
	struct job *job = context;
	const struct mapping *mapping = space_find(job->context->space, address);
	struct hp_path_frame *frame = &job->places[number];
	struct unwinding *unwinding;

	job->procedures[number] = address;
	*frame = (struct hp_path_frame){ .offset = address, .image = HP_PATH_NO_IMAGE };
	if (!mapping)
		return false;
	if (!mapping->image)
		return true;
	unwinding = tables_of(&job->tables, mapping->image, job->context->pid);
	require(unwinding, "memory");
	if (unwinding->number == UINT32_MAX) {
		unwinding->number = (uint32_t)job->images_seen.count;
		require(hp_vector_push(&job->images_seen, mapping->image->id.path), "memory");
	}
	place->table = unwinding->table;
	frame->offset = mapping->offset + (address - mapping->start);
	job->procedures[number] = frame->offset;
	if (place->table) {
		place->recipe = hp_unwind_recipe_at(unwinding->table, frame->offset);
		job->procedures[number] = hp_unwind_procedure_at(unwinding->table, frame->offset);
	}
	frame->image = unwinding->number;
	return true;
}

/* --- one sample ---------------------------------------------------------------------------------- */

static bool take(struct hp_reader *reader, const struct job *job, uint64_t bit, uint64_t *value)
{
	*value = 0;
	return !(job->sample_type & bit) || hp_read_u64(reader, value);
}

static bool read_chain(struct hp_reader *reader, const struct job *job)
{
	const uint8_t *skipped;
	uint64_t count;

	return take(reader, job, PERF_SAMPLE_CALLCHAIN, &count) &&
	       count <= hp_reader_left(reader) / 8 && hp_read_bytes(reader, count * 8, &skipped);
}

static bool read_sample(struct hp_reader reader, const struct job *job, struct hp_record *record,
			struct hp_unwind_registers *registers, struct hp_unwind_stack *stack)
{
	uint64_t sampled[HP_SAMPLED_REGISTERS];
	uint64_t value;
	uint64_t size;

	if (!take(&reader, job, PERF_SAMPLE_IDENTIFIER, &value) ||
	    !take(&reader, job, PERF_SAMPLE_IP, &record->sample.address) ||
	    !hp_read_u32(&reader, &record->pid) || !hp_read_u32(&reader, &record->tid) ||
	    !take(&reader, job, PERF_SAMPLE_TIME, &record->time_ns) ||
	    !take(&reader, job, PERF_SAMPLE_ADDR, &value) ||
	    !take(&reader, job, PERF_SAMPLE_CPU, &value) ||
	    !take(&reader, job, PERF_SAMPLE_PERIOD, &value) || !read_chain(&reader, job) ||
	    !hp_read_u64(&reader, &value) || value != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (size_t i = 0; i < HP_SAMPLED_REGISTERS; i++)
		if (!hp_read_u64(&reader, &sampled[i]))
			return false;
	unwind_registers_of(sampled, registers);
	if (!hp_read_u64(&reader, &size) || !hp_read_bytes(&reader, size, &stack->bytes) ||
	    !hp_read_u64(&reader, &value))
		return false;
	stack->size = value;
	stack->address = registers->at[HP_UNWIND_RSP];
	return true;
}

static void print_sample(const struct job *job, const struct hp_record *record, size_t count,
			 const char *end)
{
	printf("%u %" PRIu64 " %s\n", record->tid, record->time_ns, end);
	for (size_t i = 0; i < count; i++) {
		const struct hp_path_frame *frame = &job->path[i].in_tree;
		bool is_return = frame->flags & HP_UNWIND_IS_RETURN;

		printf("\t%c%c %" PRIx64 " %s\n", is_return ? 'R' : 'E',
		       frame->flags & HP_UNWIND_IS_GUESS ? '?' : '.', frame->offset + is_return,
		       frame->image == HP_PATH_NO_IMAGE ? "-" : job->images_seen.at[frame->image]);
	}
}

/* Joins a path that is cut to the thread's last one; how many frames it has then. */
static size_t join(struct job *job, uint32_t tid, size_t count, const char **end)
{
	const struct last_frame *callers;
	size_t more = 0;

	if (strcmp(*end, "truncated") == 0) {
		more = lasts_find(&job->lasts, tid, &job->path[count - 1], &callers);
		if (more == 0 || count + more > MOST_FRAMES)
			return count;
		memcpy(&job->path[count], callers, more * sizeof(*callers));
		*end = "joined";
	}
	if (strcmp(*end, "lost") != 0)
		lasts_remember(&job->lasts, tid, job->path, count + more);
	return count + more;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A second time, for the clock: by then all tables are made. */
static void unwind(struct job *job, struct hp_reader reader)
{
	static const char *const ends[] = { "root", "truncated", "lost" };
	static struct hp_unwind_frame frames[MOST_FRAMES];
	struct hp_record record = { 0 };
	struct hp_unwind_registers registers;
	struct hp_unwind_stack stack;
	enum hp_unwind_end end;
	const char *end_name;
	uint64_t begin_ns;
	uint32_t context;
	size_t count;

	if (!read_sample(reader, job, &record, &registers, &stack))
		return;
	job->samples++;
	if ((!job->whole_each || job->samples % job->whole_each) && stack.size > job->stack_bytes)
		stack.size = job->stack_bytes;
	context = processes_context(&job->processes, &record, 0, 0, 1);
	require(context, "memory");
	job->context = &job->processes.contexts[context];
	count = hp_unwind(&registers, &stack, find, job, NULL, frames, MOST_FRAMES, &end);
	for (size_t i = 0; i < count; i++) {
		job->path[i] = (struct last_frame){
			.address = frames[i].address,
			.stack = frames[i].stack,
			.caller_stack = frames[i].caller_stack,
			.procedure = job->procedures[i],
			.in_tree = job->places[i],
		};
		job->path[i].in_tree.flags = frames[i].flags;
	}
	job->frames += count;
	end_name = ends[end];
	if (job->whole_each)
		count = join(job, record.tid, count, &end_name);
	print_sample(job, &record, count, end_name);
	begin_ns = cpu_ns();
	hp_unwind(&registers, &stack, find, job, NULL, frames, MOST_FRAMES, &end);
	job->ns += cpu_ns() - begin_ns;
}

/* --- the file ------------------------------------------------------------------------------------ */

static void take_record(struct job *job, const uint8_t *bytes, size_t size)
{
	struct hp_record_layout layout = { .identifier = job->sample_type &
							 PERF_SAMPLE_IDENTIFIER };
	struct perf_event_header header;
	struct hp_record record;

	memcpy(&header, bytes, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE) {
		unwind(job, hp_reader_over(bytes + sizeof(header), size - sizeof(header)));
		return;
	}
	/* What is no code; and what perf adds of its own. */
	if ((header.type == PERF_RECORD_MMAP2 && (header.misc & PERF_RECORD_MISC_MMAP_DATA)) ||
	    header.type >= 64 || !hp_record_parse(bytes, size, layout, &record))
		return;
	if (record.kind == HP_RECORD_MMAP)
		processes_map(&job->processes, &record);
	else if (record.kind == HP_RECORD_COMM)
		processes_comm(&job->processes, &record);
	else if (record.kind == HP_RECORD_FORK)
		processes_fork(&job->processes, &record);
}

/* Rings of several CPUs were written one after the other. */
struct found_record {
	uint64_t time_ns;
	const uint8_t *bytes;
	size_t size;
};

static uint64_t time_of(const struct job *job, const uint8_t *bytes, size_t size)
{
	struct hp_record_layout layout = { .identifier = job->sample_type &
							 PERF_SAMPLE_IDENTIFIER };

	return hp_record_time(bytes, size, layout);
}

HP_ORDER_BY_TWO(compare_times, struct found_record, time_ns, bytes);

static void read_file(struct job *job, const uint8_t *bytes, size_t size)
{
	uint64_t attrs;
	uint64_t data;
	uint64_t data_bytes;
	struct perf_event_attr attr = { 0 };
	HP_VECTOR(struct found_record) records = { 0 };

	require(size >= HEADER_BYTES && memcmp(bytes, "PERFILE2", 8) == 0, "no perf.data file");
	memcpy(&attrs, bytes + 24, sizeof(attrs));
	memcpy(&data, bytes + 40, sizeof(data));
	memcpy(&data_bytes, bytes + 48, sizeof(data_bytes));
	require(attrs < size && size - attrs > PERF_ATTR_SIZE_VER3 && data <= size &&
			data_bytes <= size - data,
		"a perf.data file that is cut off");
	memcpy(&attr, bytes + attrs, PERF_ATTR_SIZE_VER3);
	job->sample_type = attr.sample_type;
	require(attr.sample_regs_user == hp_sampled_registers() && attr.sample_id_all &&
			(attr.sample_type & PERF_SAMPLE_STACK_USER),
		"it was recorded with other options");
	while (data_bytes >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		struct found_record record = { .bytes = bytes + data };

		memcpy(&header, bytes + data, sizeof(header));
		if (header.size < sizeof(header) || header.size > data_bytes)
			break;
		record.size = header.size;
		record.time_ns = header.type < 64 ? time_of(job, record.bytes, record.size) : 0;
		require(hp_vector_push(&records, record), "memory");
		data += header.size;
		data_bytes -= header.size;
	}
	qsort(records.at, records.count, sizeof(*records.at), compare_times);
	for (size_t i = 0; i < records.count; i++)
		take_record(job, records.at[i].bytes, records.at[i].size);
	hp_vector_free(&records);
}

static size_t source_bytes(const struct tables *tables)
{
	size_t sum = 0;

	for (size_t i = 0; i < tables->at.count; i++)
		if (tables->at.at[i]->table)
			sum += hp_unwind_table_facts(tables->at.at[i]->table).source_bytes;
	return sum;
}

int main(int argc, char **argv)
{
	static struct job job = { .stack_bytes = 65528 };
	_cleanup_free_ uint8_t *bytes = NULL;
	_cleanup_close_ int fd = -1;
	size_t size;

	for (; argc > 3; argv += 2, argc -= 2) {
		if (strcmp(argv[1], "--stack") == 0)
			job.stack_bytes = strtoul(argv[2], NULL, 10);
		else if (strcmp(argv[1], "--whole") == 0)
			job.whole_each = strtoul(argv[2], NULL, 10);
	}
	require(argc == 2, "takes a file");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	require(fd >= 0, argv[1]);
	succeed(hp_file_read_fd(fd, MOST_FILE_BYTES, &bytes, &size));
	job.images = images_create();
	require(job.images, "memory");
	succeed(processes_create(&job.processes, job.images, false, false));
	job.tables.images = job.images;
	read_file(&job, bytes, size);
	printf("samples %" PRIu64 " frames %" PRIu64
	       " ns %.1f tables %zu ms %.2f bytes %zu of %zu\n",
	       job.samples, job.frames, job.frames ? (double)job.ns / (double)job.frames : 0,
	       job.tables.made, (double)job.tables.made_ns / 1e6, job.tables.bytes,
	       source_bytes(&job.tables));
	lasts_clear(&job.lasts);
	hp_vector_free(&job.images_seen);
	tables_clear(&job.tables);
	processes_clear(&job.processes);
	images_destroy(job.images);
	return 0;
}
