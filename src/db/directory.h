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
	mode_t file_mode; /* of files that are written: for whom the database is to read */
	/* See hp_db_on_warning; NULL: nobody asked. */
	void (*warn)(const char *message, const char *advice, void *context);
	void *warn_context;
	char *warned_of; /* the newest epoch that was passed over when it was last said */
};

enum { HP_HIDDEN_NAME_BYTES = 64 };

/* Names in a directory without "." and "..", sorted by bytes. */
struct hp_error *hp_directory_list(int directory, char ***names, size_t *count);
void hp_directory_free_list(char **names, size_t count);

struct hp_error *hp_directory_open(int parent, const char *name, int *fd);
/* The whole of a regular file. What is none, a symbolic link too, is DAMAGED. */
struct hp_error *hp_directory_read_file(int directory, const char *name, size_t limit_bytes,
					uint8_t **bytes, size_t *size);
/* Bytes of its regular files. */
struct hp_error *hp_directory_size(int directory, uint64_t *bytes);
/* Removes leftover temporary files; the caller holds the epoch's lock. */
struct hp_error *hp_directory_sweep(int directory, bool dry_run, size_t *files, uint64_t *bytes);

/* Makes a hidden directory, for whom files of `file_mode` are to read, and takes its lock. */
struct hp_error *hp_epoch_directory_create(int db, mode_t file_mode, char *name, int *directory,
					   int *lock);
/* Opens an epoch to write to it and takes its lock; a USAGE error when somebody else has it. */
struct hp_error *hp_epoch_directory_claim(int db, const char *name, int *directory, int *lock);
/* Whether somebody holds the lock. */
struct hp_error *hp_epoch_directory_is_claimed(int directory, bool *claimed);
/* Gives the hidden directory `name` the first free stamp of this second. */
struct hp_error *hp_epoch_directory_publish(int db, const char *name, uint64_t time_ns,
					    char *stamp);
/* Removes what `name` is; the caller holds the lock. */
struct hp_error *hp_epoch_directory_remove(int db, const char *name, int directory);

#endif
