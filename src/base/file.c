/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/file.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_CHUNK_BYTES = 16384, TEXT_LIMIT_BYTES = 1 << 20 };

static struct hp_error *read_chunk(int fd, uint8_t *into, size_t room, size_t *got)
{
	ssize_t count;

	do {
		count = read(fd, into, room);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return hp_error_create_errno(errno, "reading");
	*got = (size_t)count;
	return NULL;
}

struct hp_error *hp_file_read_fd(int fd, size_t limit_bytes, uint8_t **bytes, size_t *size)
{
	_cleanup_free_ uint8_t *data = NULL;
	size_t capacity = 0;
	size_t filled = 0;
	struct stat status;
	size_t got = 0;

	if (fstat(fd, &status) < 0)
		return hp_error_create_errno(errno, "asking for the size");
	if (S_ISDIR(status.st_mode))
		return hp_error_create_errno(EISDIR, "reading");
	if (status.st_size > 0 && (uint64_t)status.st_size > limit_bytes)
		return hp_error_create(HP_ERROR_DAMAGED, "%lld bytes, more than the %zu expected",
				       (long long)status.st_size, limit_bytes);
	if (!hp_grow((void **)&data, &capacity, (size_t)status.st_size + 2, 1))
		return hp_error_create_no_memory();
	do {
		struct hp_error *error;

		if (filled > limit_bytes)
			return hp_error_create(HP_ERROR_DAMAGED, "more than the %zu bytes expected",
					       limit_bytes);
		if (capacity - filled < 2 &&
		    !hp_grow((void **)&data, &capacity, filled + READ_CHUNK_BYTES, 1))
			return hp_error_create_no_memory();
		error = read_chunk(fd, data + filled, capacity - filled - 1, &got);
		if (error)
			return error;
		filled += got;
	} while (got > 0);
	data[filled] = 0;
	*bytes = hp_steal(data);
	*size = filled;
	return NULL;
}

struct hp_error *hp_file_read_at(int directory, const char *name, size_t limit_bytes,
				 uint8_t **bytes, size_t *size)
{
	_cleanup_close_ int fd =
		openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return hp_error_create_errno(errno, "opening %s", name);
	return hp_error_wrap(hp_file_read_fd(fd, limit_bytes, bytes, size), "%s", name);
}

struct hp_error *hp_file_read_text(const char *path, char **text)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;

	if (fd < 0)
		return hp_error_create_errno(errno, "opening %s", path);
	error = hp_file_read_fd(fd, TEXT_LIMIT_BYTES, &bytes, &size);
	if (error)
		return hp_error_wrap(error, "%s", path);
	if (size && bytes[size - 1] == '\n')
		bytes[size - 1] = 0;
	*text = (char *)bytes;
	return NULL;
}

char *hp_file_text(const char *format, ...)
{
	_cleanup_free_ char *path = NULL;
	char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&path, format, arguments);
	va_end(arguments);
	if (length < 0)
		path = NULL;
	else
		hp_error_destroy(hp_file_read_text(path, &text));
	return text;
}

struct hp_error *hp_file_read_number(const char *path, int64_t *value)
{
	_cleanup_free_ char *text = NULL;
	struct hp_error *error = hp_file_read_text(path, &text);

	if (error)
		return error;
	if (!hp_parse_i64(text, value))
		return hp_error_create(HP_ERROR_DAMAGED, "%s: '%s' is not a number", path, text);
	return NULL;
}

/* Returns ".NAME.tmp.XXXXXXXX": a hidden file beside its target, whose name is never that of a file
 * that we read. */
static char *temporary_name(const char *name)
{
	uint32_t nonce;
	char *temporary;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return NULL;
	return asprintf(&temporary, ".%s.tmp.%08x", name, nonce) < 0 ? NULL : temporary;
}

bool hp_file_is_temporary(const char *name)
{
	return name[0] == '.' && strstr(name, ".tmp.");
}

int hp_file_write_fd(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size > 0) {
		ssize_t count = write(fd, at, size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return errno;
		at += count;
		size -= (size_t)count;
	}
	return 0;
}

static int write_new(int directory, const char *name, const void *bytes, size_t size, mode_t mode)
{
	int fd =
		openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	int failure;

	if (fd < 0)
		return errno;
	failure = hp_file_write_fd(fd, bytes, size);
	if (!failure && fsync(fd) < 0)
		failure = errno;
	/* Quota and NFS errors may only show here. */
	if (close(fd) < 0 && !failure)
		failure = errno;
	return failure;
}

struct hp_error *hp_file_replace(int directory, const char *name, const void *bytes, size_t size,
				 mode_t mode)
{
	_cleanup_free_ char *temporary = temporary_name(name);
	int failure;

	if (!temporary)
		return hp_error_create_no_memory();
	failure = write_new(directory, temporary, bytes, size, mode);
	if (!failure && renameat(directory, temporary, directory, name) < 0)
		failure = errno;
	if (!failure)
		return NULL;
	if (failure != EEXIST)
		unlinkat(directory, temporary, 0);
	return hp_error_create_errno(failure, "writing %s", name);
}

struct hp_error *hp_file_sync_directory(int directory)
{
	/* Some file systems cannot sync a directory; they then order renames themselves. */
	if (fsync(directory) < 0 && errno != EINVAL && errno != EROFS)
		return hp_error_create_errno(errno, "syncing the directory");
	return NULL;
}

/* --- mapped files -------------------------------------------------------------------------------- */

enum { PAGEMAP_ENTRIES = 512 };
/* Documentation/admin-guide/mm/pagemap.rst */
static const uint64_t page_is_of_file = UINT64_C(1) << 61;
static const uint64_t page_is_swapped = UINT64_C(1) << 62;
static const uint64_t page_is_present = UINT64_C(1) << 63;

static bool may_be_forgotten(uint64_t entry)
{
	return !(entry & page_is_swapped) &&
	       (!(entry & page_is_present) || (entry & page_is_of_file));
}

static void forget(const uint64_t *entries, size_t count, uint8_t *first, size_t page)
{
	for (size_t i = 0, end; i < count; i = end + 1) {
		for (end = i; end < count && may_be_forgotten(entries[end]); end++)
			;
		if (end > i)
			madvise(first + i * page, (end - i) * page, MADV_DONTNEED);
	}
}

void hp_file_forget_pages(const void *mapped, size_t size)
{
	_cleanup_close_ int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = ((uintptr_t)mapped + page - 1) / page;
	uintptr_t end = ((uintptr_t)mapped + size) / page;
	uint64_t entries[PAGEMAP_ENTRIES];

	while (fd >= 0 && at < end) {
		size_t wanted = end - at < PAGEMAP_ENTRIES ? end - at : PAGEMAP_ENTRIES;
		ssize_t got = pread(fd, entries, wanted * sizeof(*entries),
				    (off_t)(at * sizeof(*entries)));
		size_t count = got > 0 ? (size_t)got / sizeof(*entries) : 0;

		if (!count)
			return;
		/* The address is a number here. */
		forget(entries, count, (uint8_t *)(at * page), page);
		at += count;
	}
}
