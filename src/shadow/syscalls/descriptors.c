/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "descriptors.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/foreign_file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void close_all(struct descriptors *descriptors)
{
	for (size_t i = 0; i < descriptors->count; i++) {
		if (descriptors->at[i].fd >= 0)
			close(descriptors->at[i].fd);
	}
	descriptors->count = 0;
}

static void forget(struct descriptors *descriptors)
{
	close_all(descriptors);
	descriptors->is_watching = false;
	written_clear(&descriptors->written);
}

void descriptors_clear(struct descriptors *descriptors)
{
	forget(descriptors);
	hp_vector_free(descriptors);
}

static int by_number(const void *a, const void *b)
{
	const struct descriptor *left = a;
	const struct descriptor *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

bool descriptor_is_null(const struct stat *status)
{
	enum { MAJOR = 1, NULL_MINOR = 3, ZERO_MINOR = 5, FULL_MINOR = 7 };
	unsigned which = minor(status->st_rdev);

	return S_ISCHR(status->st_mode) && major(status->st_rdev) == MAJOR &&
	       (which == NULL_MINOR || which == ZERO_MINOR || which == FULL_MINOR);
}

bool descriptor_may_be_read(const struct descriptor *descriptor)
{
	return descriptor->kind == DESCRIPTOR_REGULAR && descriptor->is_known &&
	       (descriptor->flags & O_ACCMODE) != O_WRONLY && !(descriptor->flags & O_PATH);
}

static bool look_at(int directory, const char *name, struct descriptor *descriptor)
{
	struct stat status;
	uint64_t number;

	if (!hp_parse_u64(name, &number) || number > INT_MAX ||
	    fstatat(directory, name, &status, 0) < 0)
		return false;
	*descriptor = (struct descriptor){
		.number = (int)number,
		.kind = DESCRIPTOR_OTHER,
		.device = status.st_dev,
		.inode = status.st_ino,
		.status = status,
		.size = status.st_size > 0 ? (uint64_t)status.st_size : 0,
		.is_stream = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode),
		.is_null = descriptor_is_null(&status),
		.fd = -1,
	};
	if (S_ISREG(status.st_mode))
		descriptor->kind = DESCRIPTOR_REGULAR;
	else if (S_ISDIR(status.st_mode))
		descriptor->kind = DESCRIPTOR_DIRECTORY;
	else if (S_ISCHR(status.st_mode))
		descriptor->is_terminal = terminal_ask(&status, &descriptor->terminal);
	return true;
}

bool descriptor_parse_info(const char *text, uint64_t *position, int *flags, uint64_t *inode)
{
	const char *line = strstr(text, "pos:");
	const char *value;
	char *end;
	unsigned long octal;

	if (!line)
		return false;
	value = line + strlen("pos:");
	if (!hp_scan_u64(&value, position))
		return false;
	line = strstr(text, "flags:");
	if (!line)
		return false;
	octal = strtoul(line + strlen("flags:"), &end, 8);
	if (*end != '\n' || octal > INT_MAX)
		return false;
	*flags = (int)octal;
	line = strstr(text, "ino:");
	value = line ? line + strlen("ino:") : NULL;
	/* in the kernel since Linux 5.14 */
	return !value || hp_scan_u64(&value, inode);
}

static void read_position(const struct descriptors *descriptors, struct descriptor *descriptor)
{
	_cleanup_close_ int fd = -1;
	uint64_t inode = descriptor->inode;
	char path[64];
	char text[512];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)descriptors->pid,
		 descriptor->number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return;
	text[got] = 0;
	descriptor->is_known =
		descriptor_parse_info(text, &descriptor->position, &descriptor->flags, &inode) &&
		inode == descriptor->inode;
}

/* Checks first that it is still the same file: the number may have been reused. */
int descriptors_open(struct descriptors *descriptors, struct descriptor *descriptor)
{
	_cleanup_close_ int handle = -1;
	struct stat status;
	char path[64];
	int fd;

	if (descriptor->fd >= 0 || descriptor->is_new || descriptors->is_watching ||
	    descriptor->kind != DESCRIPTOR_REGULAR)
		return descriptor->fd;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)descriptors->pid, descriptor->number);
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0 || hp_file_system_of(handle) != HP_FILE_SYSTEM_KEEPS)
		return -1;
	fd = hp_foreign_reopen(handle, &status);
	if (fd >= 0 &&
	    (status.st_dev != descriptor->device || status.st_ino != descriptor->inode)) {
		close(fd);
		fd = -1;
	}
	descriptor->fd = fd;
	return fd;
}

static bool watches_files(int directory, const char *name)
{
	char target[64];
	ssize_t length = readlinkat(directory, name, target, sizeof(target) - 1);

	target[length > 0 ? length : 0] = 0;
	return strcmp(target, "anon_inode:inotify") == 0 ||
	       strcmp(target, "anon_inode:[fanotify]") == 0;
}

/* Whether the number still means the same file; if so, keeps what was open of it. */
static bool is_as_before(struct descriptors *before, struct descriptor *descriptor)
{
	struct descriptor *known = descriptors_find(before, (uint64_t)descriptor->number);
	struct stat status = descriptor->status;

	if (!known || known->device != descriptor->device || known->inode != descriptor->inode)
		return false;
	*descriptor = *known;
	descriptor->status = status;
	known->fd = -1;
	return true;
}

static bool add_listed(struct descriptors *descriptors, struct descriptors *before, int directory,
		       const char *name)
{
	struct descriptor descriptor;

	if (!look_at(directory, name, &descriptor))
		return true;
	if (!is_as_before(before, &descriptor) && descriptor.kind == DESCRIPTOR_OTHER) {
		read_position(descriptors, &descriptor);
		descriptors->is_watching |= watches_files(directory, name);
	}
	if (hp_vector_push(descriptors, descriptor))
		return true;
	if (descriptor.fd >= 0)
		close(descriptor.fd);
	return false;
}

/* Looks only at descriptors that are new. */
static struct hp_error *list_again(struct descriptors *descriptors)
{
	struct descriptors before = *descriptors;
	char path[64];
	DIR *directory;
	bool room = true;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)descriptors->pid);
	directory = opendir(path);
	if (!directory)
		return hp_error_create_errno(errno, "opening %s", path);
	descriptors->at = NULL;
	descriptors->count = descriptors->capacity = 0;
	for (const struct dirent *entry = readdir(directory);
	     entry && room && descriptors->count < DESCRIPTOR_LIMIT; entry = readdir(directory))
		room = add_listed(descriptors, &before, dirfd(directory), entry->d_name);
	closedir(directory);
	close_all(&before);
	hp_vector_free(&before);
	if (!room)
		return hp_error_create_no_memory();
	if (descriptors->count)
		qsort(descriptors->at, descriptors->count, sizeof(*descriptors->at), by_number);
	/* They are opened now: when the copy reads them, the original may have closed them. */
	for (size_t i = 0; i < descriptors->count && i < OPEN_LIMIT; i++)
		descriptors_open(descriptors, &descriptors->at[i]);
	return NULL;
}

struct hp_error *descriptors_list(struct descriptors *descriptors, pid_t pid)
{
	forget(descriptors);
	descriptors->pid = pid;
	return list_again(descriptors);
}

static bool is_read_and_written(const struct descriptor *descriptor)
{
	return descriptor->is_known && (descriptor->flags & O_ACCMODE) == O_RDWR &&
	       descriptor->fd >= 0;
}

static void keep_head(struct descriptors *descriptors, const struct descriptor *descriptor)
{
	written_keep_head(&descriptors->written, descriptor->device, descriptor->inode,
			  descriptor->fd);
}

void descriptors_read_positions(struct descriptors *descriptors)
{
	size_t read = 0;
	size_t kept = 0;

	/* If there are too many to be listed again, nothing more is known. */
	if (descriptors->count <= POSITION_LIMIT) {
		struct hp_error *error = list_again(descriptors);

		if (error)
			forget(descriptors);
		hp_error_destroy(error);
	}
	for (size_t i = 0; i < descriptors->count && read < POSITION_LIMIT; i++) {
		if (descriptors->at[i].kind != DESCRIPTOR_REGULAR)
			continue;
		read_position(descriptors, &descriptors->at[i]);
		read++;
		if (kept < HEAD_LIMIT && is_read_and_written(&descriptors->at[i])) {
			keep_head(descriptors, &descriptors->at[i]);
			kept++;
		}
	}
}

struct descriptor *descriptors_find(struct descriptors *descriptors, uint64_t number)
{
	struct descriptor key = { .number = (int)number };

	if (number > INT_MAX || !descriptors->count)
		return NULL;
	return bsearch(&key, descriptors->at, descriptors->count, sizeof(key), by_number);
}

static int lowest_free(const struct descriptors *descriptors)
{
	int number = 0;

	for (size_t i = 0; i < descriptors->count && descriptors->at[i].number == number; i++)
		number++;
	return number;
}

struct descriptor *descriptors_add(struct descriptors *descriptors, const struct descriptor *opened)
{
	struct descriptor descriptor = *opened;

	descriptor.number = lowest_free(descriptors);
	if (!hp_vector_push(descriptors, descriptor)) {
		if (descriptor.fd >= 0)
			close(descriptor.fd);
		return NULL;
	}
	qsort(descriptors->at, descriptors->count, sizeof(*descriptors->at), by_number);
	return descriptors_find(descriptors, (uint64_t)descriptor.number);
}

void descriptors_mark_written(struct descriptors *descriptors, const struct descriptor *descriptor)
{
	for (size_t i = 0; i < descriptors->count; i++) {
		struct descriptor *other = &descriptors->at[i];

		if (other->device == descriptor->device && other->inode == descriptor->inode)
			other->is_written = true;
	}
}

void descriptors_remove(struct descriptors *descriptors, struct descriptor *descriptor)
{
	size_t at = (size_t)(descriptor - descriptors->at);

	if (descriptor->fd >= 0)
		close(descriptor->fd);
	descriptors->count--;
	memmove(descriptor, descriptor + 1, (descriptors->count - at) * sizeof(*descriptor));
}
