/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_paths.h"

#include "depths.h"
#include "known.h"
#include "lasts.h"
#include "named.h"
#include "raw_images.h"
#include "registers.h"
#include "shorter.h"

#include <hpcprof/unwind/unwind.h>

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* The place of a frame of user code in the tree. */
struct path_place {
	uint64_t offset;
	uint64_t procedure; /* offset where it begins; its own, if unknown */
	uint32_t image;
	bool is_known;
};

enum { MOST_FRAMES = HP_PATH_MOST_FRAMES };

struct call_paths {
	enum hp_call_paths how;
	struct attributor *attributor;
	struct tables tables;
	struct hp_paths tree;
	struct known known;
	struct raw_images raw;
	struct lasts lasts;
	struct depths depths;
	struct shorter shorter;	    /* for the sizes below the present one */
	HP_VECTOR(uint32_t) series; /* by context: number of the series plus 1 */
	struct call_path_figures figures;
	bool has_ended; /* everything but the figures was freed */
	/* State of the current sample. */
	const struct context *context;
	const struct mapping
		*mapping; /* mapping of the previous frame: the next frame is often in it, too */
	struct hp_unwind_frame frames[MOST_FRAMES];
	struct path_place places[MOST_FRAMES + 1]; /* of frames looked up, and one to spare */
	struct last_frame climbed[MOST_FRAMES];
	size_t climbed_count;
	bool is_unwound; /* `frames` has all frames of `climbed` */
	struct hp_path_frame path[HP_RECORD_CHAIN + MOST_FRAMES + 1];
	size_t path_count;
};

struct hp_error *call_paths_create(enum hp_call_paths how, struct attributor *attributor,
				   struct call_paths **result)
{
	struct call_paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return hp_error_create_no_memory();
	paths->how = how;
	paths->attributor = attributor;
	paths->tables.images = attributor->images;
	*result = paths;
	return NULL;
}

void call_paths_end(struct call_paths *paths)
{
	paths->figures = call_paths_figures(paths);
	paths->has_ended = true;
	tables_clear(&paths->tables);
	hp_paths_clear(&paths->tree);
	raw_images_clear(&paths->raw);
	lasts_clear(&paths->lasts);
	shorter_clear(&paths->shorter);
	hp_vector_free(&paths->series);
}

void call_paths_destroy(struct call_paths *paths)
{
	if (!paths)
		return;
	call_paths_end(paths);
	free(paths);
}

void call_paths_forget_contexts(struct call_paths *paths)
{
	paths->series.count = 0;
	known_forget(&paths->known);
}

struct call_path_figures call_paths_figures(const struct call_paths *paths)
{
	struct call_path_figures figures = paths->figures;

	if (paths->has_ended)
		return figures;
	if (paths->depths.count)
		figures.stack_bytes = paths->depths.sizes[paths->depths.now];
	figures.checked = paths->depths.checked;
	figures.wrong = paths->depths.wrong;
	figures.tables = paths->tables.made;
	figures.table_bytes = paths->tables.bytes;
	return figures;
}

void call_paths_offer_stacks(struct call_paths *paths, const uint32_t *sizes, size_t count,
			     size_t first)
{
	paths->depths =
		(struct depths){ .sizes = sizes, .count = count, .first = first, .now = first };
}

size_t call_paths_choose_stack(struct call_paths *paths, uint64_t now_ns)
{
	size_t before = paths->depths.now;

	if (depths_choose(&paths->depths, now_ns) != before)
		shorter_clear(&paths->shorter);
	return paths->depths.now;
}

/* --- series ---------------------------------------------------------------------------------- */

/* Makes a series per stratum, as for profiles. */
static struct hp_error *make_series(struct call_paths *paths, const struct context *context,
				    uint32_t *number)
{
	const struct attributor *attributor = paths->attributor;
	const struct processes *processes = attributor->processes;
	const struct stream *stream = &attributor->streams->at[context->stream];
	const struct lane *lane = &processes->lanes.at[context->lane];
	char *thread = processes->commands.text[lane->thread];
	const struct hp_path_series series = {
		.event = attributor->event_names[stream->event],
		.command = processes->commands.text[context->command],
		.thread = *thread ? thread : NULL,
		.pid = attributor->per_process ? context->pid : 0,
		.tid = lane->tid,
		.cpu = lane->cpu,
		.period = stream->period,
	};

	return hp_paths_series(&paths->tree, &series, number);
}

/* Finds the series of a context. False when memory is short. */
static bool find_series(struct call_paths *paths, uint32_t context, uint32_t *number)
{
	struct hp_error *error;

	while (paths->series.count <= context) {
		if (!hp_vector_push(&paths->series, 0))
			return false;
	}
	if (paths->series.at[context]) {
		*number = paths->series.at[context] - 1;
		return true;
	}
	error = make_series(paths, &paths->attributor->processes->contexts[context], number);
	if (error) {
		hp_error_destroy(error);
		return false;
	}
	paths->series.at[context] = *number + 1;
	return true;
}

/* --- places ---------------------------------------------------------------------------------- */

static bool number_image(struct call_paths *paths, const struct hp_image_id *id, uint32_t *number)
{
	struct hp_error *error = hp_paths_image(&paths->tree, id, number);

	hp_error_destroy(error);
	return !error;
}

/* Looks up an address in a mapped file. Other memory may contain generated code. */
static bool know_in_file(struct call_paths *paths, uint64_t address)
{
	struct image *image = paths->mapping->image;
	struct unwinding *unwinding = tables_of(&paths->tables, image, paths->context->pid);
	struct known_place *known;
	struct known_rule rule;
	uint64_t offset = paths->mapping->offset + (address - paths->mapping->start);

	if (!unwinding || (unwinding->number == UINT32_MAX &&
			   !number_image(paths, &image->id, &unwinding->number)))
		return false;
	/* The look-up may have released tables, and so cleared the cache. */
	known = known_slot(&paths->known, &paths->tables, paths->context->space, address);
	rule = known_rule(&paths->known, unwinding, offset);
	*known = (struct known_place){
		.space = paths->context->space,
		.address = address,
		.offset = offset,
		.unwinding = unwinding,
		.recipe = rule.recipe,
		.procedure = rule.procedure,
	};
	return true;
}

static void place_in_file(struct call_paths *paths, const struct known_place *known,
			  struct path_place *place, struct hp_unwind_place *found)
{
	tables_use(&paths->tables, known->unwinding);
	*place = (struct path_place){ known->offset, known->procedure, known->unwinding->number,
				      true };
	*found = (struct hp_unwind_place){ known->unwinding->table, known->recipe };
}

static bool place_in_memory(struct call_paths *paths, uint64_t address, struct path_place *place)
{
	place->offset = place->procedure = address;
	return raw_images_of_process(&paths->raw, &paths->tree, paths->context->pid,
				     paths->context->command, &place->image);
}

/* An hp_unwind_find. */
static bool find_place(void *context, size_t frame, uint64_t address, struct hp_unwind_place *found)
{
	struct call_paths *paths = context;
	struct path_place *place = &paths->places[frame];
	const struct space *space = paths->context->space;
	const struct known_place *known = known_slot(&paths->known, &paths->tables, space, address);

	*place = (struct path_place){ 0 };
	if (known_is(known, space, address)) {
		place_in_file(paths, known, place, found);
		return true;
	}
	if (!paths->mapping || address < paths->mapping->start || address >= paths->mapping->end)
		paths->mapping = space_find(space, address);
	if (!paths->mapping)
		return false;
	if (attributor_may_be_generated(paths->mapping)) {
		place->is_known = place_in_memory(paths, address, place);
	} else if (know_in_file(paths, address)) {
		known = known_slot(&paths->known, &paths->tables, space, address);
		place_in_file(paths, known, place, found);
	}
	return place->is_known;
}

/* --- paths ----------------------------------------------------------------------------------- */

static void push(struct call_paths *paths, struct hp_path_frame frame)
{
	paths->path[paths->path_count++] = frame;
	paths->figures.frames++;
	paths->figures.guesses += frame.flags & HP_PATH_GUESS ? 1 : 0;
}

static struct hp_path_frame frame_of(const struct path_place *place, uint32_t flags)
{
	/* Return addresses were looked up by the byte before. */
	bool is_return = !(flags & HP_PATH_EXACT);

	return place->is_known
		       ? (struct hp_path_frame){ place->offset + is_return, place->image, flags }
		       : (struct hp_path_frame){ 0, HP_PATH_NO_IMAGE, flags | HP_PATH_UNKNOWN };
}

static void push_kernel(struct call_paths *paths, uint64_t address, bool is_exact)
{
	struct path_place place = { .offset = address - !is_exact };

	place.is_known = raw_images_of_kernel(&paths->raw, &paths->tree, &place.image);
	push(paths, frame_of(&place, HP_PATH_KERNEL | (is_exact ? HP_PATH_EXACT : 0)));
}

/* Adds the kernel's part of the path; for a sample in the kernel, at least its address. */
static void add_kernel(struct call_paths *paths, const struct hp_record *record)
{
	bool is_kernel = record->cpu_mode == PERF_RECORD_MISC_KERNEL;

	for (unsigned i = 0; i < record->sample.chain_user; i++)
		push_kernel(paths, record->sample.chain[i], i == 0);
	if (is_kernel && !record->sample.chain_user)
		push_kernel(paths, record->sample.address, true);
}

static enum hp_unwind_end end_of(const struct hp_unwind_place *outermost,
				 enum hp_unwind_end otherwise)
{
	return hp_unwind_is_root(outermost->recipe) ? HP_UNWIND_ROOT : otherwise;
}

/* Adds a path that the kernel found by frame pointers, which may be wrong. */
static enum hp_unwind_end add_chain(struct call_paths *paths, const struct hp_record *record)
{
	const uint64_t *chain = record->sample.chain + record->sample.chain_user;
	size_t count = record->sample.chain_count - record->sample.chain_user;
	struct hp_unwind_place place = { 0 };

	/* A kernel thread has no user part. */
	if (!count && paths->path_count)
		return HP_UNWIND_ROOT;
	for (size_t i = 0; i < count; i++) {
		bool is_exact = i == 0;

		place = (struct hp_unwind_place){ 0 };
		if (!find_place(paths, 0, chain[i] - !is_exact, &place) && !is_exact)
			return HP_UNWIND_LOST;
		push(paths, frame_of(&paths->places[0], is_exact ? HP_PATH_EXACT : HP_PATH_GUESS));
	}
	/* The kernel does not report why it stopped. */
	return end_of(&place, HP_UNWIND_LOST);
}

/* Prefetches the memory that the path needs if it equals the thread's last one, as most do: the
 * words of the copied stack with return addresses, which the kernel has written on another CPU. */
static void fetch(const struct call_paths *paths, uint32_t tid, const struct hp_unwind_stack *stack)
{
	const struct last_frame *frames;
	size_t count = lasts_path(&paths->lasts, tid, &frames);

	for (size_t i = 0; i < count && i < MOST_FETCHED; i++) {
		/* The word below is the return address. */
		uint64_t above = frames[i].stack - sizeof(uint64_t) - stack->address;

		if (above < stack->size)
			__builtin_prefetch(stack->bytes + above);
	}
}

static struct last_frame last_frame_of(const struct call_paths *paths, size_t number)
{
	const struct hp_unwind_frame *frame = &paths->frames[number];
	const struct path_place *place = &paths->places[number];
	uint32_t flags = (frame->flags & HP_UNWIND_IS_RETURN ? 0 : HP_PATH_EXACT) |
			 (frame->flags & HP_UNWIND_IS_GUESS ? HP_PATH_GUESS : 0);

	return (struct last_frame){
		.address = frame->address,
		.stack = frame->stack,
		.caller_stack = frame->caller_stack,
		.procedure = place->procedure,
		.in_tree = frame_of(place, flags),
	};
}

static const struct hp_unwind_frame *last_unwinding(const struct call_paths *paths, uint32_t tid)
{
	return lasts_unwinding(&paths->lasts, tid, paths->context->space, paths->known.forgotten);
}

/* Unwinds the copied stack; leaves the frames in `climbed`. */
static enum hp_unwind_end climb(struct call_paths *paths, const struct hp_record *record)
{
	struct hp_unwind_registers registers;
	struct hp_unwind_stack stack = { .bytes = record->sample.stack,
					 .size = record->sample.stack_bytes };
	const struct last_frame *last;
	const struct hp_unwind_past past = {
		.count = lasts_path(&paths->lasts, record->tid, &last),
		.frames = last_unwinding(paths, record->tid),
	};
	enum hp_unwind_end end;

	unwind_registers_of(record->sample.registers, &registers);
	stack.address = registers.at[HP_UNWIND_RSP];
	fetch(paths, record->tid, &stack);
	paths->climbed_count = hp_unwind(&registers, &stack, find_place, paths,
					 past.frames ? &past : NULL, paths->frames, MOST_FRAMES,
					 &end);
	paths->is_unwound = true;
	for (size_t i = 0; i < paths->climbed_count; i++)
		paths->climbed[i] = paths->frames[i].past ? last[paths->frames[i].past - 1]
							  : last_frame_of(paths, i);
	return end;
}

/* Completes the path from the thread's latest path, if both pass through the same frame. */
static bool join(struct call_paths *paths, uint32_t tid)
{
	struct last_frame *climbed = paths->climbed;
	size_t count = paths->climbed_count;
	const struct hp_unwind_frame *unwinding = last_unwinding(paths, tid);
	const struct last_frame *last;
	const struct last_frame *callers;
	size_t more = lasts_find(&paths->lasts, tid, &climbed[count - 1], &callers);

	if (!more || count + more > MOST_FRAMES)
		return false;
	memcpy(climbed + count, callers, more * sizeof(*climbed));
	if (unwinding)
		memcpy(paths->frames + count,
		       unwinding + lasts_path(&paths->lasts, tid, &last) - more,
		       more * sizeof(*unwinding));
	paths->is_unwound = unwinding != NULL;
	/* Where it was joined differs, and so would the nodes of all callers. */
	climbed[0].in_tree.flags |= HP_PATH_GRAFTED;
	paths->climbed_count += more;
	return true;
}

/* Returns how many bytes of stack the path spans. */
static uint64_t climbed_bytes(const struct call_paths *paths)
{
	return paths->climbed[paths->climbed_count - 1].stack - paths->climbed[0].stack;
}

/* Tries which sizes would have given the path, which is whole. */
static uint64_t try_sizes(struct call_paths *paths, uint32_t tid, bool is_deep)
{
	const struct known_path path = { tid, paths->climbed, paths->climbed_count, is_deep };

	return shorter_try(&paths->shorter, &paths->depths, &paths->lasts, &path);
}

static void note_depth(struct call_paths *paths, const struct hp_record *record,
		       enum hp_unwind_end end)
{
	struct depths *depths = &paths->depths;
	uint64_t enough;

	/* Another size was chosen since. */
	if (depths->count && record->sample.stack_bytes > depths->sizes[depths->now])
		return;
	if (end == HP_UNWIND_TRUNCATED) {
		depths_note_beyond(depths, record->sample.stack_bytes);
	} else if (end == HP_UNWIND_ROOT && depths->count) {
		enough = try_sizes(paths, record->tid, false);
		depths_note(depths, enough < UINT64_MAX ? enough : depths->sizes[depths->now]);
	} else {
		depths_note(depths, climbed_bytes(paths));
	}
}

static void remember(struct call_paths *paths, uint32_t tid)
{
	const struct last_unwinding unwinding = {
		.frames = paths->frames,
		.space = paths->context->space,
		.known_since = paths->known.forgotten,
	};

	lasts_remember(&paths->lasts, tid, paths->climbed, paths->climbed_count);
	if (paths->is_unwound)
		lasts_remember_unwinding(&paths->lasts, tid, &unwinding);
}

static enum hp_unwind_end join_climbed(struct call_paths *paths, const struct hp_record *record,
				       enum hp_unwind_end end)
{
	if (end == HP_UNWIND_TRUNCATED && join(paths, record->tid)) {
		paths->figures.joined++;
		end = HP_UNWIND_ROOT;
	}
	if (end == HP_UNWIND_ROOT)
		remember(paths, record->tid);
	return end;
}

static enum hp_unwind_end add_unwound(struct call_paths *paths, const struct hp_record *record)
{
	enum hp_unwind_end end;

	/* A kernel thread has no user registers. */
	if (record->sample.register_count != HP_SAMPLED_REGISTERS)
		return paths->path_count ? HP_UNWIND_ROOT : HP_UNWIND_LOST;
	end = join_climbed(paths, record, climb(paths, record));
	note_depth(paths, record, end);
	for (size_t i = 0; i < paths->climbed_count; i++)
		push(paths, paths->climbed[i].in_tree);
	return end;
}

/* Adds a path from branch records: each record is a call that has not returned, and contains the
 * address of the call. There is a limited number of records, and none of calls before the
 * recording. */
static enum hp_unwind_end add_branches(struct call_paths *paths, const struct hp_record *record)
{
	struct hp_unwind_place place = { 0 };

	for (size_t i = 0; i <= record->sample.branch_count; i++) {
		uint64_t address = i ? record->sample.branches[i - 1].from : record->sample.address;
		uint32_t flags = i ? 0 : HP_PATH_EXACT;

		/* For a sample in the kernel, the user's own address is only known to be in the
		 * procedure that was called last. */
		if (i == 0 && record->cpu_mode == PERF_RECORD_MISC_KERNEL) {
			if (!record->sample.branch_count)
				break;
			address = record->sample.branches[0].to;
			flags = HP_PATH_GUESS;
		}
		place = (struct hp_unwind_place){ 0 };
		if (!find_place(paths, 0, address, &place) && i)
			return HP_UNWIND_LOST;
		push(paths, frame_of(&paths->places[0], flags));
	}
	return end_of(&place, HP_UNWIND_TRUNCATED);
}

static void add_user(struct call_paths *paths, const struct hp_record *record)
{
	enum hp_unwind_end end;

	if (paths->how == HP_CALL_PATHS_FP)
		end = add_chain(paths, record);
	else if (paths->how == HP_CALL_PATHS_LBR)
		end = add_branches(paths, record);
	else
		end = add_unwound(paths, record);
	paths->figures.whole += end == HP_UNWIND_ROOT;
	paths->figures.truncated += end == HP_UNWIND_TRUNCATED;
	paths->figures.lost += end == HP_UNWIND_LOST;
	if (end != HP_UNWIND_ROOT)
		push(paths, (struct hp_path_frame){ 0, HP_PATH_NO_IMAGE, HP_PATH_TRUNCATED });
}

static void begin(struct call_paths *paths, uint32_t context)
{
	paths->context = &paths->attributor->processes->contexts[context];
	paths->mapping = NULL;
	paths->path_count = 0;
}

void call_paths_take(struct call_paths *paths, const struct hp_record *record, uint32_t context,
		     uint64_t count)
{
	struct hp_error *error;
	uint32_t series;

	if (!count || !find_series(paths, context, &series))
		return;
	begin(paths, context);
	paths->figures.samples++;
	add_kernel(paths, record);
	add_user(paths, record);
	error = hp_paths_add(&paths->tree, series, paths->path, paths->path_count, count);
	/* When memory is short, the sample has no path. */
	hp_error_destroy(error);
}

void call_paths_learn(struct call_paths *paths, const struct hp_record *record, uint32_t context)
{
	uint64_t joined = paths->figures.joined;
	enum hp_unwind_end end;

	if (record->sample.register_count != HP_SAMPLED_REGISTERS)
		return;
	begin(paths, context);
	end = climb(paths, record);
	if (end == HP_UNWIND_ROOT)
		depths_note_deep(&paths->depths, try_sizes(paths, record->tid, true));
	else
		depths_note_deep(&paths->depths,
				 end == HP_UNWIND_TRUNCATED ? UINT64_MAX : climbed_bytes(paths));
	join_climbed(paths, record, end);
	paths->figures.joined = joined;
}

/* --- writing --------------------------------------------------------------------------------- */

/* Nodes are kept, to be found again; what their series and images would come to is not. */
static void restart(struct call_paths *paths)
{
	if (paths->tree.images.count < PATH_IMAGES_LIMIT &&
	    paths->tree.series.count < PATH_SERIES_LIMIT) {
		hp_paths_restart(&paths->tree);
		return;
	}
	hp_paths_clear(&paths->tree);
	raw_images_clear(&paths->raw);
	lasts_clear(&paths->lasts);
	shorter_clear(&paths->shorter);
	tables_forget_numbers(&paths->tables);
	call_paths_forget_contexts(paths);
}

static struct hp_error *add_named(void *context, struct hp_paths *sum)
{
	const struct call_paths *paths = context;

	return paths_name(&paths->tree, &paths->raw, paths->attributor, sum);
}

struct hp_error *call_paths_write(struct call_paths *paths, struct hp_epoch_writer *writer)
{
	struct hp_error *error;

	if (!hp_paths_samples(&paths->tree, NULL))
		return NULL;
	error = hp_epoch_writer_add_paths(writer, add_named, paths);
	if (!error)
		restart(paths);
	return error;
}
