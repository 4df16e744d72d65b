/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that translated code lives in, and what is known about it.
 *
 * The cache has up to SHADOW_PLACES zones. Each zone is mapped once in hpcprof (to write) and once
 * in every shadow, near the code that it translates. All zones are in one memfd, or in several if a
 * limit of the size of files requires it:
 *
 *	[ code, --x in the shadow                     | constants, r-- | data, rw-            ]
 *	[ blocks ... | stubs, chains ... | logged ... | copies ... | words, tables | spills | branches ... |
 *	                                              counters ... | in the first zone: the path's log ]
 *
 * Each part ends with a page that is not mapped in the shadow. Data that the shadow can write never
 * decides where control goes: the targets are in code and constants. Spills hold only the values of
 * the program's registers. A counter or a log of branches (x86_expect.h) that the program has
 * overwritten falsifies only the program's own profile.
 *
 * Code addresses the data of its own zone relative to the instruction pointer, so it needs no fixed
 * or low address, no register, and not the stack. When one zone is full, the window ends, and the
 * whole cache is emptied before the next one.
 */
#ifndef SHADOW_TRANSLATE_CODE_CACHE_H
#define SHADOW_TRANSLATE_CODE_CACHE_H

#include "path_log.h"
#include "place.h"
#include "table.h"
#include "x86_emit.h"
#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/vector.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name of the memory, as shown in the shadow's /proc/PID/maps */
#define CODE_CACHE_NAME "hpcprof-shadow"

enum {
	CODE_CACHE_FILES = 64,
	CODE_LINK_BYTES = 5, /* size of the jump that arming writes over a block */
	CODE_GUARD_BYTES = 4096,
	CODE_PAGE_BYTES = 4096, /* page size of the program's memory */
	/* The log of branches to expected targets (x86_expect.h): 2048 between two stops. More
	 * makes the copy leave the cache, as without the log. */
	CODE_EXPECTED_LOG_BYTES = 32768,
	CODE_NO_NUMBER = UINT32_MAX,
};

/* Words at the start of a zone's data, in which code saves registers and keeps its log of branches. */
enum code_spill {
	CODE_SPILL_SCRATCH, /* while an operand or a counter uses a register */
	CODE_SPILL_R11,	    /* for r11, which holds the target of an indirect branch */
	CODE_SPILL_RCX,
	CODE_SPILL_RDX,
	CODE_SPILL_CHECK_RAX, /* while a state is compared */
	CODE_SPILL_CHECK_RCX,
	CODE_EXPECTED_SITE, /* the branch that looks for its target */
	CODE_EXPECTED_NEXT, /* where the next entry of the log goes */
	CODE_EXPECTED_ROOM, /* entries that the log still has room for */
	CODE_SPILLS,
};

/* An entry of a zone's log: a branch (index of a site), and the address that it went to. */
struct code_went {
	uint64_t address;
	uint64_t site;
};
enum { CODE_EXPECTED_ENTRIES = CODE_EXPECTED_LOG_BYTES / sizeof(struct code_went) };

struct code_zone {
	uint64_t address; /* in the shadow */
	uint64_t constants_address;
	uint64_t data_address;
	uint8_t *code; /* in hpcprof, as the following ones */
	uint8_t *constants;
	uint8_t *data;
	struct x86_emitter blocks, side, copies;
	/* code of blocks that log: see path_log.h; without room if none do */
	struct x86_emitter logged;
	uint8_t *copies_start;
	/* Expected targets of indirect branches (x86_expect.h): the table in hpcprof, NULL: none; the
	 * code that looks into it; and for each of cache->expected the way to that block. */
	uint64_t *expected;
	const uint8_t *look_up;
	HP_VECTOR(const uint8_t *) landings;
	uint32_t counter_count, constant_count;
};

/* Where in a block counting costs least, and how. */
struct x86_count_place {
	size_t before; /* index of the instruction before which it is counted */
	enum { X86_COUNT_FLAGS_DEAD, X86_COUNT_REGISTER_DEAD, X86_COUNT_SPILLING } how;
	unsigned scratch; /* for X86_COUNT_REGISTER_DEAD */
};

/*
 * A block that is reached only by falling through from the previous one in `blocks` has no counter:
 * it runs as often as that block falls through. Its code has room for counting, which begins when
 * another way to it is made (x86_count_from_now).
 */
struct code_block {
	uint64_t address;
	uint64_t last;	   /* address of its last instruction */
	uint64_t next;	   /* address after it */
	uint64_t target;   /* of a direct branch */
	uint8_t *code;	   /* in hpcprof */
	uint8_t *tail;	   /* where its branch, or what replaces it, begins */
	uint8_t *count_at; /* the code that counts it, or the room for that code */
	struct x86_count_place count_place;
	/* value of `count_starts` when counting began; 0: from the start; CODE_NO_NUMBER: not
	 * yet */
	uint32_t counted_since;
	uint32_t instructions;
	uint32_t counter; /* none if it ends with an indirect branch: the targets have counters */
	uint32_t branch_counter; /* of a conditional branch: counter of the side that is counted */
	uint32_t site;		 /* index of an indirect branch */
	uint32_t next_on_page;	 /* the previous block that starts on the same page */
	/* enum x86_kind of its last instruction; X86_PLAIN: the block was cut */
	uint8_t kind;
	uint8_t zone;
	bool counts_fall; /* branch_counter counts the branch not taken */
	bool is_armed;
	bool is_diverted; /* its first bytes are a jump: it is armed, or diverted to `logged` */
	bool is_gone;	  /* the code that it was made from is not at this address any more */
	bool is_expected; /* as the target of indirect branches: it is in `expected` of the cache */
	uint8_t plain[CODE_LINK_BYTES]; /* the bytes that the jump replaces */
	uint8_t *logged;		/* in hpcprof; NULL: it does not log */
	uint8_t *logged_count_at;	/* like `count_at` */
};

/* How control leaves translated code: by kind of the exit whose number follows the trap. */
enum code_exit_kind {
	CODE_EXIT_LINK,	       /* a direct branch to `address`, which is not translated yet */
	CODE_EXIT_SITE,	       /* an indirect branch to a new target, which is in r11 */
	CODE_EXIT_SYSTEM_CALL, /* a system call at `address` */
	CODE_EXIT_END,	       /* the window ends at `address`, because of `end` */
};

struct code_exit {
	uint64_t address;
	uint8_t *displacement; /* LINK: of the jump to be changed */
	uint32_t number;       /* SITE: index of the site; CODE_NO_NUMBER: see x86_expect_site */
	uint8_t kind;	       /* enum code_exit_kind */
	uint8_t end;	       /* enum hp_window_end */
	uint8_t zone;
};

/* An indirect branch, and its targets so far. */
struct code_target {
	uint64_t address;
	/* the constant that its chain subtracts; NULL: computed from the previous target's */
	uint8_t *negated;
	uint32_t block;
	uint32_t counter;
	bool flags_matter; /* at the target */
};
struct code_site {
	HP_VECTOR(struct code_target) targets;
	uint8_t *displacement;	  /* of the jump into its chain */
	uint64_t *buckets;	  /* its table, in hpcprof; NULL while one chain suffices */
	const uint8_t *miss_stub; /* for targets that its chain does not have */
	uint8_t zone;
};

/* A constant that is an address, and the zone that it moves with, because it lies in that zone's
 * code or in the code that the zone translates. */
struct code_moving {
	uint64_t *word; /* in hpcprof */
	uint8_t zone;
};

struct code_cache {
	int files[CODE_CACHE_FILES]; /* each of file_bytes; the last one has the rest */
	size_t file_count;
	uint64_t file_bytes;
	uint64_t zone_bytes;
	/* sizes of its parts, including an unmapped page */
	uint64_t code_bytes, constants_bytes, data_bytes;
	struct code_zone zones[SHADOW_PLACES];
	size_t zone_count; /* 0: not placed yet */
	HP_VECTOR(struct code_block) blocks;
	HP_VECTOR(struct code_exit) exits;
	HP_VECTOR(struct code_site) sites;
	HP_VECTOR(uint32_t) expected; /* blocks that indirect branches may go to */
	HP_VECTOR(uint32_t) pending;  /* LINK exits whose targets may have been translated since */
	HP_VECTOR(struct code_moving) moving;
	struct shadow_table by_address, by_page;
	/* Plans of blocks that log, by number, PATH_MOST_BLOCKS of them; NULL: no block logs. A
	 * plan does not change while a copy runs, and other threads may read those of blocks that
	 * have run. */
	struct path_plan **plans;
	bool is_logging;
	bool is_log_full;      /* some blocks do not log, for lack of room */
	uint32_t count_starts; /* number of blocks that were not counted at first, and are now */
	uint64_t forgotten;    /* how often everything was forgotten */
};

/* Allocates `bytes` in all. `logs`: blocks may log. */
struct hp_error *code_cache_create(struct code_cache *cache, uint64_t bytes, bool logs);
void code_cache_destroy(struct code_cache *cache);

/* Sets the zones' addresses in the following shadows, and forgets all translations. */
void code_cache_place(struct code_cache *cache, const uint64_t *places, size_t count);
void code_cache_forget(struct code_cache *cache);
void code_cache_zero_counters(struct code_cache *cache);
/*
 * Adapts to a shadow in which the program is laid out differently: code translated in zone `i` is
 * by[i] bytes further up, and the zone moves with it. Blocks whose code has gone elsewhere are not
 * found any more, and their memory is lost. The caller then moves indirect branches
 * (x86_sites_move). False: out of memory, and everything must be forgotten.
 */
bool code_cache_move(struct code_cache *cache, const uint64_t by[SHADOW_PLACES],
		     bool (*stays)(void *context, uint64_t address), void *context);

/* The zone within reach of `address`, or the first zone. */
uint8_t code_cache_zone_near(const struct code_cache *cache, uint64_t address);
/* The zone that contains this address of the shadow in its code, or NULL. */
struct code_zone *code_cache_zone_at(struct code_cache *cache, uint64_t address);

uint32_t code_cache_find(const struct code_cache *cache, uint64_t address);
/* CODE_NO_NUMBER: out of memory. */
uint32_t code_cache_add_block(struct code_cache *cache, const struct code_block *block);
uint32_t code_cache_add_exit(struct code_cache *cache, const struct code_exit *exit);

/* Allocates a counter, or a constant word: `value`, an address that moves with the zone `with`.
 * When the data are full, sets `blocks.is_full`. */
uint32_t code_zone_counter(const struct code_cache *cache, struct code_zone *zone);
uint64_t code_zone_constant(struct code_cache *cache, struct code_zone *zone, uint64_t value,
			    uint8_t with);
/* Allocates a table of `count` constant words. Returns its address in hpcprof, and sets `*address`
 * to that in the shadow. */
uint64_t *code_zone_table(const struct code_cache *cache, struct code_zone *zone, size_t count,
			  uint64_t *address);

/* Replaces the block's first bytes by a jump to `code`, or restores them (NULL). No thread is ever
 * in the middle of them. */
void code_block_divert(struct code_block *block, const uint8_t *code);
/* Diverts it to its checks; NULL: removes the diversion. */
void code_cache_arm(struct code_cache *cache, struct code_block *block, const uint8_t *checks);
/* Starts logging of the path into an empty log, or ends it. False: impossible. */
bool code_cache_log(struct code_cache *cache, bool is_logging);
/* The log: its head (enum path_log_word) in hpcprof, the number of words after it, and the
 * addresses of both in the shadow. */
uint64_t *code_log_head(const struct code_cache *cache);
enum { CODE_LOG_WORDS = (PATH_LOG_BYTES - PATH_LOG_HEAD_BYTES) / 8 };
uint64_t code_log_address(const struct code_cache *cache);
static inline const uint64_t *code_log_words(const struct code_cache *cache)
{
	return code_log_head(cache) + PATH_LOG_HEAD_BYTES / 8;
}
static inline uint64_t code_log_words_address(const struct code_cache *cache)
{
	return code_log_address(cache) + PATH_LOG_HEAD_BYTES;
}

bool code_zone_is_full(const struct code_zone *zone);
/* Whether a zone is full. */
bool code_cache_is_full(const struct code_cache *cache);

/* Addresses in the shadow. */
static inline uint64_t code_zone_address(const struct code_zone *zone, const uint8_t *code)
{
	return zone->address + (uint64_t)(code - zone->code);
}
static inline uint64_t code_spill_address(const struct code_zone *zone, enum code_spill spill)
{
	return zone->data_address + 8 * (uint64_t)spill;
}
uint64_t code_counter_address(const struct code_zone *zone, uint32_t counter);
/* The zone's log of branches, in hpcprof; and empties it. */
const struct code_went *code_zone_log(const struct code_zone *zone);
void code_zone_empty_log(struct code_zone *zone);
/* In hpcprof. */
uint64_t *code_spilled(const struct code_zone *zone, enum code_spill spill);
uint64_t *code_counters(const struct code_zone *zone);

#endif
