/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that translated code lives in, and what is known about it.
 *
 * The cache has up to SHADOW_PLACES zones. Each zone is mapped once in hpcprof (to write) and once
 * in every shadow, near the code that it translates. All zones are in one memfd, or in several if a
 * limit of the size of files requires it:
 *
 *	[ code, --x in the shadow                     | constants, r-- | data, rw-            ]
 *	[ blocks ... | stubs, chains ... | logged ... | copies ... | words, tables | spills | counters ...
 *	                                                                  in the first zone: | log ]
 *
 * Each part ends with a page that is not mapped in the shadow. Data that the shadow can write never
 * decides where control goes: the targets are in code and constants. Spills hold only the values of
 * the program's registers, and a counter that the program has overwritten falsifies only the
 * program's own profile.
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

#define CODE_CACHE_NAME "hpcprof-shadow" /* of the memory, in the shadow's maps */

enum {
	CODE_CACHE_FILES = 64,
	CODE_LINK_BYTES = 5, /* a jump: what arming a block writes over */
	CODE_GUARD_BYTES = 4096,
	CODE_PAGE_BYTES = 4096, /* of the program's memory */
	CODE_NO_NUMBER = UINT32_MAX,
};

/* Words at the start of a zone's data where code saves a register for a moment. */
enum code_spill {
	CODE_SPILL_SCRATCH, /* while an operand or a counter needs a register */
	CODE_SPILL_R11,	    /* on the way through an indirect branch, r11 being its target */
	CODE_SPILL_RCX,
	CODE_SPILL_RDX,
	CODE_SPILL_CHECK_RAX, /* while a state is compared */
	CODE_SPILL_CHECK_RCX,
	CODE_SPILLS,
};

struct code_zone {
	uint64_t address; /* in the shadow */
	uint64_t constants_address;
	uint64_t data_address;
	uint8_t *code; /* here, and the others */
	uint8_t *constants;
	uint8_t *data;
	struct x86_emitter blocks, side, copies;
	struct x86_emitter logged; /* blocks that log, see path_log.h; without room if none do */
	uint8_t *copies_start;
	uint32_t counter_count, constant_count;
};

/* Where a count belongs in a block, and how it can be done there. */
struct x86_count_place {
	size_t before; /* the index of an instruction */
	enum { X86_COUNT_FLAGS_DEAD, X86_COUNT_REGISTER_DEAD, X86_COUNT_SPILLING } how;
	unsigned scratch; /* REGISTER_DEAD */
};

/*
 * A block that is only reached from the one before it in `blocks`, whose code goes on into it, is
 * not counted: it runs as often as that one goes on. Its code has room for counting, which begins
 * when another way to it is made (x86_count_from_now).
 */
struct code_block {
	uint64_t address;
	uint64_t last;	   /* address of its last instruction */
	uint64_t next;	   /* … and behind it */
	uint64_t target;   /* of a direct branch */
	uint8_t *code;	   /* here */
	uint8_t *tail;	   /* where its branch, or what stands for it, starts */
	uint8_t *count_at; /* the code that counts it, or the room for that */
	struct x86_count_place count_place;
	uint32_t counted_since; /* `count_starts` then; 0 from the start, CODE_NO_NUMBER not yet */
	uint32_t instructions;
	uint32_t counter; /* none where it ends with an indirect branch: its targets have them */
	uint32_t branch_counter; /* of a conditional: of the side that is counted */
	uint32_t site;		 /* of an indirect branch */
	uint32_t next_on_page;	 /* the block before it that starts on the same page */
	uint8_t kind;		 /* enum x86_kind: of its last instruction; X86_PLAIN: it was cut */
	uint8_t zone;
	bool counts_fall; /* branch_counter is of the branch not taken */
	bool is_armed;
	bool is_diverted; /* its first bytes are a jump: it is armed, or goes to `logged` */
	bool is_gone;	  /* what it was made from is not where it would have to be */
	uint8_t plain[CODE_LINK_BYTES]; /* what that jump wrote over */
	uint8_t *logged;		/* here; NULL: it does not log */
	uint8_t *logged_count_at;	/* as `count_at` */
};

/* Where control comes out of translated code: the number behind the trap. */
enum code_exit_kind {
	CODE_EXIT_LINK,	       /* a direct branch to `address`, which has no code yet */
	CODE_EXIT_SITE,	       /* an indirect branch to where it has not gone yet: in r11 */
	CODE_EXIT_SYSTEM_CALL, /* at `address` */
	CODE_EXIT_END,	       /* at `address`, because of `end` */
};

struct code_exit {
	uint64_t address;
	uint8_t *displacement; /* LINK: of the jump to change */
	uint32_t number;       /* SITE: of the site */
	uint8_t kind;	       /* enum code_exit_kind */
	uint8_t end;	       /* enum hp_window_end */
	uint8_t zone;
};

/* An indirect branch, and where it has gone. */
struct code_target {
	uint64_t address;
	uint8_t *negated; /* in its chain: less the address; NULL: told by the target before it */
	uint32_t block;
	uint32_t counter;
	bool flags_matter; /* there */
};
struct code_site {
	HP_VECTOR(struct code_target) targets;
	uint8_t *displacement; /* of the jump into its chain */
	uint64_t *buckets;     /* of its table, here; NULL while a chain will do */
	uint8_t *miss_stub;    /* out of the cache */
	uint8_t zone;
};

/* A constant that is an address, and the zone that it moves with: it is of what that translates, or
 * of its code. */
struct code_moving {
	uint64_t *word; /* here */
	uint8_t zone;
};

struct code_cache {
	int files[CODE_CACHE_FILES]; /* of file_bytes, the last of the rest */
	size_t file_count;
	uint64_t file_bytes;
	uint64_t zone_bytes;
	/* Of its parts, with the page that is not mapped. */
	uint64_t code_bytes, constants_bytes, data_bytes;
	struct code_zone zones[SHADOW_PLACES];
	size_t zone_count; /* 0: not placed */
	HP_VECTOR(struct code_block) blocks;
	HP_VECTOR(struct code_exit) exits;
	HP_VECTOR(struct code_site) sites;
	HP_VECTOR(uint32_t) pending; /* LINK exits whose target may have been translated since */
	HP_VECTOR(struct code_moving) moving;
	struct shadow_table by_address, by_page;
	/* Of blocks that log, by number, PATH_MOST_BLOCKS of them; NULL: none do. A plan stays the
	 * same while a copy runs, and other threads may read those of blocks that have run. */
	struct path_plan **plans;
	bool is_logging;
	bool is_log_full;      /* blocks were made that do not log */
	uint32_t count_starts; /* blocks that were not counted at first, and are now */
	uint64_t forgotten;    /* times */
};

/* Takes memory for `bytes` in all; `logs`: blocks can log. */
struct hp_error *code_cache_create(struct code_cache *cache, uint64_t bytes, bool logs);
void code_cache_destroy(struct code_cache *cache);

/* Where the zones are in the shadows from now on; forgets what was there. */
void code_cache_place(struct code_cache *cache, const uint64_t *places, size_t count);
void code_cache_forget(struct code_cache *cache);
void code_cache_zero_counters(struct code_cache *cache);
/*
 * The program is laid out differently in the next shadow: what zone `i` translates is by[i] further
 * up, and the zone goes with it. Blocks whose address until now does not stay are gone: nobody
 * finds them any more, and their memory is wasted. The caller then moves indirect branches
 * (x86_sites_move). False: out of memory, and everything is to be forgotten.
 */
bool code_cache_move(struct code_cache *cache, const uint64_t by[SHADOW_PLACES],
		     bool (*stays)(void *context, uint64_t address), void *context);

/* The zone that reaches `address`, or the first. */
uint8_t code_cache_zone_near(const struct code_cache *cache, uint64_t address);
/* The zone whose code has this address of the shadow, or NULL. */
struct code_zone *code_cache_zone_at(struct code_cache *cache, uint64_t address);

uint32_t code_cache_find(const struct code_cache *cache, uint64_t address);
/* CODE_NO_NUMBER when memory is short. */
uint32_t code_cache_add_block(struct code_cache *cache, const struct code_block *block);
uint32_t code_cache_add_exit(struct code_cache *cache, const struct code_exit *exit);

/* A fresh counter, or a word that stays `value`, an address that moves with the zone `with`. When
 * the data are full, `blocks.is_full`. */
uint32_t code_zone_counter(const struct code_cache *cache, struct code_zone *zone);
uint64_t code_zone_constant(struct code_cache *cache, struct code_zone *zone, uint64_t value,
			    uint8_t with);
/* `count` words of constants, as a table: here, and (in `*address`) in the shadow. */
uint64_t *code_zone_table(const struct code_cache *cache, struct code_zone *zone, size_t count,
			  uint64_t *address);

/* The block's first bytes give way to a jump to `code`; nobody is ever in the midst of them. NULL:
 * they are as they were. */
void code_block_divert(struct code_block *block, const uint8_t *code);
/* It goes to its checks (NULL: not any more). */
void code_cache_arm(struct code_cache *cache, struct code_block *block, const uint8_t *checks);
/* The path is logged from now on (into an empty log), or not any more. False: it cannot be. */
bool code_cache_log(struct code_cache *cache, bool is_logging);
/* The log: its head (enum path_log_word) here, how many words there is room for behind it, and
 * where head and words are in the shadow. */
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
/* One of its zones is. */
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
/* Here. */
uint64_t *code_spilled(const struct code_zone *zone, enum code_spill spill);
uint64_t *code_counters(const struct code_zone *zone);

#endif
