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

/* Of a file that is no program, or has no such information, there is none: that is no error. */
static struct hp_unwind_table *make_table(const struct tables *tables, const struct image *image,
					  uint32_t pid)
{
	struct hp_unwind_table *table = NULL;
	struct hp_identity identity;
	const void *bytes;
	size_t size;
	int fd;

	if (image->id.kind == HP_IMAGE_VDSO) {
		identity = vdso_identity();
		bytes = vdso_bytes(&size);
		if (bytes && hp_identity_equal(&identity, &image->id.identity))
			hp_error_destroy(hp_unwind_table_of_bytes(bytes, size, &table));
		return table;
	}
	fd = open_image(tables, image, pid);
	if (fd < 0)
		return NULL;
	hp_error_destroy(hp_unwind_table_of_fd(fd, &table));
	close(fd);
	return table;
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
	unwinding->table = make_table(tables, image, pid);
	unwinding->bytes = sizeof(*unwinding);
	if (unwinding->table)
		unwinding->bytes += hp_unwind_table_facts(unwinding->table).bytes;
	tables->bytes += unwinding->bytes;
	tables->made += unwinding->table != NULL;
	tables->made_ns += hp_clock_thread_ns() - begin_ns;
	unwinding->used = ++tables->clock;
	while (tables->at.count > 1 &&
	       (tables->bytes > MOST_TABLE_BYTES || tables->at.count > MOST_TABLES))
		drop(tables, find_oldest(tables));
	return unwinding;
}

struct unwinding *tables_of(struct tables *tables, struct image *image, uint32_t pid)
{
	struct unwinding *unwinding = image->unwinding;

	if (!unwinding)
		return look_for(tables, image, pid);
	tables_use(tables, unwinding);
	return unwinding;
}
