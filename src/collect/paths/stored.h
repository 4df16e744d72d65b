/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables that earlier recordings made, in the user's cache (base/cache.h): the table of a
 * large library takes long to make.
 *
 * A table is found by the identity of its image and by what the kernel says of the file: device,
 * inode, size, and the times of its last changes. So a file that only claims to be another gets its
 * own table. There is a fixed number of files; a new table replaces one that has its place.
 */
#ifndef COLLECT_PATHS_STORED_H
#define COLLECT_PATHS_STORED_H

#include <hpcprof/model/image_id.h>
#include <hpcprof/unwind/table.h>

/* The key of a table. */
struct stored_key {
	struct hp_identity identity;
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	int64_t modified[2]; /* s, ns */
	int64_t changed[2];  /* time of the inode's change */
};

/* Makes the key of an open file; false if the file is unsuitable. */
bool stored_key_of(int fd, const struct hp_identity *identity, struct stored_key *key);

/* Returns the table; NULL if there is none or it is damaged. */
struct hp_unwind_table *stored_load(const struct stored_key *key);
/* Stores a table. After an error it is created again next time. */
void stored_save(const struct stored_key *key, const struct hp_unwind_table *table);

#endif
