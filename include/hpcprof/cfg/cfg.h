/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control-flow graph of one procedure, all its parts together, and what follows from its shape
 * alone: order, dominators, loops, and which blocks and edges run equally often.
 *
 * Nodes are numbered: blocks by address from 0, then `entry` and `exit`, which stand for the rest
 * of the world. Every node can be reached from `entry` and reaches `exit`; where the code does not
 * see to that (code that nothing known jumps to, infinite loops) an edge of kind ENTRY or ESCAPE
 * does.
 *
 * Everything lives in the arena that was passed in. A graph is read-only once made; making one is
 * for one thread a `struct hp_cfg_image`.
 */
#ifndef HPCPROF_CFG_CFG_H
#define HPCPROF_CFG_CFG_H

#include <hpcprof/base/arena.h>
#include <hpcprof/image/image.h>
#include <hpcprof/isa/insn.h>

#include <stdio.h>

enum hp_edge_kind {
	HP_EDGE_FALL,	 /* to what follows: a jump not taken, a call that came back */
	HP_EDGE_JUMP,	 /* a jump, or a conditional one taken */
	HP_EDGE_TABLE,	 /* through a jump table or a computed goto */
	HP_EDGE_LANDING, /* an exception, to its landing pad */
	HP_EDGE_ENTRY,	 /* from `entry` */
	HP_EDGE_EXIT,	 /* to `exit` */
	HP_EDGE_ESCAPE,	 /* to `exit` out of an infinite loop: never taken, for the algorithms */
};

enum hp_block_end {
	HP_END_FALL, /* the next block begins */
	HP_END_JUMP,
	HP_END_CONDITIONAL,
	HP_END_TABLE,	   /* indirect jump, its targets known */
	HP_END_UNRESOLVED, /* indirect jump, its targets not known */
	HP_END_TAIL_CALL,  /* jump out of the procedure */
	HP_END_RETURN,
	HP_END_CALL,	  /* a call that may come back elsewhere: landing pad, setjmp */
	HP_END_NO_RETURN, /* a call or system call that does not come back */
	HP_END_TRAP,
	HP_END_UNDECODABLE, /* what follows is no instruction */
	HP_END_OUT,	    /* runs into what is not this procedure */
};

#define HP_CFG_NONE UINT32_MAX

struct hp_edge {
	uint32_t from; /* nodes */
	uint32_t to;
	uint32_t class; /* which blocks and edges run equally often */
	uint8_t kind;	/* enum hp_edge_kind */
};

struct hp_block {
	hp_link_address address;
	uint32_t bytes;
	uint32_t instructions;
	uint32_t first_out; /* in hp_cfg.edges */
	uint32_t out_count;
	uint32_t first_in; /* in hp_cfg.in_edges */
	uint32_t in_count;
	uint32_t class;
	uint32_t dominator;	 /* immediate; HP_CFG_NONE for `entry` */
	uint32_t post_dominator; /* immediate; HP_CFG_NONE for `exit` */
	uint32_t loop;		 /* innermost that holds it, in hp_cfg.loops, or HP_CFG_NONE */
	uint32_t position;	 /* in hp_cfg.order */
	uint8_t end;		 /* enum hp_block_end */
	bool is_orphan;		 /* nothing known leads here */
};

struct hp_loop {
	uint32_t header;
	uint32_t parent;     /* loop, or HP_CFG_NONE */
	uint32_t depth;	     /* 1 for outermost */
	uint32_t first;	     /* its place, depth first: it and all in it are next to each other */
	uint32_t size;	     /* how many they are */
	bool is_irreducible; /* has other entries than its header */
};

struct hp_cfg {
	const struct hp_isa *isa;
	const struct hp_procedure *procedure;
	struct hp_block *blocks; /* one a node; the two virtual ones last */
	uint32_t block_count;	 /* without them */
	uint32_t node_count;
	uint32_t entry;
	uint32_t exit;
	struct hp_edge *edges; /* by (from, to) */
	uint32_t edge_count;
	uint32_t inner_edge_count; /* between blocks */
	uint32_t *in_edges;	   /* edge numbers, by (to, from) */
	uint32_t *order;	   /* nodes in reverse postorder from `entry` */
	struct hp_loop *loops;	   /* outer before inner */
	uint32_t loop_count;
	uint32_t class_count;
	uint32_t unresolved_jumps;
	bool missing_edges;	     /* an indirect jump resisted, or code could not be followed */
	bool is_undecodable;	     /* code that is reached holds bytes that are no instruction */
	hp_link_address undecodable; /* then: the first of them */
};

/* What the procedures of one image share. The image must outlive it. Fails with INSUFFICIENT when
 * the image's machine cannot be decoded. */
struct hp_cfg_image;
struct hp_error *hp_cfg_image_create(struct hp_image *image, struct hp_cfg_image **created);
void hp_cfg_image_destroy(struct hp_cfg_image *image);
HP_DEFINE_CLEANUP(struct hp_cfg_image, hp_cfg_image_destroy);

/* Where an indirect jump was seen to go. */
struct hp_known_jump {
	hp_link_address from; /* the jump */
	hp_link_address to;
};
/* Graphs made from now on have these edges, whatever else the code tells; jumps that only these are
 * known of may go elsewhere too. In any order; copied. */
struct hp_error *hp_cfg_image_know_jumps(struct hp_cfg_image *image,
					 const struct hp_known_jump *jumps, size_t count);

/* Procedures without a name that hold one of the addresses and are parts that the compiler moved
 * out of others get those as their owners (hp_image_join): before anything is made of the image.
 * Machines that cannot be decoded have none. */
struct hp_error *hp_cfg_join_cold_parts(struct hp_image *image, const hp_link_address *addresses,
					size_t count);

/* The graph of `procedure` and of all parts that it owns. INSUFFICIENT for procedures too large to
 * look at or without bytes in the file. */
struct hp_error *hp_cfg_create(struct hp_cfg_image *image, const struct hp_procedure *procedure,
			       struct hp_arena *arena, struct hp_cfg **created);

/* Whether a call to this address comes back, as far as code and names tell. */
bool hp_cfg_returns(struct hp_cfg_image *image, hp_link_address address);

/* An address that has samples. */
struct hp_excerpted {
	hp_link_address address;
	double weight; /* what has more is kept first */
};
struct hp_excerpt_options {
	bool no_code;		  /* map and lines only */
	uint64_t most_code_bytes; /* of procedures; those with the least weight have no code then */
	uint64_t most_line_ns;	  /* CPU time after which no further lines are looked up */
};
/*
 * An excerpt of the image's file, from which all that is said of the procedures that hold the
 * addresses comes out as from the file: their names and graphs, lines and text. Joins cold parts (see
 * above). Images without a file give an empty excerpt. The caller clears it.
 */
struct hp_error *hp_cfg_excerpt(struct hp_image *image, const struct hp_excerpted *addresses,
				size_t count, const struct hp_excerpt_options *options,
				struct hp_excerpt *excerpt);

/* The block that holds the address, or HP_CFG_NONE. */
uint32_t hp_cfg_block_at(const struct hp_cfg *cfg, hp_link_address address);

/* The edge from the block that holds one address to that which begins at the other, or
 * HP_CFG_NONE. */
uint32_t hp_cfg_edge_between(const struct hp_cfg *cfg, hp_link_address from, hp_link_address to);

/* The loop holds the node, or one that is in it does. */
bool hp_cfg_is_in_loop(const struct hp_cfg *cfg, uint32_t node, uint32_t loop);

const char *hp_edge_kind_name(enum hp_edge_kind kind);
const char *hp_block_end_name(enum hp_block_end end);

/* The graph as text, one block or edge a line, stable from build to build: for tests and people. */
void hp_cfg_dump(const struct hp_cfg *cfg, FILE *stream);

#endif
