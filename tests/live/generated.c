/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generated MS MAP: makes two procedures at run time as a just-in-time compiler does, each a
 * counted loop, calls them for MS of CPU time, three times the iterations in the second, and
 * describes them in the perf map in /tmp unless MAP says otherwise: "map" (as compilers do),
 * "none", "link" (the map is a symbolic link to a file beside it), "large" (100 MiB, sparse). Exit
 * status 77 on a machine whose code it cannot make.
 */
#include "burn.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SPACING_BYTES = 256 };

/* uint32 counter down to zero; nothing but a register is touched. */
#if defined(__x86_64__)
static const unsigned char loop_code[] = {
	0x89, 0xf8,	  /*    mov eax, edi */
	0xff, 0xc8,	  /* 1: dec eax */
	0x0f, 0x1f, 0x00, /*    nop */
	0x75, 0xf9,	  /*    jnz 1b */
	0xc3,		  /*    ret */
};
#elif defined(__aarch64__)
static const unsigned char loop_code[] = {
	0x00, 0x04, 0x00, 0x71, /* 1: subs w0, w0, #1 */
	0x1f, 0x20, 0x03, 0xd5, /*    nop */
	0xc1, 0xff, 0xff, 0x54, /*    b.ne 1b */
	0xc0, 0x03, 0x5f, 0xd6, /*    ret */
};
#else
static const unsigned char loop_code[1];
#endif

static void write_map(const char *how, const unsigned char *code)
{
	char path[64];
	char real[80];
	FILE *map;

	if (strcmp(how, "none") == 0)
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(real, sizeof(real), "%s", path);
	if (strcmp(how, "link") == 0) {
		snprintf(real, sizeof(real), "%s.real", path);
		if (symlink(real, path) < 0)
			die(path);
	}
	map = fopen(real, "wxe");
	if (!map)
		die(real);
	fprintf(map, "%lx %zx generated one\n%lx %zx generated::three\n", (unsigned long)code,
		sizeof(loop_code), (unsigned long)code + SPACING_BYTES, sizeof(loop_code));
	if (fclose(map) || (strcmp(how, "large") == 0 && truncate(real, 100 << 20) != 0))
		die(real);
}

int main(int argc, char **argv)
{
	uint64_t end_ns;
	unsigned char *code;
	void (*one)(unsigned);
	void (*three)(unsigned);

	if (argc != 3)
		return 2;
	if (sizeof(loop_code) == 1)
		return 77;
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		die("mmap");
	memcpy(code, loop_code, sizeof(loop_code));
	memcpy(code + SPACING_BYTES, loop_code, sizeof(loop_code));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) < 0)
		return 77;
	__builtin___clear_cache((char *)code, (char *)code + 4096);
	write_map(argv[2], code);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	one = (void (*)(unsigned))(uintptr_t)code;
	three = (void (*)(unsigned))(uintptr_t)(code + SPACING_BYTES);
	end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + number(argv[1]) * 1000000ull;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
		one(10000);
		three(30000);
	}
	return EXIT_SUCCESS;
}
