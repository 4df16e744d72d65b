/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls on descriptors. hpcprof reads files for the copy, from descriptors that it has opened
 * again. What the copy writes is dropped; only for files that the copy may also read it is kept, so
 * that the copy reads what it wrote (written.h).
 */
#include "answers.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	PIECE_BYTES = 8192,
};

static struct descriptor *descriptor_of(struct shadow_calls *calls, const struct call *call)
{
	return descriptors_find(calls->descriptors, call->a[0]);
}

static struct written_file *written_of(struct shadow_calls *calls,
				       const struct descriptor *descriptor)
{
	return written_find(&calls->descriptors->written, descriptor->device, descriptor->inode);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Whether the file's contents are known: still in the file, or kept. */
static bool is_readable(const struct descriptor *descriptor)
{
	return descriptor_may_be_read(descriptor) && !descriptor->is_written;
}

int64_t read_file(struct shadow_calls *calls, struct descriptor *descriptor, uint64_t to,
		  uint64_t bytes, uint64_t position)
{
	const struct written_file *written = written_of(calls, descriptor);
	int fd = descriptors_open(calls->descriptors, descriptor);
	uint8_t piece[PIECE_BYTES];
	uint64_t at = 0;

	if ((fd < 0 && !written) || bytes > READ_LIMIT_BYTES)
		return -1;
	while (at < bytes) {
		size_t wanted = bytes - at < sizeof(piece) ? bytes - at : sizeof(piece);
		ssize_t got = written ? written_get(written, fd, position + at, piece, wanted)
				      : pread(fd, piece, wanted, (off_t)(position + at));

		if (got < 0 || (got && !call_write(calls, to + at, piece, (size_t)got)))
			return -1;
		at += (uint64_t)got;
		if ((size_t)got < wanted)
			break;
	}
	return (int64_t)at;
}

bool answer_read(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	bool has_position = call->number == SYS_pread64;
	int64_t got;

	calls->may_wait = descriptor && descriptor->kind == DESCRIPTOR_OTHER;
	if (!descriptor || !is_readable(descriptor))
		return false;
	got = read_file(calls, descriptor, call->a[1], call->a[2],
			has_position ? call->a[3] : descriptor->position);
	if (got < 0)
		return false;
	if (!has_position)
		descriptor->position += (uint64_t)got;
	return call_done(call, got);
}

/* getdents64 of a directory that the copy itself has opened, and that has not changed. */
bool answer_entries(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	_cleanup_free_ uint8_t *entries = malloc(ENTRIES_LIMIT_BYTES);
	struct stat status;
	long got;

	if (!entries || !descriptor || descriptor->kind != DESCRIPTOR_DIRECTORY ||
	    !descriptor->is_new || call->a[2] > ENTRIES_LIMIT_BYTES)
		return false;
	got = syscall(SYS_getdents64, descriptor->fd, entries, call->a[2]);
	return got >= 0 && fstat(descriptor->fd, &status) == 0 &&
	       shadow_clock_is_before(&calls->clock, status.st_ctim) &&
	       call_write(calls, call->a[1], entries, (size_t)got) && call_done(call, got);
}

static bool read_vectors(struct shadow_calls *calls, const struct call *call,
			 struct iovec vectors[VECTOR_LIMIT])
{
	return call->a[2] <= VECTOR_LIMIT &&
	       sandbox_read(calls->sandbox, call->a[1], vectors, call->a[2] * sizeof(*vectors));
}

bool answer_readv(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	struct iovec vectors[VECTOR_LIMIT];
	int64_t all = 0;

	calls->may_wait = descriptor && descriptor->kind == DESCRIPTOR_OTHER;
	if (!descriptor || !is_readable(descriptor) || !read_vectors(calls, call, vectors))
		return false;
	for (size_t i = 0; i < call->a[2]; i++) {
		int64_t got = read_file(calls, descriptor, (uintptr_t)vectors[i].iov_base,
					vectors[i].iov_len, descriptor->position);

		if (got < 0)
			return false;
		descriptor->position += (uint64_t)got;
		all += got;
		if ((uint64_t)got < vectors[i].iov_len)
			break;
	}
	return call_done(call, all);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Keeps what is written. False when it is too much. */
static bool keep(struct shadow_calls *calls, struct descriptor *descriptor,
		 struct written_file *file, uint64_t from, uint64_t bytes, uint64_t position)
{
	int fd = descriptors_open(calls->descriptors, descriptor);
	uint8_t piece[PIECE_BYTES];

	for (uint64_t at = 0; at < bytes;) {
		size_t wanted = bytes - at < sizeof(piece) ? bytes - at : sizeof(piece);

		if (!sandbox_read(calls->sandbox, from + at, piece, wanted) ||
		    !written_put(&calls->descriptors->written, file, fd, position + at, piece,
				 wanted))
			return false;
		at += wanted;
	}
	return true;
}

/* NULL: writes are not kept, because the copy does not read them back, or the file cannot be
 * read. */
static struct written_file *file_to_keep(struct shadow_calls *calls, struct descriptor *descriptor)
{
	struct written_file *file = written_of(calls, descriptor);

	if (file || descriptor->is_written || (descriptor->flags & O_ACCMODE) != O_RDWR ||
	    !descriptor->is_known || descriptors_open(calls->descriptors, descriptor) < 0)
		return file;
	return written_add(&calls->descriptors->written, descriptor->device, descriptor->inode,
			   descriptor->size);
}

/* `position`: UINT64_MAX means the current position. */
static bool write_file(struct shadow_calls *calls, struct descriptor *descriptor, uint64_t from,
		       uint64_t bytes, uint64_t position)
{
	bool moves = position == UINT64_MAX;
	struct written_file *file;

	if (descriptor->kind == DESCRIPTOR_DIRECTORY || bytes > INT32_MAX)
		return false;
	if (descriptor->kind == DESCRIPTOR_OTHER)
		return true;
	file = file_to_keep(calls, descriptor);
	if (moves && file && (descriptor->flags & O_APPEND))
		descriptor->position = file->size;
	if (moves) {
		position = descriptor->position;
		descriptor->position += bytes;
	}
	if (!file || !keep(calls, descriptor, file, from, bytes, position))
		descriptors_mark_written(calls->descriptors, descriptor);
	return true;
}

bool answer_write(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	uint64_t position = call->number == SYS_pwrite64 ? call->a[3] : UINT64_MAX;

	return descriptor && write_file(calls, descriptor, call->a[1], call->a[2], position) &&
	       call_done(call, (int64_t)call->a[2]);
}

bool answer_writev(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	struct iovec vectors[VECTOR_LIMIT];
	uint64_t bytes = 0;

	if (!descriptor || !read_vectors(calls, call, vectors))
		return false;
	for (size_t i = 0; i < call->a[2]; i++) {
		if (!write_file(calls, descriptor, (uintptr_t)vectors[i].iov_base,
				vectors[i].iov_len, UINT64_MAX))
			return false;
		bytes += vectors[i].iov_len;
	}
	return call_done(call, (int64_t)bytes);
}

/* ftruncate and fallocate. */
bool answer_resize(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	struct written_file *file;

	if (!descriptor || descriptor->kind != DESCRIPTOR_REGULAR)
		return false;
	if (call->number == SYS_fallocate) {
		/* It reserves room for later writes; it must not punch holes. */
		return !call->a[1] && call_done(call, 0);
	}
	file = file_to_keep(calls, descriptor);
	if (file)
		written_resize(file, call->a[1]);
	else
		descriptors_mark_written(calls->descriptors, descriptor);
	return call_done(call, 0);
}

/* --- where it is, and what ------------------------------------------------------------------- */

static bool size_of(struct shadow_calls *calls, struct descriptor *descriptor, int64_t *bytes)
{
	const struct written_file *written = written_of(calls, descriptor);
	int fd = descriptors_open(calls->descriptors, descriptor);
	struct stat status;

	if (written) {
		*bytes = (int64_t)written->size;
		return true;
	}
	if (!is_readable(descriptor) || fd < 0 || fstat(fd, &status) < 0)
		return false;
	*bytes = status.st_size;
	return true;
}

/* SEEK_DATA and SEEK_HOLE. A file that the copy has written to counts as without holes. */
static bool find_hole(struct shadow_calls *calls, struct descriptor *descriptor, struct call *call)
{
	const struct written_file *written = written_of(calls, descriptor);
	int fd = descriptors_open(calls->descriptors, descriptor);
	int64_t position = -1;

	if (!written && (!is_readable(descriptor) || fd < 0))
		return false;
	errno = ENXIO;
	/* On our own descriptor; the original's position does not change. */
	if (!written)
		position = lseek(fd, (off_t)call->a[1], (int)call->a[2]);
	else if (call->a[1] < written->size)
		position = (int64_t)(call->a[2] == SEEK_HOLE ? written->size : call->a[1]);
	if (position < 0)
		return call_done(call, -errno);
	descriptor->position = (uint64_t)position;
	return call_done(call, position);
}

bool answer_lseek(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	int64_t from = 0;
	int64_t position;

	if (!descriptor)
		return false;
	if (descriptor->is_null)
		return call_done(call, 0);
	if (descriptor->kind == DESCRIPTOR_OTHER)
		return descriptor->is_stream && call_done(call, -ESPIPE);
	if (descriptor->kind != DESCRIPTOR_REGULAR || !descriptor->is_known ||
	    call->a[2] > SEEK_HOLE)
		return false;
	if (call->a[2] > SEEK_END)
		return find_hole(calls, descriptor, call);
	if (call->a[2] == SEEK_CUR)
		from = (int64_t)descriptor->position;
	else if (call->a[2] == SEEK_END && !size_of(calls, descriptor, &from))
		return false;
	if (__builtin_add_overflow(from, (int64_t)call->a[1], &position) || position < 0)
		return false;
	descriptor->position = (uint64_t)position;
	return call_done(call, position);
}

/* Correct except for the bytes from `guess` to the end of the times. */
static bool write_status(const struct shadow_calls *calls, struct call *call, uint64_t to,
			 const struct stat *status, size_t guess)
{
	const size_t end = offsetof(struct stat, st_ctim) + sizeof(status->st_ctim);

	if (!call_write(calls, to, status, sizeof(*status)))
		return false;
	call->guessed_at = to + guess;
	call->guessed_bytes = end - guess;
	return call_done(call, 0);
}

bool answer_status(struct shadow_calls *calls, struct call *call, uint64_t to,
		   const struct stat *status)
{
	return write_status(calls, call, to, status, offsetof(struct stat, st_atim));
}

/* For anything but regular files. The original may have closed it by now, or be gone. */
static bool status_of(const struct descriptor *descriptor, struct stat *status)
{
	if (descriptor->is_new)
		return descriptor->fd >= 0 && fstat(descriptor->fd, status) == 0;
	*status = descriptor->status;
	return true;
}

/* For a file that is only written, about which a stream asks before its first line. Its present
 * size is a guess. */
static bool written_status(const struct shadow_calls *calls, struct call *call, uint64_t to,
			   const struct descriptor *descriptor)
{
	struct stat status = descriptor->status;

	if (descriptor->is_new || !descriptor->is_known ||
	    (descriptor->flags & O_ACCMODE) != O_WRONLY)
		return false;
	if (descriptor->position > (uint64_t)status.st_size)
		status.st_size = (off_t)descriptor->position;
	return write_status(calls, call, to, &status, offsetof(struct stat, st_size));
}

/* For a file that the copy has created and that does not exist any more: only the original knows
 * its inode. */
static bool made_status(struct shadow_calls *calls, struct call *call, uint64_t to,
			const struct descriptor *descriptor, int64_t size)
{
	const struct stat status = {
		.st_mode = S_IFREG | descriptor->mode,
		.st_nlink = 1,
		.st_uid = (uid_t)calls->ids[ID_EFFECTIVE_USER],
		.st_gid = (gid_t)calls->ids[ID_EFFECTIVE_GROUP],
		.st_size = size,
		.st_blksize = PAGE_BYTES,
	};

	return descriptor->device == DESCRIPTOR_MADE_UP_DEVICE &&
	       call_guess(calls, call, to, &status, sizeof(status)) && call_done(call, 0);
}

bool answer_descriptor_status(struct shadow_calls *calls, struct call *call, uint64_t number,
			      uint64_t to)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, number);
	struct stat status = { 0 };
	int64_t size;
	int fd;

	if (!descriptor)
		return false;
	if (descriptor->kind != DESCRIPTOR_REGULAR)
		return status_of(descriptor, &status) && answer_status(calls, call, to, &status);
	if (descriptor->is_written || !size_of(calls, descriptor, &size))
		return written_status(calls, call, to, descriptor);
	fd = descriptors_open(calls->descriptors, descriptor);
	if (fd < 0)
		return made_status(calls, call, to, descriptor, size);
	if (fstat(fd, &status) < 0)
		return false;
	status.st_size = size;
	return answer_status(calls, call, to, &status);
}

bool answer_fstat(struct shadow_calls *calls, struct call *call)
{
	return answer_descriptor_status(calls, call, call->a[0], call->a[1]);
}

bool answer_close(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);

	if (!descriptor)
		return false;
	descriptors_remove(calls->descriptors, descriptor);
	return call_done(call, 0);
}

static bool covers(const struct flock *lock, const struct flock *wanted)
{
	uint64_t end = (uint64_t)lock->l_start + (uint64_t)lock->l_len;
	uint64_t wanted_end = (uint64_t)wanted->l_start + (uint64_t)wanted->l_len;

	return lock->l_start <= wanted->l_start &&
	       (!lock->l_len || (wanted->l_len && end >= wanted_end));
}

/* Whether no other process has a lock there. The target's own lock is reported first; if it is a
 * write lock, it excludes all others. */
static bool is_free_to_lock(const struct shadow_calls *calls, int fd, const struct flock *wanted)
{
	struct flock found = *wanted;

	if (fcntl(fd, F_GETLK, &found) < 0)
		return false;
	return found.l_type == F_UNLCK ||
	       (found.l_type == F_WRLCK && found.l_pid == calls->pid && covers(&found, wanted));
}

/* F_GETLK. An answer about other locks may be out of date. */
static bool answer_lock(struct shadow_calls *calls, struct call *call,
			struct descriptor *descriptor)
{
	const short none = F_UNLCK;
	struct flock wanted;

	if (descriptor->kind != DESCRIPTOR_REGULAR ||
	    !sandbox_read(calls->sandbox, call->a[2], &wanted, sizeof(wanted)) ||
	    (wanted.l_type != F_RDLCK && wanted.l_type != F_WRLCK) || wanted.l_whence != SEEK_SET ||
	    wanted.l_start < 0 || wanted.l_len < 0)
		return false;
	if (descriptor->device != DESCRIPTOR_MADE_UP_DEVICE &&
	    !is_free_to_lock(calls, descriptors_open(calls->descriptors, descriptor), &wanted))
		return false;
	return call_write(calls, call->a[2] + offsetof(struct flock, l_type), &none,
			  sizeof(none)) &&
	       call_done(call, 0);
}

bool answer_fcntl(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);

	if (!descriptor)
		return false;
	switch (call->a[1]) {
	case F_SETFD:
		descriptor->flags &= ~O_CLOEXEC;
		descriptor->flags |= call->a[2] & FD_CLOEXEC ? O_CLOEXEC : 0;
		return call_done(call, 0);
	case F_GETLK:
		return answer_lock(calls, call, descriptor);
	case F_SETLK: /* the process always gets locks that do not conflict with others */
	case F_SETLKW:
		return call_done(call, 0);
	case F_GETFD:
		return descriptor->is_known &&
		       call_done(call, descriptor->flags & O_CLOEXEC ? FD_CLOEXEC : 0);
	case F_GETFL:
		return descriptor->is_known && call_done(call, descriptor->flags & ~O_CLOEXEC);
	case F_SETFL:
		/* It changes only whether to wait, and the copy never waits. */
		if (!descriptor->is_known ||
		    (((uint64_t)descriptor->flags ^ call->a[2]) & (O_APPEND | O_ASYNC)))
			return false;
		descriptor->flags ^= (descriptor->flags ^ (int)call->a[2]) & O_NONBLOCK;
		return call_done(call, 0);
	default:
		return false;
	}
}

/* Mostly isatty(). */
bool answer_ioctl(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptor_of(calls, call);
	const void *bytes;
	size_t size;

	if (!descriptor)
		return false;
	size = terminal_answer(&descriptor->terminal, call->a[1], &bytes);
	if (!size)
		return false;
	if (descriptor->is_terminal)
		return call_write(calls, call->a[2], bytes, size) && call_done(call, 0);
	return (descriptor->kind == DESCRIPTOR_REGULAR || descriptor->is_stream ||
		descriptor->is_null) &&
	       call_done(call, -ENOTTY);
}
