/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tables.h"

#include "../images/file_identity.h"
#include "../images/vdso.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/foreign_file.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void drop(struct tables *tables, size_t at)
{
	struct unwinding *unwinding = tables->at.at[at];

	tables->changes++;
	tables->bytes -= unwinding->bytes;
	tables->indexed -= unwinding->is_indexed;
	tables->at.at[at] = tables->at.at[--tables->at.count];
	hp_unwind_table_destroy(unwinding->table);
	unwinding->image->unwinding = NULL;
	image_release(unwinding->image);
	free(unwinding);
}

void tables_clear(struct tables *tables)
{
	while (tables->at.count)
		drop(tables, tables->at.count - 1);
	hp_vector_free(&tables->at);
}

void tables_forget_numbers(struct tables *tables)
{
	tables->changes++;
	for (size_t i = 0; i < tables->at.count; i++)
		tables->at.at[i]->number = UINT32_MAX;
}

static int open_image(const struct tables *tables, const struct image *image, uint32_t pid)
{
	char path[64];
	struct stat status;
	int fd = file_open_image((pid_t)pid, &image->id);

	if (fd < 0 && held_files_path(images_held_files(tables->images), &image->id, path))
		fd = hp_foreign_open(path, 0, &status);
	return fd;
}

/* Makes the table of the vdso, which has no file. */
static struct hp_unwind_table *make_of_vdso(const struct hp_identity *wanted)
{
	struct hp_unwind_table *table = NULL;
	struct hp_identity identity = vdso_identity();
	const void *bytes;
	size_t size;

	bytes = vdso_bytes(&size);
	if (bytes && hp_identity_equal(&identity, wanted))
		hp_error_destroy(hp_unwind_table_of_bytes(bytes, size, &table));
	return table;
}

/* Makes the table of a file. A file that is no program, or has no such information, gets none
 * without an error. */
static void make_table(struct tables *tables, struct unwinding *unwinding, uint32_t pid)
{
	const struct image *image = unwinding->image;
	int fd;

	if (image->id.kind == HP_IMAGE_VDSO) {
		unwinding->table = make_of_vdso(&image->id.identity);
		return;
	}
	fd = open_image(tables, image, pid);
	if (fd < 0)
		return;
	if (tables->indexed < MOST_INDEXED)
		hp_error_destroy(
			hp_unwind_table_of_index(fd, INDEXED_LEAST_BYTES, &unwinding->table));
	unwinding->is_indexed = unwinding->table != NULL;
	tables->indexed += unwinding->is_indexed;
	if (!unwinding->table)
		hp_error_destroy(hp_unwind_table_of_fd(fd, &unwinding->table));
	close(fd);
}

static size_t find_oldest(const struct tables *tables)
{
	size_t oldest = 0;

	for (size_t i = 1; i < tables->at.count; i++) {
		if (tables->at.at[i]->used < tables->at.at[oldest]->used)
			oldest = i;
	}
	return oldest;
}

/* Counts what the table has become. */
static void weigh(struct tables *tables, struct unwinding *unwinding)
{
	size_t bytes = sizeof(*unwinding);

	if (unwinding->table)
		bytes += hp_unwind_table_facts(unwinding->table).bytes;
	tables->bytes += bytes - unwinding->bytes;
	unwinding->bytes = bytes;
}

/* Call when a table was used: it stays. */
static void drop_oldest(struct tables *tables)
{
	while (tables->at.count > 1 &&
	       (tables->bytes > MOST_TABLE_BYTES || tables->at.count > MOST_TABLES))
		drop(tables, find_oldest(tables));
}

static struct unwinding *look_for(struct tables *tables, struct image *image, uint32_t pid)
{
	struct unwinding *unwinding = calloc(1, sizeof(*unwinding));
	uint64_t begin_ns = hp_clock_thread_ns();

	if (!unwinding || !hp_vector_push(&tables->at, unwinding)) {
		free(unwinding);
		return NULL;
	}
	*unwinding = (struct unwinding){ .image = image, .number = UINT32_MAX };
	image->references++;
	image->unwinding = unwinding;
	make_table(tables, unwinding, pid);
	weigh(tables, unwinding);
	tables->made += unwinding->table != NULL;
	tables->made_ns += hp_clock_thread_ns() - begin_ns;
	tables_use(tables, unwinding);
	drop_oldest(tables);
	return unwinding;
}

struct unwinding *tables_of(struct tables *tables, struct image *image, uint32_t pid)
{
	struct unwinding *unwinding = image->unwinding;

	if (!unwinding)
		return look_for(tables, image, pid);
	tables_use(tables, unwinding);
	/* Rows are added to a table with an index when they are asked for. */
	if (unwinding->is_indexed) {
		weigh(tables, unwinding);
		drop_oldest(tables);
	}
	return unwinding;
}
