/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapped.h"

#include "../support.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { MOST_MODULES = 64 };

static struct module {
	ElfW(Addr) base;
	struct hp_unwind_table *table;
} modules[MOST_MODULES];
static size_t module_count;

struct search {
	uint64_t address;
	struct hp_unwind_place *place;
	bool is_program; /* found in the first module */
	size_t index;
};

static struct hp_unwind_table *make_table(const struct dl_phdr_info *info)
{
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	struct hp_unwind_table *table = NULL;
	int fd;

	if (info->dlpi_addr == getauxval(AT_SYSINFO_EHDR)) {
		const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)info->dlpi_addr;

		hp_assert_ok(hp_unwind_table_of_bytes(
			header, header->e_shoff + (size_t)header->e_shentsize * header->e_shnum,
			&table));
		return table;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s", path);
	/* Some by their index, others at once. */
	if (module_count % 2)
		hp_error_destroy(hp_unwind_table_of_index(fd, 0, &table));
	if (!table)
		hp_assert_ok(hp_unwind_table_of_fd(fd, &table));
	close(fd);
	return table;
}

static struct hp_unwind_table *table_of(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < module_count; i++) {
		if (modules[i].base == info->dlpi_addr)
			return modules[i].table;
	}
	ck_assert_uint_lt(module_count, MOST_MODULES);
	modules[module_count] = (struct module){ info->dlpi_addr, make_table(info) };
	return modules[module_count++].table;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	struct hp_unwind_table *table;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || search->address < begin ||
		    search->address - begin >= part->p_filesz)
			continue;
		search->is_program = search->index == 0;
		table = table_of(info);
		search->place->table = table;
		search->place->recipe =
			hp_unwind_recipe_at(table, part->p_offset + (search->address - begin));
		return 1;
	}
	search->index++;
	return 0;
}

bool mapped_find(void *context, size_t frame, uint64_t address, struct hp_unwind_place *place)
{
	struct search search = { .address = address, .place = place };

	(void)context, (void)frame;
	return dl_iterate_phdr(look, &search) == 1;
}

bool mapped_find_elsewhere(void *context, size_t frame, uint64_t address,
			   struct hp_unwind_place *place)
{
	struct search search = { .address = address, .place = place };

	(void)context, (void)frame;
	if (dl_iterate_phdr(look, &search) != 1)
		return false;
	if (search.is_program)
		*place = (struct hp_unwind_place){ 0 };
	return true;
}
