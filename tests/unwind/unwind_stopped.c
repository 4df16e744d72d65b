/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_stopped THREAD...
 *
 * Prints the call path of each thread, all of one process that is stopped (SIGSTOP), for
 * scripts/path-oracle: from its registers and as much of its stack as record -g may copy. First the
 * thread and how the path ends (root, truncated, lost), then each frame: R (return address) or E
 * (exact), ? for a guess, and the address.
 */
#include <hpcprof/base/cleanup.h>
#include <hpcprof/unwind/unwind.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FRAMES = 1024, MOST_MAPPINGS = 8192, STACK_BYTES = 65024, VDSO_BYTES = 65536 };

static struct mapped {
	uint64_t begin;
	uint64_t end;
	uint64_t offset;
	bool is_code;
	bool is_vdso;
	bool is_sought; /* its table was looked for */
	struct hp_unwind_table *table;
	char path[512];
} mappings[MOST_MAPPINGS];
static size_t mapping_count;
static pid_t process;

static void require(bool is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	exit(1);
}

static void read_mappings(void)
{
	char name[64];
	char *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", process);
	file = fopen(name, "re");
	require(file != NULL, name);
	while (mapping_count < MOST_MAPPINGS && getline(&line, &room, file) > 0) {
		struct mapped *at = &mappings[mapping_count++];
		char rights[8];

		*at = (struct mapped){ 0 };
		require(sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]",
			       &at->begin, &at->end, rights, &at->offset, at->path) >= 4,
			"a line of maps");
		at->is_code = rights[2] == 'x';
		at->is_vdso = strcmp(at->path, "[vdso]") == 0;
	}
	free(line);
	fclose(file);
}

static size_t read_memory(uint64_t address, void *bytes, size_t size)
{
	struct iovec to = { bytes, size };
	struct iovec from = { (void *)(uintptr_t)address, size };
	ssize_t got = process_vm_readv(process, &to, 1, &from, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* Of all mappings of one file the table is the same. */
static struct hp_unwind_table *table_of(struct mapped *mapped)
{
	static uint8_t vdso[VDSO_BYTES];
	struct hp_unwind_table *table = NULL;
	_cleanup_close_ int fd = -1;

	for (size_t i = 0; i < mapping_count; i++)
		if (mappings[i].is_sought && strcmp(mappings[i].path, mapped->path) == 0)
			return mappings[i].table;
	if (mapped->is_vdso) {
		hp_error_destroy(hp_unwind_table_of_bytes(
			vdso, read_memory(mapped->begin, vdso, mapped->end - mapped->begin),
			&table));
		return table;
	}
	fd = open(mapped->path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		hp_error_destroy(hp_unwind_table_of_fd(fd, &table));
	return table;
}

static bool find(void *context, size_t frame, uint64_t address, struct hp_unwind_place *place)
{
	(void)context, (void)frame;
	for (size_t i = 0; i < mapping_count; i++) {
		struct mapped *at = &mappings[i];

		if (address < at->begin || address >= at->end || !at->is_code)
			continue;
		if (!at->is_sought && at->path[0])
			at->table = table_of(at);
		at->is_sought = true;
		place->table = at->table;
		if (at->table)
			place->recipe =
				hp_unwind_recipe_at(at->table, at->offset + (address - at->begin));
		return true;
	}
	return false;
}

/* By DWARF's numbers. */
static void read_registers(pid_t thread, struct hp_unwind_registers *registers)
{
	struct user_regs_struct said;

	require(ptrace(PTRACE_SEIZE, thread, 0, 0) == 0, "PTRACE_SEIZE");
	require(ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0, "PTRACE_INTERRUPT");
	require(waitpid(thread, NULL, __WALL) == thread, "waiting");
	require(ptrace(PTRACE_GETREGS, thread, 0, &said) == 0, "PTRACE_GETREGS");
	require(ptrace(PTRACE_DETACH, thread, 0, 0) == 0, "PTRACE_DETACH");
	*registers = (struct hp_unwind_registers){
		.at = { said.rax, said.rdx, said.rcx, said.rbx, said.rsi, said.rdi, said.rbp,
			said.rsp, said.r8, said.r9, said.r10, said.r11, said.r12, said.r13,
			said.r14, said.r15, said.rip },
		.known = (1u << HP_UNWIND_REGISTERS) - 1,
	};
}

/* As much as one read gives, which ends where the mapping does. */
static size_t read_stack(uint64_t address, uint8_t *bytes)
{
	size_t size = STACK_BYTES;

	for (size_t i = 0; i < mapping_count; i++)
		if (address >= mappings[i].begin && address < mappings[i].end &&
		    mappings[i].end - address < size)
			size = mappings[i].end - address;
	return read_memory(address, bytes, size);
}

static void print_path(pid_t thread)
{
	static const char *const ends[] = { "root", "truncated", "lost" };
	static struct hp_unwind_frame frames[MOST_FRAMES];
	static uint8_t bytes[STACK_BYTES];
	struct hp_unwind_registers registers;
	struct hp_unwind_stack stack = { .bytes = bytes };
	enum hp_unwind_end end;
	size_t count;

	read_registers(thread, &registers);
	stack.address = registers.at[HP_UNWIND_RSP];
	stack.size = read_stack(stack.address, bytes);
	count = hp_unwind(&registers, &stack, find, NULL, NULL, frames, MOST_FRAMES, &end);
	printf("%d %s\n", thread, ends[end]);
	for (size_t i = 0; i < count; i++)
		printf("\t%c%c %" PRIx64 "\n", frames[i].flags & HP_UNWIND_IS_RETURN ? 'R' : 'E',
		       frames[i].flags & HP_UNWIND_IS_GUESS ? '?' : '.', frames[i].address);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "unwind_stopped THREAD...\n");
		return 2;
	}
	process = atoi(argv[1]);
	read_mappings();
	for (int i = 1; i < argc; i++)
		print_path(atoi(argv[i]));
	for (size_t i = 0; i < mapping_count; i++) {
		bool is_again = false;

		for (size_t k = 0; k < i; k++)
			is_again |= mappings[k].table == mappings[i].table;
		if (!is_again)
			hp_unwind_table_destroy(mappings[i].table);
	}
	return 0;
}
