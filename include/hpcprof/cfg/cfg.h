/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control-flow graph of one procedure with all its parts, and its structure: order, dominators,
 * loops, and which blocks and edges are executed equally often.
 *
 * Nodes are numbered: blocks by address from 0, then `entry` and `exit`, which represent the rest
 * of the program. Every node is reachable from `entry` and reaches `exit`. If the code does not
 * ensure this (code without a known predecessor, infinite loops), an edge of kind ENTRY or ESCAPE
 * does.
 *
 * Everything lives in the given arena. A finished graph is read-only. Only one thread per `struct
 * hp_cfg_image` may make graphs.
 */
#ifndef HPCPROF_CFG_CFG_H
#define HPCPROF_CFG_CFG_H

#include <hpcprof/base/arena.h>
#include <hpcprof/image/image.h>
#include <hpcprof/isa/insn.h>

enum hp_edge_kind {
	HP_EDGE_FALL,	 /* to the next instruction: a jump not taken, a call that returned */
	HP_EDGE_JUMP,	 /* a jump, or a conditional one taken */
	HP_EDGE_TABLE,	 /* through a jump table or a computed goto */
	HP_EDGE_LANDING, /* an exception, to its landing pad */
	HP_EDGE_ENTRY,	 /* from `entry` */
	HP_EDGE_EXIT,	 /* to `exit` */
	/* to `exit` out of an infinite loop: never taken, only for the algorithms */
	HP_EDGE_ESCAPE,
};

enum hp_block_end {
	HP_END_FALL, /* the next block begins */
	HP_END_JUMP,
	HP_END_CONDITIONAL,
	HP_END_TABLE,	   /* indirect jump, its targets known */
	HP_END_UNRESOLVED, /* indirect jump, its targets not known */
	HP_END_TAIL_CALL,  /* jump out of the procedure */
	HP_END_RETURN,
	HP_END_CALL,	  /* a call that may return elsewhere: landing pad, setjmp */
	HP_END_NO_RETURN, /* a call or system call that does not return */
	HP_END_TRAP,
	HP_END_UNDECODABLE, /* the next bytes are not an instruction */
	HP_END_OUT,	    /* continues into code outside the procedure */
};

#define HP_CFG_NONE UINT32_MAX

struct hp_edge {
	uint32_t from; /* nodes */
	uint32_t to;
	uint32_t class; /* blocks and edges of one class are executed equally often */
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
	uint32_t loop;		 /* innermost loop, in hp_cfg.loops, or HP_CFG_NONE */
	uint32_t position;	 /* in hp_cfg.order */
	uint8_t end;		 /* enum hp_block_end */
	bool is_orphan;		 /* no known predecessor */
};

struct hp_loop {
	uint32_t header;
	uint32_t parent;     /* loop, or HP_CFG_NONE */
	uint32_t depth;	     /* 1 for outermost */
	uint32_t first;	     /* its depth-first position: a loop and all loops in it are adjacent */
	uint32_t size;	     /* their number */
	bool is_irreducible; /* has other entries than its header */
};

struct hp_cfg {
	const struct hp_isa *isa;
	const struct hp_procedure *procedure;
	struct hp_block *blocks; /* one per node; the two virtual ones last */
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
	uint32_t unresolved_jumps;   /* indirect jumps that could not be followed */
	hp_link_address unresolved;  /* the first of these */
	bool missing_edges;	     /* an indirect jump or other code could not be followed */
	bool is_undecodable;	     /* reachable code contains bytes that are not an instruction */
	hp_link_address undecodable; /* the first of these */
};

/* Data shared by the graphs of one image. The image must outlive it. INSUFFICIENT if the image's
 * machine cannot be decoded. */
struct hp_cfg_image;
struct hp_error *hp_cfg_image_create(struct hp_image *image, struct hp_cfg_image **created);
void hp_cfg_image_destroy(struct hp_cfg_image *image);
HP_DEFINE_CLEANUP(struct hp_cfg_image, hp_cfg_image_destroy);

/* An observed target of an indirect jump. */
struct hp_known_jump {
	hp_link_address from; /* the jump */
	hp_link_address to;
};
/* Graphs made after this call contain these edges, in addition to those found in the code. Jumps
 * with only observed targets may have others. In any order; copied. */
struct hp_error *hp_cfg_image_know_jumps(struct hp_cfg_image *image,
					 const struct hp_known_jump *jumps, size_t count);

/* Assigns unnamed procedures that contain one of the addresses, and that the compiler moved out of
 * other procedures, to these as their owners (hp_image_join). Call it before using the image.
 * Machines that cannot be decoded have none. */
struct hp_error *hp_cfg_join_cold_parts(struct hp_image *image, const hp_link_address *addresses,
					size_t count);

/* The graph of `procedure` and all parts that it owns. INSUFFICIENT for procedures that are too
 * large or have no bytes in the file. */
struct hp_error *hp_cfg_create(struct hp_cfg_image *image, const struct hp_procedure *procedure,
			       struct hp_arena *arena, struct hp_cfg **created);

/* Whether a call to this address returns, as far as code and names show. */
bool hp_cfg_returns(struct hp_cfg_image *image, hp_link_address address);

/* An address that has samples, or was counted, or is on call paths. */
struct hp_excerpted {
	hp_link_address address;
	double weight; /* larger weights are stored first */
	bool is_call;  /* on call paths only: its name and line are wanted, its code is not */
};
struct hp_excerpt_options {
	bool no_code; /* map and lines only */
	/* of procedures; the code of those with the smallest weights is omitted */
	uint64_t most_code_bytes;
	uint64_t most_line_ns; /* CPU time after which no further lines are looked up */
};
/*
 * An excerpt of the image's file that gives the same results as the file for the procedures that
 * contain the addresses: names, graphs, text, and lines, but for those of a file of the system's
 * (hp_image_has_build_id_file). Joins cold parts (see above). Images without a file give an empty
 * excerpt. The caller clears it.
 */
struct hp_error *hp_cfg_excerpt(struct hp_image *image, const struct hp_excerpted *addresses,
				size_t count, const struct hp_excerpt_options *options,
				struct hp_excerpt *excerpt);

/* The block that contains the address, or HP_CFG_NONE. */
uint32_t hp_cfg_block_at(const struct hp_cfg *cfg, hp_link_address address);

/* The edge from the block that contains `from` to the block that begins at `to`, or HP_CFG_NONE. */
uint32_t hp_cfg_edge_between(const struct hp_cfg *cfg, hp_link_address from, hp_link_address to);

/* Whether the loop, or a loop in it, contains the node. */
bool hp_cfg_is_in_loop(const struct hp_cfg *cfg, uint32_t node, uint32_t loop);

const char *hp_edge_kind_name(enum hp_edge_kind kind);

#endif
