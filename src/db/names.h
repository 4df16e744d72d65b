/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in the database: stamps of epochs, labels, files of an epoch.
 */
#ifndef HPCPROF_SRC_DB_NAMES_H
#define HPCPROF_SRC_DB_NAMES_H

#include <hpcprof/base/error.h>
#include <hpcprof/model/image_id.h>

#define HP_META_NAME	 "meta"
#define HP_INDEX_NAME	 "images"
#define HP_EVIDENCE_NAME "evidence"
#define HP_PATHS_NAME	 "paths"
#define HP_LOCK_NAME	 "lock"

/* "YYYYMMDDTHHMMSSZ-N" and a NUL; N has at most 9 digits */
enum { HP_STAMP_BYTES = 32, HP_STAMP_MAX_NUMBER = 999999999 };

bool hp_stamp_is_valid(const char *text);
/* Compares by age, the oldest first. Both stamps must be valid. */
int hp_stamp_compare(const char *a, const char *b);
void hp_stamp_format(uint64_t time_ns, unsigned number, char *text);
/* The time of a valid stamp, in nanoseconds of CLOCK_REALTIME, to the second. */
uint64_t hp_stamp_time_ns(const char *stamp);

/* Labels are 1 to 64 bytes of UTF-8 without blanks and controls; they hold no "..", do not start
 * with '@' or '-', and do not look like (the beginning of) a stamp with its 'T'. */
struct hp_error *hp_label_check(const char *label);

/* A hash of the image's identity. */
uint64_t hp_image_hash(const struct hp_image_id *image);

/* File names: a readable part, then a hash of the exact key. malloc'ed; NULL: out of memory. */
char *hp_profile_name(const struct hp_image_id *image, const char *event);
char *hp_symbols_name(const struct hp_image_id *image);
char *hp_excerpt_name(const struct hp_image_id *image);
char *hp_bytes_name(const struct hp_image_id *image);

bool hp_name_has_suffix(const char *name, const char *suffix);

#endif
