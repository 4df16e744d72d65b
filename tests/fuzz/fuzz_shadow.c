/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shadow windows read that the kernel writes: 'a' and a memory map, 'f' and the text of a
 * descriptor, 'm' and that of memory that is not to be copied, 'r' and a record of a ring.
 *
 * And what copies write: 'c' and counters of translated code; 's' and system calls, each of
 * fourteen bytes: the number and what is permitted, and of each of six arguments what it is and a
 * value. A copy is there for the calls, locked up as it is for a program.
 */
#include "fuzz.h"

#include "../../src/shadow/copy/areas.h"
#include "../../src/shadow/translate/counts.h"
#include "../../src/shadow/syscalls/descriptors.h"
#include "../../src/shadow/replay/engine.h"
#include "../../src/shadow/match/state_sampler.h"
#include "../../src/shadow/copy/sandbox_lock.h"
#include "../../src/shadow/copy/secrets.h"
#include "../../src/shadow/syscalls/system_calls.h"
#include "../../src/shadow/translate/x86_link.h"
#include "../../src/shadow/translate/x86_translate.h"

#include <hpcprof/base/cleanup.h>

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void check(bool claim)
{
	if (!claim)
		abort();
}

static void parse_areas(char *text)
{
	_cleanup_(areas_clear) struct areas areas = { 0 };

	if (areas_parse(&areas, text)) {
		for (size_t i = 0; i < areas.count; i++) {
			const struct area *area = &areas.at[i];

			check(area->start < area->end);
			check(!i || area[-1].end <= area->start);
			check(areas_find(&areas, area->start) == area);
			check(areas_find(&areas, area->end - 1) == area);
		}
	}
}

static void parse_info(const char *text)
{
	uint64_t position;
	uint64_t inode = 0;
	int flags = 0;

	if (descriptor_parse_info(text, &position, &flags, &inode))
		check(flags >= 0);
}

static void parse_record(const uint8_t *bytes, size_t size)
{
	_cleanup_(state_sampler_clear) struct state_sampler sampler;

	state_sampler_init(&sampler);
	state_sampler_take(&sampler, bytes, size);
	for (size_t i = 0; i < sampler.count; i++)
		check(sampler.samples[i].stack_bytes <= MATCH_STACK_BYTES);
}

static void parse_secrets(char *text)
{
	_cleanup_(secrets_clear) struct secrets secrets = { 0 };
	uint64_t start = 0;
	uint64_t end = 0;
	char *line;

	while ((line = strsep(&text, "\n")))
		secrets_take_line(&secrets, line, &start, &end);
	for (size_t i = 0; i < secrets.count; i++) {
		check(secrets.at[i].start < secrets.at[i].end);
		check(!i || secrets.at[i - 1].end <= secrets.at[i].start);
		check(secrets_meet(&secrets, secrets.at[i].start, secrets.at[i].start + 1));
	}
}

/* --- counters --------------------------------------------------------------------------------- */

static struct {
	struct code_cache cache;
	struct areas areas;
	bool is_ready;
} counted;

static void drop(void *context, uint64_t page)
{
	x86_drop(context, page);
}

/* Code of our own is translated; it never runs. */
static bool translate_something(void)
{
	struct shadow_text *text = NULL;
	struct x86_translator translator;
	uint64_t place = (uint64_t)(uintptr_t)&translate_something - (UINT64_C(1) << 29);
	int memory_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	bool changed;
	uint8_t why;

	if (counted.is_ready)
		return true;
	place &= ~UINT64_C(4095);
	if (memory_fd < 0 || areas_read(&counted.areas, getpid()) ||
	    code_cache_create(&counted.cache, 32 << 20, false) ||
	    shadow_text_create(drop, &counted.cache, &text) ||
	    shadow_text_begin(text, getpid(), memory_fd, &counted.areas, NULL, &changed))
		return false;
	code_cache_place(&counted.cache, &place, 1);
	translator = (struct x86_translator){ .cache = &counted.cache, .text = text };
	counted.is_ready = x86_enter(&translator, (uint64_t)(uintptr_t)&LLVMFuzzerTestOneInput,
				     &why) != CODE_NO_NUMBER;
	shadow_text_destroy(text);
	close(memory_fd);
	return counted.is_ready;
}

/* At three moments, whatever they say: repeated as often as there are counters. */
static void count(const uint8_t *bytes, size_t size)
{
	struct shadow_counts moments[3] = { 0 };
	const struct shadow_counts *taken[3];
	struct hp_replay replay = { 0 };
	struct code_zone *zone = &counted.cache.zones[0];
	size_t counters;

	if (size < sizeof(uint64_t) || !translate_something())
		return;
	counters = zone->counter_count;
	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < counters; j++) {
			size_t at = (i * counters + j) * sizeof(uint64_t) %
				    (size - sizeof(uint64_t) + 1);

			memcpy(&code_counters(zone)[j], bytes + at, sizeof(uint64_t));
		}
		check(shadow_counts_take(&moments[i], &counted.cache));
		taken[i] = &moments[i];
	}
	check(!shadow_counts_between(&counted.cache, taken, 3, &replay));
	for (size_t i = 0; i < replay.block_count; i++)
		check(!i || replay.blocks[i - 1].address.value <= replay.blocks[i].address.value);
	hp_replay_free(&replay);
	for (size_t i = 0; i < 3; i++)
		shadow_counts_free(&moments[i]);
}

/* --- system calls ----------------------------------------------------------------------------- */

enum { PAGE = 4096, DATA_PAGES = 4, CALL_BYTES = 14, CALLS_MOST = 64 };
static const uint64_t data_at = 0x200000000000;
static const uint64_t engine_at = 0x210000000000;

static struct {
	struct sandbox sandbox;
	struct areas areas;
	struct descriptors descriptors;
	struct shadow_calls calls;
} copy;

/* A copy of nothing, with memory of the program's and of the engine's. */
static bool make_copy(void)
{
	cpu_set_t cpus;

	sandbox_init(&copy.sandbox);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	if (sandbox_create(&copy.sandbox, &copy.areas, &cpus) ||
	    sandbox_call(&copy.sandbox, SYS_mmap, data_at, DATA_PAGES * PAGE,
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 UINT64_MAX, 0) < 0 ||
	    sandbox_call(&copy.sandbox, SYS_mmap, engine_at, PAGE, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, UINT64_MAX, 0) < 0 ||
	    !sandbox_write(&copy.sandbox, engine_at, "untouched", 10) ||
	    !sandbox_reserve(&copy.sandbox, engine_at - PAGE, 3 * PAGE) ||
	    sandbox_lock(&copy.sandbox))
		return false;
	copy.calls.sandbox = &copy.sandbox;
	copy.calls.areas = &copy.areas;
	copy.calls.descriptors = &copy.descriptors;
	copy.calls.heap = (struct sandbox_range){ data_at + (1 << 20), data_at + (2 << 20) };
	copy.calls.heap_end = copy.calls.heap.end;
	return true;
}

/* What it is: a small number, a place in its memory, in ours, or anything. */
static uint64_t argument(uint8_t kind, uint8_t value)
{
	switch (kind % 8) {
	case 0:
		return value;
	case 1:
		return data_at + (uint64_t)value * 8;
	case 2:
		return data_at + (uint64_t)value * PAGE / 64;
	case 3:
		return engine_at + ((uint64_t)value << 6) - PAGE;
	case 4:
		return copy.sandbox.tools + ((uint64_t)value << 6) - PAGE;
	case 5:
		return (uint64_t)value << (value % 57);
	case 6:
		return -(uint64_t)value;
	default:
		return (uint64_t)value * PAGE;
	}
}

static void make_calls(const uint8_t *bytes, size_t size)
{
	char found[10] = "";
	bool ok = make_copy();

	/* Its memory is the input, too. */
	ok = ok && sandbox_write(&copy.sandbox, data_at, bytes, size < PAGE ? size : PAGE);
	ok = ok && !descriptors_list(&copy.descriptors, getpid());
	if (ok)
		shadow_calls_identify(&copy.calls, getpid(), getpid());
	for (size_t i = 0; ok && i < CALLS_MOST && (i + 1) * CALL_BYTES <= size; i++) {
		const uint8_t *call = bytes + i * CALL_BYTES;
		const struct user_regs_struct registers = {
			.rax = call[0] | (call[1] & 1U) << 8,
			.rdi = argument(call[2], call[3]),
			.rsi = argument(call[4], call[5]),
			.rdx = argument(call[6], call[7]),
			.r10 = argument(call[8], call[9]),
			.r8 = argument(call[10], call[11]),
			.r9 = argument(call[12], call[13]),
		};

		copy.calls.may_name = call[1] & 2;
		copy.calls.is_confined = call[1] & 4;
		shadow_calls_handle(&copy.calls, copy.sandbox.pid, &registers);
	}
	if (ok) {
		check(sandbox_read(&copy.sandbox, engine_at, found, sizeof(found)));
		check(strcmp(found, "untouched") == 0);
	}
	descriptors_clear(&copy.descriptors);
	shadow_calls_clear(&copy.calls);
	sandbox_clear(&copy.sandbox);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);

	if (text && size) {
		memcpy(text, bytes + 1, size - 1);
		text[size - 1] = 0;
		if (bytes[0] == 'a')
			parse_areas(text);
		else if (bytes[0] == 'f')
			parse_info(text);
		else if (bytes[0] == 'm')
			parse_secrets(text);
		else if (bytes[0] == 'r')
			parse_record(bytes + 1, size - 1);
		else if (bytes[0] == 'c')
			count(bytes + 1, size - 1);
		else if (bytes[0] == 's')
			make_calls(bytes + 1, size - 1);
	}
	free(text);
	return 0;
}
