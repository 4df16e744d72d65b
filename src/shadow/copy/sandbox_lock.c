/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sandbox_lock.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* bit in the numbers of calls of another ABI (x32) */
enum { OTHER_NUMBERS = 0x40000000 };
enum { PRISON_FILTER_STEPS = 24 };

/* --- the filter ------------------------------------------------------------------------------- */

struct writer {
	struct sock_filter *at;
	size_t count;
};

static void emit(struct writer *writer, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	writer->at[writer->count++] = (struct sock_filter){ code, yes, no, k };
}

static void load(struct writer *writer, size_t offset)
{
	emit(writer, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void kill_it(struct writer *writer)
{
	emit(writer, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
}

static void ask_us(struct writer *writer)
{
	emit(writer, BPF_RET | BPF_K, SECCOMP_RET_TRACE, 0, 0);
}

/* Kills the process unless the loaded word has this value. */
static void kill_unless(struct writer *writer, uint32_t value)
{
	emit(writer, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
	kill_it(writer);
}

/* Writes the filter of system calls for a copy whose `syscall` instruction ends at `behind`.
 * Returns its length. */
static size_t make_filter(struct sock_filter filter[PRISON_FILTER_STEPS], uint64_t behind)
{
	static const uint32_t harmless[] = { SYS_munmap, SYS_mremap, SYS_madvise };
	const size_t protection = offsetof(struct seccomp_data, args[2]);
	struct writer writer = { filter, 0 };

	load(&writer, offsetof(struct seccomp_data, arch));
	kill_unless(&writer, AUDIT_ARCH_X86_64);
	/* Little-endian: the low half comes first. */
	load(&writer, offsetof(struct seccomp_data, instruction_pointer));
	kill_unless(&writer, (uint32_t)behind);
	load(&writer, offsetof(struct seccomp_data, instruction_pointer) + sizeof(uint32_t));
	kill_unless(&writer, (uint32_t)(behind >> 32));
	load(&writer, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++) {
		emit(&writer, BPF_JMP | BPF_JEQ | BPF_K, harmless[i], 0, 1);
		ask_us(&writer);
	}
	emit(&writer, BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0);
	kill_unless(&writer, SYS_mprotect);
	load(&writer, protection);
	emit(&writer, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);
	kill_it(&writer);
	ask_us(&writer);
	return writer.count;
}

_Static_assert(SYS_mmap < OTHER_NUMBERS, "numbers of another machine match none of ours");

/* --- locking ---------------------------------------------------------------------------------- */

static bool set_filter(struct sandbox *sandbox)
{
	struct {
		struct sock_fprog program;
		struct sock_filter filter[PRISON_FILTER_STEPS];
	} written = { 0 };
	uint64_t at = sandbox->tools + TOOLS_SCRATCH;

	written.program.len =
		(unsigned short)make_filter(written.filter, sandbox->tools + VESSEL_SYSCALL_BYTES);
	/* as an address in the sandbox */
	written.program.filter =
		(struct sock_filter *)(uintptr_t)(at + offsetof(__typeof__(written), filter));
	return sandbox_write(sandbox, at, &written, sizeof(written)) &&
	       sandbox_call(sandbox, SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, at, 0, 0, 0) == 0;
}

static bool set(struct sandbox *sandbox, int what, uint64_t value)
{
	return sandbox_call(sandbox, SYS_prctl, (uint64_t)what, value, 0, 0, 0, 0) == 0;
}

struct hp_error *sandbox_lock(struct sandbox *sandbox)
{
	/* Changing the user id has cleared the parent-death signal, so it is set again. Nobody may
	 * inspect the copy, trace it, or find its memory on disk. */
	bool ok = sandbox_call(sandbox, SYS_close_range, 0, UINT32_MAX, 0, 0, 0, 0) == 0 &&
		  set(sandbox, PR_SET_PDEATHSIG, SIGKILL) && set(sandbox, PR_SET_DUMPABLE, 0) &&
		  set(sandbox, PR_SET_NO_NEW_PRIVS, 1);

	ok = ok && ptrace(PTRACE_SETOPTIONS, sandbox->pid, NULL,
			  PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP) == 0;
	if (!ok)
		return hp_error_create(HP_ERROR_SYSTEM, "a copy could not be isolated");
	if (!set_filter(sandbox))
		return hp_error_advise(
			hp_error_create(HP_ERROR_NOT_PERMITTED,
					"the system calls of a copy cannot be filtered"),
			"a kernel with CONFIG_SECCOMP_FILTER, whose containers allow seccomp(), "
			"is needed; record without --shadow");
	sandbox->is_locked = true;
	/* Unmaps the memory that the filter was read from. */
	if (sandbox_call(sandbox, SYS_munmap, sandbox->tools + TOOLS_SCRATCH, TOOLS_SCRATCH_BYTES,
			 0, 0, 0, 0) != 0)
		return hp_error_create(HP_ERROR_SYSTEM, "a copy could not be isolated");
	return NULL;
}
