/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target with files open, its copy, and system calls of that copy. start() makes both; call() is
 * a system call of the copy, and answers() and ends() say what must come of it.
 */
#ifndef HPCPROF_TESTS_SHADOW_CALLS_H
#define HPCPROF_TESTS_SHADOW_CALLS_H

#include "../../src/shadow/syscalls/system_calls.h"
#include "../support.h"
#include "copied.h"

/* A target: a child that only runs, with a file open at a position, and memory to read into. */
struct stage {
	pid_t pid;
	char directory[32];
	char path[64]; /* of a file in it */
	char log[64];  /* of another */
	int reading;   /* descriptor numbers in the child */
	int writing;
	int only_writing;
	int pipe[2];
	int next; /* the number that the child's next one would have */
	uint64_t *memory;
	struct held_state state;
	struct copied copied;
	struct descriptors descriptors;
	struct shadow_calls calls;
};

extern struct stage stage;

/* For openat() and its like. */
#define FROM_HERE ((uint64_t)AT_FDCWD)

/* Ten bytes of the file, for the process that asks, until it ends. */
enum { LOCK_OF_THE_TARGET = 100, LOCK_OF_ANOTHER = 200, LOCK_BYTES = 10 };

/* The process that asks locks LOCK_BYTES of the file, until it ends. */
void lock(off_t at);
void await_lock(off_t at);
/* What changes next has another time stamp than all that has changed before. */
void await_tick(void);

void start(void);
struct hp_engine_call call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void answers(struct hp_engine_call call, int64_t wanted);
/* The window: since the call may wait for somebody else, or for another reason. */
void ends(struct hp_engine_call call, bool waits);
/* So many bytes of the file are these. */
void reads(int fd, uint64_t position, const char *wanted, size_t bytes);

/* The address of a word of the copy's memory, and what is in it. */
uint64_t at(size_t index);
void put(size_t index, const void *bytes, size_t size);
void put_name(size_t index, const char *name);
void read_back(size_t index, void *bytes, size_t size);

#endif
