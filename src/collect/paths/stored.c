/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stored.h"

#include "../tuning.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/cache.h>
#include <hpcprof/base/hash.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 32 };

bool stored_key_of(int fd, const struct hp_identity *identity, struct stored_key *key)
{
	struct stat status;

	if (identity->kind == HP_IDENTITY_NONE || fstat(fd, &status) != 0)
		return false;
	/* Keys are compared as bytes, padding included. */
	memset(key, 0, sizeof(*key));
	key->identity.kind = identity->kind;
	key->identity.size = identity->size;
	memcpy(key->identity.bytes, identity->bytes, identity->size);
	key->device = status.st_dev;
	key->inode = status.st_ino;
	key->size = (uint64_t)status.st_size;
	key->modified[0] = status.st_mtim.tv_sec;
	key->modified[1] = status.st_mtim.tv_nsec;
	key->changed[0] = status.st_ctim.tv_sec;
	key->changed[1] = status.st_ctim.tv_nsec;
	return true;
}

static void name_of(const struct stored_key *key, char *name)
{
	snprintf(name, NAME_BYTES, "unwind-%u",
		 (unsigned)(XXH3_64bits(key, sizeof(*key)) % STORED_TABLES));
}

struct hp_unwind_table *stored_load(const struct stored_key *key)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_unwind_table *table = NULL;
	char name[NAME_BYTES];
	size_t size;

	name_of(key, name);
	hp_error_destroy(hp_cache_read(name, STORED_MOST_BYTES, &bytes, &size));
	if (!bytes || size < sizeof(*key) || memcmp(bytes, key, sizeof(*key)) != 0)
		return NULL;
	hp_error_destroy(hp_unwind_table_decode(bytes + sizeof(*key), size - sizeof(*key), &table));
	return table;
}

void stored_save(const struct stored_key *key, const struct hp_unwind_table *table)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_writer writer = { 0 };
	char name[NAME_BYTES];
	size_t size = 0;

	name_of(key, name);
	hp_error_destroy(hp_unwind_table_encode(table, &bytes, &size));
	hp_write_bytes(&writer, key, sizeof(*key));
	hp_write_bytes(&writer, bytes, size);
	if (bytes && !writer.failed && writer.size <= STORED_MOST_BYTES)
		hp_error_destroy(hp_cache_write(name, writer.bytes, writer.size));
	hp_writer_free(&writer);
}
