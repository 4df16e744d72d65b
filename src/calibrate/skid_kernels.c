/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "skid_kernels.h"
#include "tuning.h"

#include <assert.h>

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)
#define FILLER "leaq 1(%r8), %r9"
#define BACK   "jmp 1b"
#else
#define FILLER "add x9, x8, #1"
#define BACK   "b 1b"
#endif

/*
 * Written completely in assembly, so that the compiler inserts nothing in between. STEP emits an
 * instruction, and its offset into the kernel's table.
 */
/* clang-format off */
#define STEP(kernel, instruction)                                                                  \
	"9:\t" instruction "\n\t"                                                                  \
	".pushsection .rodata." kernel ",\"a\"\n\t"                                                \
	".4byte 9b - " kernel "\n\t"                                                               \
	".popsection\n\t"
#define KERNEL(kernel, before, slow)                                                               \
	__asm__(".pushsection .rodata." kernel ",\"a\"\n\t"                                        \
		".p2align 2\n"                                                                     \
		kernel "_steps:\n\t"                                                               \
		".popsection\n\t"                                                                  \
		".pushsection .text\n\t"                                                           \
		".p2align 6\n\t"                                                                   \
		".type " kernel ", %function\n"                                                    \
		kernel ":\n\t"                                                                     \
		before                                                                             \
		"1:\n\t"                                                                           \
		STEP(kernel, slow)                                                                 \
		".rept 22\n\t"                                                                     \
		STEP(kernel, FILLER)                                                               \
		".endr\n\t"                                                                        \
		STEP(kernel, BACK)                                                                 \
		".size " kernel ", . - " kernel "\n\t"                                             \
		".popsection")
/* clang-format on */

#if defined(__x86_64__)
KERNEL("skid_load", "", "movq (%rdi), %rdi");
/* The remainder becomes the upper half of the next dividend; it is less than the divisor, so the
 * division cannot overflow. */
KERNEL("skid_divide",
       "movq $-59, %rcx\n\t"
       "movq $12345, %rdx\n\t"
       "movq $67890, %rax\n",
       "divq %rcx");
KERNEL("skid_root",
       "movq $0x4010000000000001, %rax\n\t"
       "movq %rax, %xmm0\n",
       "sqrtsd %xmm0, %xmm0");
#else
KERNEL("skid_load", "", "ldr x0, [x0]");
/* Quotients are large and 3 alternately. */
KERNEL("skid_divide",
       "mov x1, #3\n\t"
       "mov x2, #-59\n",
       "udiv x1, x2, x1");
KERNEL("skid_root", "fmov d0, #4.0\n", "fsqrt d0, d0");
#endif
static_assert(HP_SKID_PLACES == 1 + 22 + 1, "the slow one, the additions, the jump");

void skid_load(void *data);
void skid_divide(void *data);
void skid_root(void *data);
extern const uint32_t skid_load_steps[];
extern const uint32_t skid_divide_steps[];
extern const uint32_t skid_root_steps[];

const struct skid_kernel skid_kernels[] = {
	{ "load from a near cache", skid_load, skid_load_steps, SKID_NEAR_BYTES },
	{ "load from memory", skid_load, skid_load_steps, LATENCY_BYTES },
	{ "division", skid_divide, skid_divide_steps, 0 },
	{ "square root", skid_root, skid_root_steps, 0 },
};
const size_t skid_kernel_count = sizeof(skid_kernels) / sizeof(skid_kernels[0]);

#else

const struct skid_kernel skid_kernels[] = { { .run = NULL } };
const size_t skid_kernel_count = 0;

#endif
