/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps programs from being looked into, for tests of who may be copied.
 *
 *	confined without CALL COMMAND...  runs it where `ptrace`, `process_vm_readv` or
 *					  `perf_event_open` is refused, as the filters of containers do
 *	confined hidden MS		  works for so long, having said that nobody may look into it
 *	confined attached PID		  stops that process as a debugger does, says so, and lets go
 *					  when its standard input ends
 *	confined large MIB MS		  works for so long with so much memory
 */
#include "burn.h"

#include <errno.h>
#include <signal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

BURNER(burn_here);

static int without(const char *name, char **command)
{
	unsigned call = strcmp(name, "ptrace") == 0	       ? SYS_ptrace
			: strcmp(name, "perf_event_open") == 0 ? SYS_perf_event_open
							       : SYS_process_vm_readv;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		return 77;
	execvp(command[0], command);
	return 127;
}

static int hidden(const char *ms)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return 77;
	burn_here(number(ms));
	return 0;
}

static int attached(const char *text)
{
	pid_t pid = (pid_t)number(text);
	char byte;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0 || waitpid(pid, NULL, 0) != pid ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
		return 77;
	puts("attached");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	if (kill(pid, SIGSTOP) < 0 || waitpid(pid, NULL, 0) != pid)
		return 1;
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0;
}

static int large(const char *mib, const char *ms)
{
	size_t bytes = (size_t)number(mib) << 20;
	unsigned char *memory = malloc(bytes);

	if (!memory)
		return 77;
	memset(memory, 1, bytes);
	burn_here(number(ms));
	return memory[bytes / 2] != 1;
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "without") == 0)
		return without(argv[2], argv + 3);
	if (argc == 3 && strcmp(argv[1], "hidden") == 0)
		return hidden(argv[2]);
	if (argc == 3 && strcmp(argv[1], "attached") == 0)
		return attached(argv[2]);
	if (argc == 4 && strcmp(argv[1], "large") == 0)
		return large(argv[2], argv[3]);
	fputs("usage: see the source\n", stderr);
	return 2;
}
