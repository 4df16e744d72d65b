/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vdso_calls.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

/* mov $number, %eax; syscall; ret. Arguments are in the registers of a system call already. */
enum { STUB_BYTES = 8, NUMBER_AT = 1 };
static const uint8_t stub[STUB_BYTES] = { 0xb8, 0, 0, 0, 0, 0x0f, 0x05, 0xc3 };

struct symbols {
	const uint8_t *base;
	uint64_t bias; /* difference between its addresses in memory and in its symbol table */
	const Elf64_Sym *at;
	size_t count;
	const char *names;
};

/* The kernel has made this file, so it is trusted. */
static void read_dynamic(struct symbols *symbols, const Elf64_Dyn *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const uint8_t *at = symbols->base + (dynamic->d_un.d_ptr - symbols->bias);

		if (dynamic->d_tag == DT_SYMTAB)
			symbols->at = (const Elf64_Sym *)(const void *)at;
		else if (dynamic->d_tag == DT_STRTAB)
			symbols->names = (const char *)at;
		else if (dynamic->d_tag == DT_HASH)
			symbols->count = ((const uint32_t *)(const void *)at)[1];
	}
}

static bool find_symbols(struct symbols *symbols)
{
	const uint8_t *base = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR); // NOLINT
	const Elf64_Ehdr *header = (const void *)base;
	const Elf64_Phdr *segments;
	const Elf64_Dyn *dynamic = NULL;

	*symbols = (struct symbols){ .base = base };
	if (!base)
		return false;
	segments = (const void *)(base + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD)
			symbols->bias = segments[i].p_vaddr - segments[i].p_offset;
		else if (segments[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(base + segments[i].p_offset);
	}
	if (dynamic)
		read_dynamic(symbols, dynamic);
	return symbols->at && symbols->names && symbols->count;
}

uint64_t vdso_function(const char *name)
{
	struct symbols symbols;

	if (!find_symbols(&symbols))
		return 0;
	for (size_t i = 0; i < symbols.count; i++) {
		const Elf64_Sym *symbol = &symbols.at[i];

		if (symbol->st_size >= STUB_BYTES &&
		    strcmp(symbols.names + symbol->st_name, name) == 0)
			return symbol->st_value - symbols.bias;
	}
	return 0;
}

static const struct area *vdso_of(const struct areas *areas)
{
	for (size_t i = 0; i < areas->count; i++) {
		if (areas->at[i].kind == AREA_VDSO)
			return &areas->at[i];
	}
	return NULL;
}

/* Replaces a function only if it is the same as in our own vdso. */
static void replace(struct sandbox *sandbox, uint64_t vdso, uint64_t offset, uint32_t number)
{
	const uint8_t *ours = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR); // NOLINT
	uint8_t found[STUB_BYTES];
	uint8_t code[STUB_BYTES];

	memcpy(code, stub, sizeof(code));
	memcpy(code + NUMBER_AT, &number, sizeof(number));
	if (sandbox_read(sandbox, vdso + offset, found, sizeof(found)) &&
	    memcmp(found, ours + offset, sizeof(found)) == 0)
		sandbox_write(sandbox, vdso + offset, code, sizeof(code));
}

void vdso_make_calls(struct sandbox *sandbox, const struct areas *areas)
{
	static const struct {
		const char *name;
		uint32_t number;
	} functions[] = {
		{ "__vdso_clock_gettime", SYS_clock_gettime },
		{ "__vdso_gettimeofday", SYS_gettimeofday },
		{ "__vdso_time", SYS_time },
	};
	const struct area *vdso = vdso_of(areas);

	for (size_t i = 0; vdso && i < sizeof(functions) / sizeof(functions[0]); i++) {
		uint64_t offset = vdso_function(functions[i].name);

		if (offset && offset + STUB_BYTES <= vdso->end - vdso->start)
			replace(sandbox, vdso->start, offset, functions[i].number);
	}
}
