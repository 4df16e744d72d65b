/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One moment of the original, as a sample recorded it. */
#ifndef SHADOW_MATCH_SAMPLE_H
#define SHADOW_MATCH_SAMPLE_H

#include "../copy/reached.h"

#include <stdbool.h>
#include <stdint.h>

/* What was recorded of the original in one sample. Samples are in order of time. */
struct hp_engine_sample {
	/* by the registers' numbers in instructions: rax rcx rdx rbx rsp rbp rsi rdi r8 ... */
	uint64_t general[16];
	uint64_t ip;
	uint64_t flags;
	/* user CPU time since the shadow was copied; 0 in all samples: unknown */
	uint64_t time_ns;
	const uint8_t *stack; /* from rsp upward */
	uint32_t stack_bytes;
	const struct reached *reached; /* NULL: unknown */
	/* The original has waited since the copy was made, so it has made a system call. */
	bool follows_call;
};

#endif
