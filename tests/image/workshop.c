/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workshop.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

static char directory[PATH_MAX];

static void clean_up(void)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	if (system(command) != 0)
		perror(directory);
}

const char *workshop_directory(void)
{
	char here[PATH_MAX - 64];
	const char *source = getenv("top_srcdir");
	char programs[PATH_MAX + 32];

	if (directory[0])
		return directory;
	ck_assert(getcwd(here, sizeof(here)) != NULL);
	snprintf(directory, sizeof(directory), "%s/image-workshop-XXXXXX", here);
	ck_assert_msg(mkdtemp(directory) != NULL, "no scratch directory in %s", here);
	atexit(clean_up);
	ck_assert_msg(source != NULL, "top_srcdir is not set: run this through make check");
	snprintf(programs, sizeof(programs), "%s/tests/image/programs", source);
	setenv("src", programs, 1);
	unsetenv("DEBUGINFOD_URLS");
	return directory;
}

__attribute__((format(printf, 3, 0))) static void make_command(char *command, size_t size,
							       const char *format,
							       va_list arguments)
{
	int length = snprintf(command, size, "cd '%s' && ", workshop_directory());

	vsnprintf(command + length, size - (size_t)length, format, arguments);
}

bool workshop_try(const char *format, ...)
{
	char command[8192];
	va_list arguments;

	va_start(arguments, format);
	make_command(command, sizeof(command) - 64, format, arguments);
	va_end(arguments);
	strcat(command, " >/dev/null 2>&1");
	return system(command) == 0;
}

void workshop_run(const char *format, ...)
{
	char command[8192];
	va_list arguments;

	va_start(arguments, format);
	make_command(command, sizeof(command), format, arguments);
	va_end(arguments);
	ck_assert_msg(system(command) == 0, "failed: %s", command);
}

FILE *workshop_read(const char *format, ...)
{
	char command[8192];
	va_list arguments;
	FILE *stream;

	va_start(arguments, format);
	make_command(command, sizeof(command), format, arguments);
	va_end(arguments);
	stream = popen(command, "r");
	ck_assert_msg(stream != NULL, "failed: %s", command);
	return stream;
}

bool workshop_has(const char *tool)
{
	return workshop_try("command -v %s", tool);
}

void workshop_skip(const char *what, const char *why)
{
	printf("# skipped: %s: %s\n", what, why);
	fflush(stdout);
}

const char *workshop_path(const char *name)
{
	static char paths[4][PATH_MAX + 256];
	static unsigned next;
	char *path = paths[next++ % 4];

	if (name[0] == '/')
		snprintf(path, sizeof(paths[0]), "%s", name);
	else
		snprintf(path, sizeof(paths[0]), "%s/%s", workshop_directory(), name);
	return path;
}

struct hp_identity workshop_identity(const char *name)
{
	struct hp_identity identity;
	int fd = open(workshop_path(name), O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s", name);
	hp_assert_ok(hp_identity_of_fd(fd, &identity));
	close(fd);
	return identity;
}

static void close_image(void *image)
{
	hp_image_close(image);
}

struct hp_image *workshop_open(const char *name, const struct hp_image_options *options)
{
	char path[PATH_MAX + 256];
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = path };
	struct hp_image *image;

	snprintf(path, sizeof(path), "%s", workshop_path(name));
	id.identity = workshop_identity(name);
	hp_assert_ok(hp_image_open(&id, options, &image));
	at_end(close_image, image);
	return image;
}

uint8_t *workshop_bytes(const char *name, size_t *size)
{
	FILE *stream = fopen(workshop_path(name), "rb");
	struct stat status;
	uint8_t *bytes;

	ck_assert(stream != NULL);
	ck_assert(fstat(fileno(stream), &status) == 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size + 1);
	ck_assert(bytes != NULL);
	ck_assert_uint_eq(fread(bytes, 1, *size, stream), *size);
	fclose(stream);
	return bytes;
}

size_t workshop_nm(const char *arguments, struct nm_symbol **symbols)
{
	FILE *stream = workshop_read(NM " --defined-only -S %s", arguments);
	size_t capacity = 0;
	size_t count = 0;
	char line[1024];

	*symbols = NULL;
	while (fgets(line, sizeof(line), stream)) {
		struct nm_symbol symbol = { 0 };

		if (sscanf(line, "%lx %lx %c %511s", &symbol.address, &symbol.size, &symbol.type,
			   symbol.name) != 4) {
			symbol.size = 0;
			if (sscanf(line, "%lx %c %511s", &symbol.address, &symbol.type,
				   symbol.name) != 3)
				continue;
		}
		/* A probe's base address is a weak symbol, too, but it is data. */
		if (!strchr("TtWwiu", symbol.type) || strncmp(symbol.name, "_.", 2) == 0)
			continue;
		if (count == capacity) {
			capacity = capacity ? capacity * 2 : 256;
			*symbols = realloc(*symbols, capacity * sizeof(symbol));
			ck_assert(*symbols != NULL);
		}
		(*symbols)[count++] = symbol;
	}
	ck_assert_int_eq(pclose(stream), 0);
	return count;
}

const struct hp_procedure *procedure_at(struct hp_image *image, uint64_t address)
{
	return hp_image_procedure_at(image, (hp_link_address){ address });
}

const struct nm_symbol *nm_find(const struct nm_symbol *symbols, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(symbols[i].name, name) == 0)
			return &symbols[i];
	ck_abort_msg("nm does not know %s", name);
	return NULL;
}

bool build_cold(const char *flags)
{
	return workshop_try("cc -O2 %s -DENTRY=first -c -o first.o \"$src\"/cold.c", flags) &&
	       workshop_try("cc -O2 %s -DENTRY=second -c -o second.o \"$src\"/cold.c", flags) &&
	       workshop_try("cc -O2 %s -o program \"$src\"/main.c first.o second.o", flags);
}

void check_cover(struct hp_image *image)
{
	const struct hp_procedure *const *list;
	uint64_t end = 0;
	size_t count;

	hp_image_procedures(image, &list, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t address = list[i]->address.value;

		ck_assert_uint_gt(list[i]->size, 0);
		ck_assert_uint_ge(address, end);
		end = address + list[i]->size;
		ck_assert_uint_ge(end, address);
		ck_assert(procedure_at(image, address) == list[i]);
		ck_assert(procedure_at(image, end - 1) == list[i]);
		ck_assert(list[i]->owner->owner == list[i]->owner);
		ck_assert_str_eq(list[i]->name, list[i]->owner->name);
		ck_assert_int_ne(list[i]->source, HP_PROCEDURE_GAP);
	}
}
