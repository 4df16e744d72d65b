/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts CPU…: what LLVM's scheduling models say about every x86-64 instruction it knows, as lines
 *
 *	version TEXT
 *	unit CPU NUMBER NAME               one a port or other unit, numbered from 0
 *	bytes HEX                          an instruction; one fact a CPU follows
 *	fact CPU MICRO_OPS LATENCY ADVANCE MASK:CYCLES…
 *
 * LATENCY is to the slowest result from a memory operand's address; ADVANCE is how much later the
 * register operands are needed. MASK is a set of units, any one of which serves, for CYCLES.
 *
 * Each opcode is given operands by their register classes, encoded, and disassembled again, so that
 * facts belong to bytes that mean the instruction in 64-bit mode.
 */
#include "llvm/ADT/SmallVector.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
using namespace llvm;

enum { CONDITIONS = 16 };

struct cpu {
	std::string name;
	std::unique_ptr<MCSubtargetInfo> info;
	std::map<unsigned, uint64_t> masks; /* of a resource: its units */
};

static void list_units(cpu &one)
{
	const MCSchedModel &model = one.info->getSchedModel();
	unsigned next = 0;

	for (unsigned i = 1; i < model.NumProcResourceKinds; i++) {
		const MCProcResourceDesc *resource = model.getProcResource(i);

		if (resource->SubUnitsIdxBegin)
			continue;
		for (unsigned k = 0; k < resource->NumUnits; k++) {
			std::string name = resource->Name;

			if (resource->NumUnits > 1)
				name += "." + std::to_string(k);
			printf("unit %s %u %s\n", one.name.c_str(), next, name.c_str());
			one.masks[i] |= UINT64_C(1) << next++;
		}
	}
	for (unsigned i = 1; i < model.NumProcResourceKinds; i++) {
		const MCProcResourceDesc *resource = model.getProcResource(i);

		for (unsigned k = 0; resource->SubUnitsIdxBegin && k < resource->NumUnits; k++)
			one.masks[i] |= one.masks[resource->SubUnitsIdxBegin[k]];
	}
}

/* A group's cycles hold those of all its parts: what is left is its own. */
static std::map<uint64_t, int> own_cycles(const cpu &one, const MCSchedClassDesc &desc)
{
	const MCSchedModel &model = one.info->getSchedModel();
	struct use {
		unsigned resource;
		uint64_t mask;
		int cycles;
	};
	std::vector<use> uses;
	std::map<uint64_t, int> own;

	for (auto *w = one.info->getWriteProcResBegin(&desc); w != one.info->getWriteProcResEnd(&desc);
	     ++w)
		uses.push_back({ w->ProcResourceIdx, one.masks.at(w->ProcResourceIdx),
				 (int)w->ReleaseAtCycle - (int)w->AcquireAtCycle });
	std::stable_sort(uses.begin(), uses.end(), [](const use &a, const use &b) {
		return __builtin_popcountll(a.mask) < __builtin_popcountll(b.mask);
	});
	for (auto &outer : uses) {
		for (auto &inner : uses) {
			bool is_part = (inner.mask & ~outer.mask) == 0 && inner.mask != outer.mask;
			unsigned up = model.getProcResource(inner.resource)->SuperIdx;

			if (&inner != &outer && (is_part || up == outer.resource))
				outer.cycles -= inner.cycles;
		}
		if (outer.cycles > 0)
			own[outer.mask] += outer.cycles;
		else
			outer.cycles = 0;
	}
	return own;
}

static bool print_fact(const cpu &one, const MCInst &inst, const MCInstrInfo &instructions)
{
	const MCSchedModel &model = one.info->getSchedModel();
	unsigned sched = instructions.get(inst.getOpcode()).getSchedClass();
	const MCSchedClassDesc *desc = model.getSchedClassDesc(sched);
	int advance = 0;

	for (int depth = 0; desc->isVariant() && depth < 8; depth++) {
		sched = one.info->resolveVariantSchedClass(sched, &inst, &instructions,
							   model.getProcessorID());
		desc = model.getSchedClassDesc(sched);
	}
	if (!desc->isValid() || desc->isVariant())
		return false;
	for (auto &entry : one.info->getReadAdvanceEntries(*desc))
		advance = std::max(advance, (int)entry.Cycles);
	printf("fact %s %u %d %d", one.name.c_str(), desc->NumMicroOps,
	       MCSchedModel::computeInstrLatency(*one.info, *desc), advance);
	for (auto &use : own_cycles(one, *desc))
		printf(" %llx:%d", (unsigned long long)use.first, use.second);
	puts("");
	return true;
}

/* The high bytes do not go with every other register. */
static unsigned pick(const MCRegisterInfo &registers, const MCRegisterClass &set, unsigned wanted)
{
	std::vector<unsigned> usable;

	for (unsigned number : set) {
		StringRef name = registers.getName(number);

		if (name.size() != 2 || name[1] != 'H')
			usable.push_back(number);
	}
	return usable[std::min((size_t)wanted, usable.size() - 1)];
}

/* Operands by register class, different ones where that is free; [rsi] for memory. */
static MCInst make(unsigned opcode, const MCInstrDesc &desc, const MCRegisterInfo &registers,
		   unsigned rsi, int immediate)
{
	MCInst inst;
	unsigned part = 0;

	inst.setOpcode(opcode);
	for (unsigned i = 0; i < desc.getNumOperands(); i++) {
		const MCOperandInfo &operand = desc.operands()[i];
		int tied = desc.getOperandConstraint(i, MCOI::TIED_TO);

		if (operand.OperandType == MCOI::OPERAND_MEMORY) {
			bool is_vector = false;

			if (part == 2 && operand.RegClass >= 0)
				is_vector = StringRef(registers.getRegClassName(
							      &registers.getRegClass(operand.RegClass)))
						    .starts_with("VR");
			if (part == 0)
				inst.addOperand(MCOperand::createReg(rsi));
			else if (part == 1)
				inst.addOperand(MCOperand::createImm(1));
			else if (part == 2 && is_vector)
				inst.addOperand(MCOperand::createReg(
					registers.getRegClass(operand.RegClass).getRegister(5)));
			else if (part == 3)
				inst.addOperand(MCOperand::createImm(0));
			else
				inst.addOperand(MCOperand::createReg(0));
			part = (part + 1) % 5;
		} else if (tied >= 0) {
			inst.addOperand(inst.getOperand(tied));
		} else if (operand.RegClass >= 0) {
			const MCRegisterClass &set = registers.getRegClass(operand.RegClass);

			inst.addOperand(MCOperand::createReg(pick(registers, set, i + 1)));
		} else {
			inst.addOperand(MCOperand::createImm(immediate));
		}
	}
	return inst;
}

int main(int count, char **names)
{
	const char *triple = "x86_64-linux-gnu";
	std::string error;

	InitializeAllTargetInfos();
	InitializeAllTargetMCs();
	InitializeAllDisassemblers();
	const Target *target = TargetRegistry::lookupTarget(triple, error);
	if (!target) {
		fprintf(stderr, "%s\n", error.c_str());
		return 1;
	}
	std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
	std::unique_ptr<MCAsmInfo> assembly(
		target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
	std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
	std::unique_ptr<MCSubtargetInfo> any(
		target->createMCSubtargetInfo(triple, "sapphirerapids", ""));
	MCContext context(Triple(triple), assembly.get(), registers.get(), any.get());
	std::unique_ptr<MCCodeEmitter> emitter(target->createMCCodeEmitter(*instructions, context));
	std::unique_ptr<MCDisassembler> disassembler(target->createMCDisassembler(*any, context));
	std::vector<cpu> cpus;
	std::set<std::string> seen;
	unsigned rsi = 0;

	for (unsigned i = 1; i < registers->getNumRegs(); i++)
		if (StringRef(registers->getName(i)) == "RSI")
			rsi = i;
	printf("version LLVM %s\n", LLVM_VERSION_STRING);
	for (int i = 1; i < count; i++) {
		cpus.push_back({ names[i],
				 std::unique_ptr<MCSubtargetInfo>(
					 target->createMCSubtargetInfo(triple, names[i], "")),
				 {} });
		list_units(cpus.back());
	}
	/* The encoder trusts its operands, and some opcodes take others than their classes tell: it
	 * works in a child, which begins anew after the opcode that killed the one before. */
	auto *next = (volatile unsigned *)mmap(NULL, sizeof(unsigned), PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned end = instructions->getNumOpcodes();

	fflush(stdout);
	while (*next < end * CONDITIONS && fork() != 0)
		wait(NULL);
	while (*next < end * CONDITIONS) {
		unsigned opcode = *next / CONDITIONS;
		unsigned condition = (*next)++ % CONDITIONS;
		const MCInstrDesc &desc = instructions->get(opcode);
		StringRef name = instructions->getName(opcode);
		bool has_condition = name.starts_with("CMOV") || name.starts_with("SETCC") ||
				     name.starts_with("JCC");
		SmallVector<char, 32> bytes;
		SmallVector<MCFixup, 4> fixups;
		std::string hex;
		MCInst read;
		uint64_t size;

		/* Conditions are mnemonics to everyone else. */
		if (desc.isPseudo() || (!has_condition && condition != 3))
			continue;
		emitter->encodeInstruction(
			make(opcode, desc, *registers, rsi, (int)condition), bytes, fixups, *any);
		ArrayRef<uint8_t> code((const uint8_t *)bytes.data(), bytes.size());
		if (disassembler->getInstruction(read, size, code, 0, nulls()) !=
			    MCDisassembler::Success ||
		    size != code.size())
			continue;
		for (uint8_t byte : code) {
			char text[3];

			snprintf(text, sizeof(text), "%02x", byte);
			hex += text;
		}
		if (!seen.insert(hex).second)
			continue;
		printf("bytes %s\n", hex.c_str());
		for (auto &one : cpus)
			print_fact(one, read, *instructions);
		fflush(stdout);
	}
	return 0;
}
