/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of a kernel ring, decoded. No other code sees raw perf bytes.
 *
 * Every field is checked against the record's size. Strings stay inside the record and point into
 * the caller's bytes. Layouts follow perf_event_open(2) and <linux/perf_event.h> of Linux 6.1 to
 * 6.18.
 */
#ifndef HPCPROF_SAMPLE_RECORD_H
#define HPCPROF_SAMPLE_RECORD_H

#include <hpcprof/model/image_id.h>

enum hp_record_kind {
	HP_RECORD_SAMPLE,
	HP_RECORD_MMAP,
	HP_RECORD_COMM,
	HP_RECORD_FORK,
	HP_RECORD_EXIT,
	HP_RECORD_LOST,	    /* records that did not fit into the ring */
	HP_RECORD_THROTTLE, /* the kernel stopped an event until the next tick */
	HP_RECORD_OTHER,    /* not used, or of a kind added by a newer kernel */
};

/* Which optional fields the events of a ring were opened with; the same for all of them. TID and
 * TIME are always there. */
struct hp_record_layout {
	bool identifier; /* PERF_SAMPLE_IDENTIFIER: more than one event */
	bool period;	 /* PERF_SAMPLE_PERIOD: periods vary */
	bool callchain;	 /* PERF_SAMPLE_CALLCHAIN: the kernel's own call paths */
	/* PERF_SAMPLE_BRANCH_STACK, without the hardware's index: the branches before a sample. */
	bool branches;
	/* PERF_SAMPLE_REGS_USER: which, as the kernel numbers them; 0: not sampled. At most
	 * HP_RECORD_REGISTERS. */
	uint64_t registers;
	uint32_t stack_bytes; /* PERF_SAMPLE_STACK_USER: at most so many; 0: not sampled */
	/* Fields that perf may request; only the id and the CPU are used: PERF_SAMPLE_ADDR, ID,
	 * STREAM_ID, CPU, RAW. */
	bool data_address;
	bool event_id;
	bool stream;
	bool cpu;
	bool raw;
	/* Mappings have no build-ids, even if they say so: if one event asks for build-ids, Linux
	 * also marks the mappings of others (seen with 6.18). */
	bool no_build_ids;
};

enum { HP_RECORD_REGISTERS = 24, HP_RECORD_BRANCHES = 64, HP_RECORD_CHAIN = 160 };

/* One branch that was taken. */
struct hp_record_branch {
	uint64_t from; /* 0: not recorded */
	uint64_t to;
	uint16_t cycles; /* since the previous branch; 0 if the hardware does not record it */
};

struct hp_record_mmap {
	uint64_t start;
	uint64_t size;
	uint64_t file_offset;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;	     /* 0 when the kernel sent a build-id instead, or there is no file */
	uint64_t generation; /* distinguishes files that reused the inode; 0 unknown */
	struct hp_identity build_id; /* kind NONE when the kernel sent none */
	const char *path;
};

struct hp_record {
	enum hp_record_kind kind;
	uint8_t cpu_mode; /* PERF_RECORD_MISC_USER, _KERNEL, … */
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns; /* CLOCK_MONOTONIC; 0 in records without it */
	uint64_t id;	  /* the kernel's event id, 0 without layout.identifier and event_id */
	uint32_t cpu;	  /* 0 without layout.cpu */
	union {
		struct {
			uint64_t address;
			uint64_t period; /* 0 without layout.period */
			/* The path, innermost first: in the kernel, and in user code behind it,
			 * which begins at `chain_user`; the outermost are omitted if there are
			 * more. Of each part the first is an exact address, the others are return
			 * addresses. */
			unsigned chain_count;
			unsigned chain_user;
			uint64_t chain[HP_RECORD_CHAIN];
			/* The last branch first; the oldest are omitted if there are more. */
			unsigned branch_count;
			struct hp_record_branch branches[HP_RECORD_BRANCHES];
			/* Those of layout.registers, lowest number first; 0 when there are none: of
			 * a kernel thread, or a 32-bit program. */
			unsigned register_count;
			uint64_t registers[HP_RECORD_REGISTERS];
			/* From the stack pointer up; in the caller's bytes. */
			const uint8_t *stack;
			size_t stack_bytes;
		} sample;
		struct hp_record_mmap mmap;
		struct {
			const char *name;
			bool exec; /* by execve: the address space is new */
		} comm;
		struct {
			uint32_t parent_pid;
			uint32_t parent_tid;
		} fork;
		uint64_t lost;
	};
};

/* Only the time, for ordering; 0 if the record has none. `size` is that of its header, checked. */
uint64_t hp_record_time(const uint8_t *bytes, size_t size, struct hp_record_layout layout);

/* False if a field is outside the record: damaged. */
bool hp_record_parse(const uint8_t *bytes, size_t size, struct hp_record_layout layout,
		     struct hp_record *record);

#endif
