/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directories of a database and of its epochs: how they are opened, listed, locked and
 * removed. All paths are relative to descriptors, and no symbolic link is followed.
 *
 * An epoch is created under a hidden name. When it can be read it is renamed to its stamp. To
 * remove an epoch, it is first renamed to a hidden name. So a directory under a stamp is always
 * complete. A hidden directory without a lock is left over from a process that died.
 *
 * A writer of an epoch holds an open-file-description lock on its file `lock`. When it has the
 * lock, it checks that the directory still has its name, because the epoch may have been removed
 * meanwhile. Only the owner can open that file; otherwise users who may only read could block
 * writers.
 */
#ifndef HPCPROF_SRC_DB_DIRECTORY_H
#define HPCPROF_SRC_DB_DIRECTORY_H

#include <hpcprof/base/error.h>
#include <hpcprof/db/db.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hp_db {
	char *path;
	int fd;
	mode_t file_mode; /* mode of new files, by who may read the database */
	/* See hp_db_on_warning; NULL: no warnings. */
	void (*warn)(const char *message, const char *advice, void *context);
	void *warn_context;
	char *warned_of; /* the newest epoch that the last warning said was skipped */
};

enum { HP_HIDDEN_NAME_BYTES = 64 };

/* Lists names in a directory without "." and "..", sorted by bytes. */
struct hp_error *hp_directory_list(int directory, char ***names, size_t *count);
void hp_directory_free_list(char **names, size_t count);

struct hp_error *hp_directory_open(int parent, const char *name, int *fd);
/* Reads a regular file. Anything else, symbolic links too, is DAMAGED. */
struct hp_error *hp_directory_read_file(int directory, const char *name, size_t limit_bytes,
					uint8_t **bytes, size_t *size);
/* Sum of the sizes of its regular files. */
struct hp_error *hp_directory_size(int directory, uint64_t *bytes);
/* Removes temporary files that were left behind. The caller holds the epoch's lock. */
struct hp_error *hp_directory_sweep(int directory, bool dry_run, size_t *files, uint64_t *bytes);

/* Makes a hidden directory with modes that match `file_mode`, and takes its lock. */
struct hp_error *hp_epoch_directory_create(int db, mode_t file_mode, char *name, int *directory,
					   int *lock);
/* Opens an epoch for writing and takes its lock. USAGE if another process holds it. */
struct hp_error *hp_epoch_directory_claim(int db, const char *name, int *directory, int *lock);
/* Whether any process holds the lock. */
struct hp_error *hp_epoch_directory_is_claimed(int directory, bool *claimed);
/* Renames the hidden directory `name` to the first free stamp of this second. */
struct hp_error *hp_epoch_directory_publish(int db, const char *name, uint64_t time_ns,
					    char *stamp);
/* Removes the directory `name` with its files; the caller holds the lock. */
struct hp_error *hp_epoch_directory_remove(int db, const char *name, int directory);

#endif
