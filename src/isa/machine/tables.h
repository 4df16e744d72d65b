/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that scripts/machine-tables generates: forms of instructions, each in one class; and
 * for each class a row per core. Forms are sorted by (mnemonic, shape). The last form of a
 * mnemonic has the shape ANY, for all shapes without a form of their own.
 */
#ifndef HPCPROF_ISA_MACHINE_TABLES_H
#define HPCPROF_ISA_MACHINE_TABLES_H

#include <hpcprof/isa/machine.h>

enum table_column {
	TABLE_SKYLAKE,
	TABLE_ICE_LAKE,
	TABLE_SAPPHIRE_RAPIDS,
	TABLE_GRANITE_RAPIDS,
	TABLE_ZEN_2,
	TABLE_ZEN_3,
	TABLE_ZEN_4,
	TABLE_ZEN_5,
	TABLE_COUNT,
};

#define SHAPE_ANY 0xffff

struct table_form {
	uint16_t mnemonic;
	uint16_t shape;
	uint16_t class;
};

struct table_row {
	uint16_t latency;
	uint8_t micro_ops; /* 0: this core has no such instruction */
	uint8_t late;
	struct hp_unit_use uses[HP_CORE_USES]; /* up to the first without cycles */
};

extern const struct table_form table_forms[];
extern const size_t table_form_count;
extern const uint16_t table_classes[][TABLE_COUNT]; /* row of each core */
extern const struct table_row *const table_rows[TABLE_COUNT];
extern const char *const table_units[TABLE_COUNT][HP_CORE_UNITS];

#endif
