/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cpu.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HIGHEST_CACHE = 16 };

/* Returns the value of a line "key : value", or NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0)
		return NULL;
	line += length;
	line += strspn(line, " \t");
	if (*line != ':')
		return NULL;
	return line + 1 + strspn(line + 1, " \t");
}

static void take_number(const char *line, const char *key, uint32_t *number)
{
	const char *text = value_of(line, key);
	uint64_t value;

	if (text && hp_parse_u64(text, &value) && value <= UINT32_MAX)
		*number = (uint32_t)value;
}

/* Arm's rNpM: the variant N, then the revision M. */
static void take_revision(const char *line, struct hp_cpu *cpu)
{
	enum { REVISION_BITS = 4 };
	uint32_t variant = 0;
	uint32_t revision = 0;

	take_number(line, "CPU variant", &variant);
	take_number(line, "CPU revision", &revision);
	cpu->stepping |= variant << REVISION_BITS | revision;
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += length) {
		if ((at == text || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	}
	return false;
}

static bool take_vendor(const char *line, struct hp_cpu *cpu)
{
	const char *text = value_of(line, "vendor_id");

	if (!text)
		return true;
	free(cpu->vendor);
	cpu->vendor = strdup(text);
	return cpu->vendor;
}

/* Parses one line of a CPU's block. False: out of memory. */
static bool take_line(const char *line, struct hp_cpu *cpu)
{
	const char *flags = value_of(line, "flags");

	if (flags)
		cpu->has_amx = has_word(flags, "amx_tile");
	take_number(line, "cpu family", &cpu->family);
	take_number(line, "model", &cpu->model);
	take_number(line, "stepping", &cpu->stepping);
	take_number(line, "CPU implementer", &cpu->implementer);
	take_number(line, "CPU part", &cpu->part);
	take_revision(line, cpu);
	return take_vendor(line, cpu);
}

/* Reads the next block, up to its blank line. False: there is none. */
static bool read_block(FILE *file, struct hp_cpu *block, bool *no_memory)
{
	_cleanup_free_ char *line = NULL;
	size_t capacity = 0;
	bool any = false;

	*block = (struct hp_cpu){ 0 };
	while (getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!*line && any)
			return true;
		any |= *line;
		*no_memory |= !take_line(line, block);
	}
	return any;
}

/*
 * On x86 the first block suffices: with two kinds of cores all say the same. On Arm all blocks are
 * read, since a machine with big and little cores has no single CPU. Blocks that describe no CPU
 * are skipped.
 */
static struct hp_error *read_blocks(FILE *file, struct hp_cpu *cpu)
{
	struct hp_cpu block;
	bool no_memory = false;

	while (!cpu->vendor && read_block(file, &block, &no_memory)) {
		bool differs = hp_cpu_is_known(cpu) && !hp_cpu_equal(cpu, &block);

		if (!hp_cpu_is_known(&block)) {
			hp_cpu_clear(&block);
			continue;
		}
		hp_cpu_clear(cpu);
		if (differs)
			hp_cpu_clear(&block);
		*cpu = block;
		if (differs)
			break;
	}
	return no_memory ? hp_error_create_no_memory() : NULL;
}

static bool exists(const char *root, const char *path)
{
	_cleanup_free_ char *full = NULL;

	return asprintf(&full, "%s%s", root, path) >= 0 && access(full, F_OK) == 0;
}

static char *cache_text(const char *root, int index, const char *name)
{
	return hp_file_text("%s/sys/devices/system/cpu/cpu0/cache/index%d/%s", root, index, name);
}

static uint32_t instruction_cache_bytes(const char *root)
{
	for (int i = 0; i < HIGHEST_CACHE; i++) {
		_cleanup_free_ char *level = cache_text(root, i, "level");
		_cleanup_free_ char *type = cache_text(root, i, "type");
		_cleanup_free_ char *size = cache_text(root, i, "size");
		uint64_t bytes;

		if (!level || !type || !size)
			return 0;
		if (strcmp(level, "1") == 0 && strcmp(type, "Instruction") == 0 &&
		    hp_parse_bytes(size, &bytes) && bytes <= UINT32_MAX)
			return (uint32_t)bytes;
	}
	return 0;
}

struct hp_error *hp_cpu_find(const char *root, struct hp_cpu *cpu)
{
	_cleanup_free_ char *path = NULL;
	struct hp_error *error;
	FILE *file;

	*cpu = (struct hp_cpu){ 0 };
	if (asprintf(&path, "%s/proc/cpuinfo", root) < 0)
		return hp_error_create_no_memory();
	file = fopen(path, "re");
	if (!file)
		return NULL;
	error = read_blocks(file, cpu);
	fclose(file);
	/* the only sign of x86 machines with two kinds of cores */
	if (exists(root, "/sys/devices/cpu_atom") && exists(root, "/sys/devices/cpu_core"))
		hp_cpu_clear(cpu);
	if (!error && hp_cpu_is_known(cpu))
		cpu->instruction_cache_bytes = instruction_cache_bytes(root);
	return error;
}
