/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rebuild.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	RUNS_AT_ONCE = 256,
	/* bytes of a mapped file that are read at once from the target, if the file cannot be
	 * opened */
	PIECE_BYTES = 8192,
};

#define USER_END UINT64_C(0x7ffffffff000)

/* --- areas ------------------------------------------------------------------------------------ */

/* What is done to map the areas of a snapshot. */
struct mapping {
	struct sandbox *sandbox;
	const struct snapshot *snapshot;
	struct mapped_files *files;
	struct sandbox_file *opened; /* the same files */
	HP_VECTOR(struct shadow_call) maps, advice;
};

/* Only translations are executed in the copy; the program's own code is mapped for reading. */
static struct shadow_call map_call(uint64_t start, uint64_t end, int protection, int flags,
				   int64_t fd, uint64_t offset)
{
	flags |= MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_NORESERVE;
	protection = area_protection_in_copy(protection);
	return (struct shadow_call){ SYS_mmap,
				     { start, end - start, (uint64_t)protection, (uint64_t)flags,
				       (uint64_t)fd, offset } };
}

static struct shadow_call map_nothing(uint64_t start, uint64_t end, int protection)
{
	return map_call(start, end, protection, MAP_ANONYMOUS, -1, 0);
}

/* Copies what the target has in memory of a file that we cannot open, or of the vdso. Pages that
 * are not in memory stay zero. */
static void copy_pages(struct sandbox *sandbox, pid_t pid, const struct area *area)
{
	uint8_t piece[PIECE_BYTES];

	if (area->end - area->start > UNOPENED_FILE_LIMIT_BYTES || !(area->protection & PROT_READ))
		return;
	for (uint64_t at = area->start; at < area->end; at += sizeof(piece)) {
		size_t bytes = area->end - at < sizeof(piece) ? area->end - at : sizeof(piece);
		struct iovec local = { piece, bytes };
		struct iovec remote = { (void *)(uintptr_t)at, bytes };
		ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

		if (got > 0)
			sandbox_write(sandbox, at, piece, (size_t)got);
	}
}

static bool is_of_file(const struct area *area)
{
	return area->kind == AREA_FILE && !area->is_secret;
}

/* The area's file in the sandbox; < 0: it is not open there. */
static int64_t file_of(const struct mapping *mapping, const struct area *area)
{
	const struct mapped_file *file =
		is_of_file(area) ? mapped_files_find(mapping->files, mapping->snapshot->pid, area)
				 : NULL;

	return file ? mapping->opened[file - mapping->files->at].theirs : -1;
}

static struct hp_error *open_files(struct mapping *mapping)
{
	const struct areas *areas = &mapping->snapshot->areas;
	struct mapped_files *files = mapping->files;

	for (size_t i = 0; i < areas->count; i++) {
		if (is_of_file(&areas->at[i]))
			(void)mapped_files_find(files, mapping->snapshot->pid, &areas->at[i]);
	}
	mapping->opened = calloc(files->count + 1, sizeof(*mapping->opened));
	if (!mapping->opened)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < files->count; i++)
		mapping->opened[i].ours = files->at[i].fd;
	if (!sandbox_open_all(mapping->sandbox, mapping->opened, files->count))
		return hp_error_create(HP_ERROR_SYSTEM, "a copy's files cannot be opened");
	return NULL;
}

/* Huge pages are used for memory that is nearly full. They are faster to fill and to free, cause
 * fewer TLB misses, and displace less of the target's data from shared caches. If the kernel has
 * none left, it uses small pages. */
static bool wants_huge_pages(const struct area *area, uint64_t filled_bytes)
{
	uint64_t bytes = area->end - area->start;

	return area->kind != AREA_FILE && area->kind != AREA_STACK && !area->is_lent &&
	       bytes >= HUGE_PAGE_BYTES && filled_bytes >= bytes / 4 * HUGE_PAGE_QUARTERS;
}

/* Bytes that were read below `end`, from run `next` on; `next` is moved past them. */
static uint64_t bytes_below(const struct snapshot *snapshot, uint64_t end, size_t *next)
{
	uint64_t bytes = 0;

	for (; *next < snapshot->run_count && snapshot->runs[*next].address < end; (*next)++)
		bytes += snapshot->runs[*next].bytes;
	return bytes;
}

/* `below`: where the area before this one ends. */
static struct shadow_call map_memory(const struct area *area, uint64_t below)
{
	uint64_t start = area->start;
	int protection = area->protection;

	if (area->kind == AREA_DEVICE || area->kind == AREA_VVAR || area->is_secret)
		protection = PROT_NONE;
	if (area->kind == AREA_STACK && start - below > STACK_GROWTH_BYTES)
		start -= STACK_GROWTH_BYTES;
	return map_nothing(start, area->end, protection);
}

static struct shadow_call map_area(const struct mapping *mapping, const struct area *area,
				   uint64_t below)
{
	int64_t fd = file_of(mapping, area);

	if (!is_of_file(area))
		return map_memory(area, below);
	if (fd < 0)
		return map_nothing(area->start, area->end, area->protection);
	return map_call(area->start, area->end, area->protection, 0, fd, area->file_offset);
}

static bool plan_maps(struct mapping *mapping)
{
	const struct areas *areas = &mapping->snapshot->areas;
	uint64_t below = 0;
	size_t run = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < areas->count; i++) {
		const struct area *area = &areas->at[i];
		uint64_t filled_bytes = bytes_below(mapping->snapshot, area->end, &run);

		if (area->kind == AREA_VSYSCALL)
			continue;
		ok = hp_vector_push(&mapping->maps, map_area(mapping, area, below));
		if (ok && wants_huge_pages(area, filled_bytes))
			ok = hp_vector_push(
				&mapping->advice,
				(struct shadow_call){
					SYS_madvise,
					{ area->start, area->end - area->start, MADV_HUGEPAGE } });
		below = area->end;
	}
	return ok;
}

static struct hp_error *make_maps(struct mapping *mapping)
{
	if (!sandbox_calls(mapping->sandbox, mapping->maps.at, mapping->maps.count) ||
	    !sandbox_calls(mapping->sandbox, mapping->advice.at, mapping->advice.count))
		return hp_error_create(HP_ERROR_SYSTEM, "a copy's memory cannot be mapped");
	for (size_t i = 0; i < mapping->maps.count; i++) {
		const struct shadow_call *call = &mapping->maps.at[i];
		uint64_t start = call->arguments[0];
		long result = call->number;

		if (result != (long)start)
			return hp_error_create_errno(
				result < 0 ? (int)-result : EIO, "mapping 0x%llx bytes at 0x%llx",
				(unsigned long long)call->arguments[1], (unsigned long long)start);
	}
	return NULL;
}

/* The kernel maps the vdso's pages specially: they do not show in the page tables. */
static void copy_special(const struct mapping *mapping)
{
	const struct areas *areas = &mapping->snapshot->areas;

	for (size_t i = 0; i < areas->count; i++) {
		const struct area *area = &areas->at[i];

		if (area->kind == AREA_VDSO || (is_of_file(area) && file_of(mapping, area) < 0))
			copy_pages(mapping->sandbox, mapping->snapshot->pid, area);
	}
}

static struct hp_error *map_areas(struct sandbox *sandbox, const struct snapshot *snapshot,
				  struct mapped_files *files)
{
	struct mapping mapping = { .sandbox = sandbox, .snapshot = snapshot, .files = files };
	struct hp_error *error = open_files(&mapping);

	if (!error && !plan_maps(&mapping))
		error = hp_error_create_no_memory();
	if (!error)
		error = make_maps(&mapping);
	if (!error)
		copy_special(&mapping);
	hp_vector_free(&mapping.maps);
	hp_vector_free(&mapping.advice);
	free(mapping.opened);
	return error;
}

/* --- lending ---------------------------------------------------------------------------------- */

static bool may_be_lent(const struct area *area)
{
	return (area->kind == AREA_MEMORY || area->kind == AREA_HEAP) && !area->is_shared &&
	       !area->is_secret && !(area->protection & PROT_EXEC);
}

/* Index after the runs that are contiguous with `first` in memory and in the buffer, within one
 * area. */
static size_t stretch_end(const struct snapshot *snapshot, const struct area *area, size_t first)
{
	const struct run *runs = snapshot->runs;
	size_t at = first + 1;

	while (at < snapshot->run_count && runs[at].address < area->end &&
	       runs[at].address == runs[at - 1].address + runs[at - 1].bytes &&
	       runs[at].offset == runs[at - 1].offset + runs[at - 1].bytes)
		at++;
	return at;
}

static bool lend_stretch(struct sandbox *sandbox, const struct area *area, const struct run *runs,
			 size_t count, int64_t fd)
{
	uint64_t bytes = runs_bytes(runs, count);

	return runs->address + bytes <= area->end &&
	       sandbox_call(sandbox, SYS_mmap, runs->address, bytes, area->protection,
			    MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, (uint64_t)fd,
			    runs->offset) == (int64_t)runs->address;
}

/* Lends what it can of this area's runs, from `*run` on, and moves `*run` past them. Runs that are
 * not lent are kept, from `*kept` on. */
static void lend_area(struct sandbox *sandbox, struct snapshot *snapshot, struct area *area,
		      size_t *run, size_t *kept, int64_t fd)
{
	struct run *runs = snapshot->runs;
	size_t lent = 0;

	while (*run < snapshot->run_count && runs[*run].address < area->end) {
		size_t end = stretch_end(snapshot, area, *run);
		bool is_lent = area->is_lent && lent < LENT_STRETCHES &&
			       runs_bytes(runs + *run, end - *run) >= LENT_STRETCH_BYTES &&
			       lend_stretch(sandbox, area, runs + *run, end - *run, fd);

		lent += is_lent;
		for (; *run < end; (*run)++) {
			if (!is_lent)
				runs[(*kept)++] = runs[*run];
		}
	}
}

/* Marks areas of which enough was read to make lending worthwhile. */
static bool mark_lent(struct snapshot *snapshot)
{
	bool is_any = false;
	size_t run = 0;

	for (size_t i = 0; i < snapshot->areas.count; i++) {
		struct area *area = &snapshot->areas.at[i];
		uint64_t bytes = bytes_below(snapshot, area->end, &run);

		area->is_lent = snapshot->buffer.is_lendable && may_be_lent(area) &&
				bytes >= LENT_AREA_BYTES;
		is_any |= area->is_lent;
	}
	return is_any;
}

static void lend(struct sandbox *sandbox, struct snapshot *snapshot)
{
	size_t run = 0, kept = 0;

	for (size_t i = 0; i < snapshot->areas.count; i++)
		lend_area(sandbox, snapshot, &snapshot->areas.at[i], &run, &kept, sandbox->buffer);
	snapshot->run_count = kept;
}

static struct hp_error *open_buffer(struct sandbox *sandbox, const struct buffer *buffer)
{
	sandbox->buffer = -1;
	if (!buffer->is_lendable)
		return NULL;
	sandbox->buffer = sandbox_open(sandbox, buffer->fd, O_RDONLY);
	return sandbox->buffer < 0
		       ? hp_error_create(HP_ERROR_SYSTEM, "a copy's memory cannot be opened")
		       : NULL;
}

struct hp_error *rebuild(struct sandbox *sandbox, struct snapshot *snapshot,
			 struct mapped_files *files)
{
	bool lends = mark_lent(snapshot);
	struct hp_error *error = map_areas(sandbox, snapshot, files);

	if (!error)
		error = open_buffer(sandbox, &snapshot->buffer);
	if (!error && lends)
		lend(sandbox, snapshot);
	return error;
}

/* --- contents --------------------------------------------------------------------------------- */

/* Where the area is not writable; this way is slower. `had`: bytes that are there already. */
static bool write_rest(struct sandbox *sandbox, const struct snapshot *snapshot,
		       const struct run *run, uint64_t had)
{
	return had == run->bytes ||
	       sandbox_write(sandbox, run->address + had, snapshot->buffer.at + run->offset + had,
			     run->bytes - had);
}

/* As many of the sandbox's own calls as there are runs. */
static bool read_runs(struct sandbox *sandbox, const struct snapshot *snapshot,
		      struct shadow_call *calls)
{
	bool ok;

	for (size_t i = 0; i < snapshot->run_count; i++) {
		const struct run *run = &snapshot->runs[i];

		calls[i] = (struct shadow_call){ SYS_pread64,
						 { (uint64_t)sandbox->buffer, run->address,
						   run->bytes, run->offset } };
	}
	ok = sandbox_calls(sandbox, calls, snapshot->run_count);
	for (size_t i = 0; ok && i < snapshot->run_count; i++)
		ok = write_rest(sandbox, snapshot, &snapshot->runs[i],
				calls[i].number > 0 ? (uint64_t)calls[i].number : 0);
	return ok;
}

/* Writes a few runs at once. Returns the index of the next run, or SIZE_MAX when the sandbox has
 * died. */
static size_t write_runs(struct sandbox *sandbox, const struct snapshot *snapshot, size_t first)
{
	struct iovec remote[RUNS_AT_ONCE] = { 0 };
	struct iovec local[RUNS_AT_ONCE] = { 0 };
	uint64_t bytes = 0;
	uint64_t done_bytes;
	size_t count = 0;
	ssize_t done;

	while (first + count < snapshot->run_count && count < RUNS_AT_ONCE &&
	       bytes < COPY_BYTES_AT_ONCE) {
		const struct run *run = &snapshot->runs[first + count];

		remote[count] = (struct iovec){ (void *)(uintptr_t)run->address, run->bytes };
		local[count++] = (struct iovec){ snapshot->buffer.at + run->offset, run->bytes };
		bytes += run->bytes;
	}
	done = process_vm_writev(sandbox->pid, local, count, remote, count, 0);
	done_bytes = done > 0 ? (uint64_t)done : 0;
	for (size_t i = first; i < first + count; i++) {
		const struct run *run = &snapshot->runs[i];
		uint64_t had = done_bytes < run->bytes ? done_bytes : run->bytes;

		done_bytes -= had;
		if (had < run->bytes)
			return write_rest(sandbox, snapshot, run, had) ? i + 1 : SIZE_MAX;
	}
	return first + count;
}

static bool write_all_runs(struct sandbox *sandbox, const struct snapshot *snapshot)
{
	size_t at = 0;

	while (at < snapshot->run_count)
		at = write_runs(sandbox, snapshot, at);
	return at != SIZE_MAX;
}

struct hp_error *rebuild_contents(struct sandbox *sandbox, const struct snapshot *snapshot)
{
	_cleanup_free_ struct shadow_call *calls = NULL;
	bool ok;

	if (sandbox->buffer >= 0)
		calls = calloc(snapshot->run_count + 1, sizeof(*calls));
	ok = calls ? read_runs(sandbox, snapshot, calls) : write_all_runs(sandbox, snapshot);
	return ok ? NULL : hp_error_create(HP_ERROR_SYSTEM, "the copy cannot be written to");
}

/* --- where new mappings go -------------------------------------------------------------------- */

/* The kernel places new mappings from the top down, starting below the stack. Returns the end of
 * the highest mapping. */
static uint64_t top_of(const struct areas *areas)
{
	uint64_t top = 0;

	for (size_t i = 0; i < areas->count && areas->at[i].kind != AREA_STACK; i++)
		top = areas->at[i].end;
	return top;
}

static bool take_up(struct sandbox *sandbox, uint64_t start, uint64_t end)
{
	struct shadow_call call = map_nothing(start, end, PROT_NONE);

	return sandbox_calls(sandbox, &call, 1) && call.number == (long)start;
}

struct hp_error *rebuild_close(struct sandbox *sandbox, const struct areas *areas)
{
	struct areas now = { 0 };
	struct hp_error *error = areas_read(&now, sandbox->pid);
	uint64_t free_from = top_of(areas);

	for (size_t i = 0; !error && i <= now.count; i++) {
		uint64_t end = i < now.count ? now.at[i].start : USER_END;
		uint64_t next = i < now.count ? now.at[i].end : USER_END;

		if (next <= free_from)
			continue;
		if (end > USER_END)
			end = USER_END;
		/* Where the copy cannot map this, its new mappings would get other addresses, and
		 * the paths would part there. The original has no memory here, so the copy must not
		 * use it. */
		if (end > free_from && take_up(sandbox, free_from, end) &&
		    !sandbox_reserve(sandbox, free_from, end - free_from))
			error = hp_error_create(HP_ERROR_INSUFFICIENT,
						"too many gaps between mappings");
		free_from = next;
	}
	areas_clear(&now);
	return error;
}
