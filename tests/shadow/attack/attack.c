/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that want something from being profiled: attack WHAT LOOT SECRET MILLISECONDS
 *
 * Each prints its number, goes on about its business for so long and prints "done" at the end; what
 * it gets it leaves in the file LOOT, or tells by the system call that its copy makes next: uname()
 * is "I have read the secret", times() is "I am out". The original never makes these, so they end
 * windows of copies only.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, ZONE_BYTES = 64 << 20, SPRAY_BYTES = 256 << 10 };

static const char *loot;
static const char *secret;
static struct timespec end;

static bool is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

static void set_end(const char *milliseconds)
{
	long left = atol(milliseconds);

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += left / 1000;
	end.tv_nsec += left % 1000 * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
}

static volatile uint64_t busy;

static void work(void)
{
	for (int i = 0; i < 200000; i++)
		busy = busy * 3 + 1;
}

/* No call of the C library's, which may be far away: what runs here may be out of everything. */
static long raw(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

static _Noreturn void tell_read(void)
{
	struct utsname name;

	uname(&name);
	_exit(3);
}

static _Noreturn void tell_out(void)
{
	struct tms times_;

	times(&times_);
	_exit(3);
}

/* --- out of the translator -------------------------------------------------------------------- */

/* Native code of ours, if it ever runs. */
static void payload(void)
{
	long fd = raw(SYS_open, (long)loot, O_WRONLY | O_CREAT, 0666);

	raw(SYS_write, fd, (long)"out\n", 4);
	raw(SYS_exit_group, 3, 0, 0);
}

static sigjmp_buf back;

static void on_fault(int signal)
{
	siglongjmp(back, signal);
}

/* Eight places to go to from one branch, so that it is looked up in a table. */
#define STEP(n)                                                                                    \
	static void step_##n(void)                                                                 \
	{                                                                                          \
		busy += n;                                                                         \
	}                                                                                          \
	_Static_assert(n < 8, "places")
STEP(0);
STEP(1);
STEP(2);
STEP(3);
STEP(4);
STEP(5);
STEP(6);
STEP(7);
static void (*volatile const steps[])(void) = {
	step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7,
};

static void go_places(void)
{
	for (unsigned i = 0; i < 4000; i++)
		steps[(i * 2654435761U) >> 29]();
}

/* Everything that lies there is our payload's address; what a branch goes by next is ours. Only in
 * a copy do we come to the end: there may be counters, which lie then, but no tables. */
static void spray(uint64_t from, uint64_t bytes)
{
	for (uint64_t at = from; at + 8 <= from + bytes; at += 8)
		*(volatile uint64_t *)(uintptr_t)at = (uint64_t)(uintptr_t)payload;
	go_places();
}

/* Where the engine may have its tables: guesses, by the rules it is known to go by. */
static size_t guess(uint64_t guesses[64])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t libraries_end = 0, heap_end = 0, code_end = 0, first = 0;
	unsigned long long from, to;
	size_t count = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx", &from, &to) != 2)
			continue;
		if (!first)
			first = from;
		if (strstr(line, "[heap]"))
			heap_end = to;
		else if (strstr(line, "[stack]"))
			break;
		else
			libraries_end = to;
		if (strstr(line, " r-xp ") && !code_end)
			code_end = to;
	}
	if (maps)
		fclose(maps);
	guesses[count++] = libraries_end + (8 << 20);
	guesses[count++] = (heap_end ? heap_end : code_end) + (1 << 30);
	guesses[count++] = first - 0x10000 - ZONE_BYTES;
	guesses[count++] = 0x40014000;
	guesses[count++] = 0x40000000;
	return count;
}

static void attack_tables(void)
{
	uint64_t guesses[64];
	size_t count = guess(guesses);

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	for (size_t i = 0; !is_over(); i++) {
		uint64_t zone = guesses[i / 20 % count];

		go_places();
		work();
		if (!sigsetjmp(back, 1))
			spray(zone + ZONE_BYTES - SPRAY_BYTES, SPRAY_BYTES);
		/* Where constants are now. */
		if (!sigsetjmp(back, 1))
			spray(zone + ZONE_BYTES / 4 * 3, SPRAY_BYTES);
	}
}

/* Code of ours where a copy has a page of its own. */
static void attack_tools(void)
{
	volatile uint64_t at = 0x10000;

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	while (!is_over()) {
		work();
		if (!sigsetjmp(back, 1)) {
			memcpy((void *)(uintptr_t)at, (const void *)(uintptr_t)payload, 256);
			((void (*)(void))(uintptr_t)at)();
			tell_out();
		}
		at += 0x10000;
		if (at > 0x100000)
			at = 0x10000;
	}
}

/* The engine's memory made writable, or taken away and filled anew, by calls that the copy may
 * make. */
static void attack_mappings(void)
{
	uint64_t guesses[64];
	size_t count = guess(guesses);

	for (size_t i = 0; !is_over(); i++) {
		void *zone = (void *)(uintptr_t)guesses[i / 20 % count];

		go_places();
		work();
		/* Of nothing the original says ENOMEM. */
		if (mprotect(zone, PAGE, PROT_READ | PROT_WRITE) == 0 ||
		    mprotect((char *)zone + ZONE_BYTES / 4 * 3, PAGE, PROT_READ | PROT_WRITE) == 0)
			tell_out();
	}
}

/* Into the engine, by a call, a jump and a return. */
static void attack_jumps(void)
{
	uint64_t guesses[64];
	size_t count = guess(guesses);

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	for (size_t i = 0; !is_over(); i++) {
		uint64_t place = guesses[i / 20 % count] + i % 64 * 5;

		go_places();
		work();
		if (sigsetjmp(back, 1))
			continue;
		if (i % 3 == 0)
			((void (*)(void))(uintptr_t)place)();
		else if (i % 3 == 1)
			__asm__ volatile("jmp *%0" : : "r"(place));
		else
			__asm__ volatile("push %0\n ret" : : "r"(place));
	}
}

/* Code that is another each time. */
static void attack_writes_code(void)
{
	uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (code != MAP_FAILED && !is_over()) {
		static const uint8_t returns[] = { 0xb8, 0, 0, 0, 0, 0xc3 };

		work();
		memcpy(code, returns, sizeof(returns));
		((int (*)(void))(uintptr_t)code)();
		code[1]++;
		((int (*)(void))(uintptr_t)code)();
	}
}

/* Leaves all registers alone, and gives the stack back what was put aside of it. */
__asm__(".type come_back, @function\ncome_back: ret $128\n");
extern void come_back(void);

/* A frame that says where to go on. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	ucontext_t *frame = context;

	(void)signal;
	(void)info;
	/* Through a function of ours, and back to where it was. */
	frame->uc_mcontext.gregs[REG_RSP] -= 8 + 128;
	*(greg_t *)(uintptr_t)frame->uc_mcontext.gregs[REG_RSP] = frame->uc_mcontext.gregs[REG_RIP];
	frame->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)come_back;
}

static void attack_frames(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGUSR1, &action, NULL);
	while (!is_over()) {
		work();
		raise(SIGUSR1);
	}
}

/* Who is traced already cannot be traced by another; who traces itself, by nobody. */
static void attack_traced(void)
{
	while (!is_over()) {
		work();
		if (raw(SYS_ptrace, PTRACE_PEEKDATA, getpid(), 0) == 0)
			tell_out();
	}
}

/* A program with more rights, again and again. */
static void attack_setuid(void)
{
	while (!is_over()) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			dup2(open("/dev/null", O_WRONLY), 1);
			execl("/bin/mount", "mount", "--version", (char *)NULL);
			_exit(0);
		}
		for (int i = 0; i < 20; i++)
			work();
		waitpid(child, &status, 0);
	}
}

/* The trap flag stops a copy wherever it likes. */
static volatile sig_atomic_t traps;

static void on_trap(int signal)
{
	(void)signal;
	traps++;
}

static void attack_trap_flag(void)
{
	signal(SIGTRAP, on_trap);
	while (!is_over()) {
		work();
		__asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n"
				 "movl $0xcc000000, %%eax\n movl $0, %%eax\n"
				 "pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
				 :
				 :
				 : "rax", "memory", "cc");
	}
}

/* --- by our right to read --------------------------------------------------------------------- */

static void try_read(int fd)
{
	char byte;

	/* No original comes by here: nobody lets it. */
	if (fd >= 0 && read(fd, &byte, 1) == 1)
		tell_read();
	if (fd >= 0)
		close(fd);
}

static void attack_open(void)
{
	while (!is_over()) {
		work();
		try_read(open(secret, O_RDONLY));
	}
}

static void attack_handle(void)
{
	int fd = open(secret, O_PATH);
	char byte;

	while (!is_over()) {
		work();
		if (read(fd, &byte, 1) == 1)
			tell_read();
		void *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED)
			tell_read();
	}
}

/* Whoever asks is told of itself: of us, or of the one who profiles us? */
static void attack_proc(void)
{
	static const char *const names[] = { "//proc/self/comm", "/./proc/self/comm",
					     "/proc/../proc/self/comm", "/dev/fd/2",
					     "/proc/thread-self/comm" };

	for (size_t i = 0; !is_over(); i++) {
		char text[16] = "";
		int fd;

		work();
		fd = open(names[i / 20 % (sizeof(names) / sizeof(*names))], O_RDONLY);
		if (fd >= 0 && read(fd, text, 7) == 7 && strncmp(text, "hpcprof", 7) == 0)
			tell_read();
		if (fd >= 0)
			close(fd);
	}
}

/* Out of a root directory. */
static void attack_root(void)
{
	while (!is_over()) {
		char path[512];

		work();
		snprintf(path, sizeof(path), "/../../../../..%s", secret);
		try_read(open(path, O_RDONLY));
		try_read(open("link-out", O_RDONLY));
	}
}

/* --- out of confinement ----------------------------------------------------------------------- */

/* Only read, write, exit and sigreturn from now on, and no clock. */
static void attack_strict(void)
{
	struct timespec start, now;
	uint64_t rounds = 0;
	uint64_t left_ms;

	/* How much work that is, while it can be told. */
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		work();
		rounds++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
		 100);
	left_ms = (uint64_t)((end.tv_sec - now.tv_sec) * 1000 +
			     (end.tv_nsec - now.tv_nsec) / 1000000);
	prctl(PR_SET_SECCOMP, 1);
	for (uint64_t i = 0; i < left_ms / 100 * rounds; i++)
		work();
	raw(SYS_write, 1, (long)"done\n", 5);
	raw(SYS_exit, 0, 0, 0);
}

/* What may be read, but for a filter that says no. */
static void attack_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		_exit(77);
	attack_open();
}

/* --- others that are started ------------------------------------------------------------------ */

/* The copy of somebody who forks all the time. */
static void attack_forks(void)
{
	signal(SIGCHLD, SIG_IGN);
	while (!is_over()) {
		pid_t parent = getpid();
		pid_t child;

		work();
		child = fork();
		if (child == 0)
			_exit(getppid() == parent ? 0 : 3);
	}
}

/* Devices, pipes and terminals that notice who opens them; the memory of who profiles us. */
static void attack_devices(void)
{
	static const char *const names[] = { "/dev/ptmx", "/dev/tty", "/dev/zero", "/dev/full",
					     "pipe" };

	mkfifo("pipe", 0600);
	for (size_t i = 0; !is_over(); i++) {
		int fd;

		work();
		fd = open(names[i / 20 % (sizeof(names) / sizeof(*names))],
			  O_RDONLY | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0)
			close(fd);
	}
	unlink("pipe");
}

/* SECRET has the number of the process that profiles us. */
static void attack_us(void)
{
	while (!is_over()) {
		FILE *file = fopen(secret, "r");
		char path[64];
		int pid = 0;
		int fd;

		work();
		if (!file || fscanf(file, "%d", &pid) != 1)
			pid = 0;
		if (file)
			fclose(file);
		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		fd = open(path, O_RDWR);
		if (fd >= 0 || ptrace(PTRACE_ATTACH, pid, NULL, NULL) == 0)
			tell_out();
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} attacks[] = {
		{ "tables", attack_tables },	   { "tools", attack_tools },
		{ "jumps", attack_jumps },	   { "writes-code", attack_writes_code },
		{ "frames", attack_frames },	   { "traced", attack_traced },
		{ "setuid", attack_setuid },	   { "mappings", attack_mappings },
		{ "trap-flag", attack_trap_flag }, { "open", attack_open },
		{ "handle", attack_handle },	   { "proc", attack_proc },
		{ "root", attack_root },	   { "strict", attack_strict },
		{ "filter", attack_filter },	   { "forks", attack_forks },
		{ "devices", attack_devices },	   { "us", attack_us },
	};

	if (argc != 5)
		return 2;
	loot = argv[2];
	secret = argv[3];
	set_end(argv[4]);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++) {
		if (strcmp(attacks[i].name, argv[1]) == 0) {
			attacks[i].run();
			puts("done");
			return 0;
		}
	}
	return 2;
}
