# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile as hpcprof report prints it, on the graphs that hpcprof makes, with the truth beside it.

Blocks and edges are known by addresses, not by numbers, so that graphs and reports of different
runs of hpcprof go together. Truth is in executions of all recorded runs together.
"""
import json
import os
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field

from workloads import Failure

# Other code may run here than under the emulator, which hides what the processor can do.
CHOSEN_AT_RUN_TIME = re.compile(r'^(libc|libm|libmvec|ld-linux[^/]*|libcrypto|libpthread)[.-]')


@dataclass
class Estimate:
    value: float             # None: no estimate
    low: float = None
    high: float = None
    confidence: str = 'none'
    absolute: float = None   # executions in the whole epoch, where the data can tell
    absolute_low: float = None
    absolute_high: float = None


@dataclass
class Block:
    number: int
    address: int
    count: int               # instructions
    group: int               # cycle equivalence class
    end: str
    instructions: list = field(default_factory=list)    # (address, samples, text)
    samples: int = 0
    best_case: float = None
    truth: int = None        # None: not to be had


@dataclass
class Edge:
    source: int              # block numbers; None is the way in, or out
    target: int
    kind: str
    group: int
    truth: int = None


@dataclass
class Procedure:
    image: str
    name: str
    address: int
    samples: int
    whole: bool = True       # the graph misses no edges
    blocks: list = field(default_factory=list)
    edges: list = field(default_factory=list)
    unplaced: int = 0        # samples in no block
    executed: bool = False   # the truth saw it

    @property
    def key(self):
        return self.image, self.address


@dataclass
class Profile:
    procedures: list
    total: int               # samples, of everything
    left_out: dict           # samples by why: what cannot be compared with the truth


@dataclass
class Report:
    """What one estimator says: by procedure, then by address, or by pair of addresses."""
    blocks: dict
    edges: dict


def _compact(thing):
    """Instructions are many; of each only this is of interest."""
    if 'bytes' not in thing or thing['address'] is None:
        return thing
    executions = thing['executions']
    return (int(thing['address'], 16), thing['block'], thing['samples'][0], thing['text'],
            thing['cycles']['best_case'], executions)


def load(hpcprof, database, *options):
    """The report of all instructions of all procedures that have samples."""
    command = [hpcprof, 'report', '--db', str(database), '--instructions=*', '--format=json',
               '--no-debuginfo', *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failure(f'{" ".join(command)}: {done.stderr.decode(errors="replace").strip()}')
    return json.loads(done.stdout, object_hook=_compact)


def instructions_of(hpcprof, database):
    """Executed in procedures, by their keys: figures, of those that have one."""
    done = subprocess.run([hpcprof, 'report', '--db', str(database), '--executions',
                           '--format=json', '--no-debuginfo'], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failure(f'report --executions: {done.stderr.decode(errors="replace").strip()}')
    return {(row['image'], int(row['address'], 16)): row['instructions']
            for row in json.loads(done.stdout)['procedures']
            if row['instructions']['estimate']}


def summary_of(hpcprof, database):
    done = subprocess.run([hpcprof, 'report', '--db', str(database), '--summary', '--format=json',
                           '--no-debuginfo'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)


def cpu_seconds(summary):
    """Of what was recorded, and of all it started."""
    return sum(run['user_s'] + run['system_s'] for recording in summary['recordings']
               for run in recording['runs'])


def _estimate(executions):
    def relative(key):
        # Where the absolute scale is known, the interval may be given on it alone.
        if executions.get(f'relative_{key}') is not None:
            return executions[f'relative_{key}']
        if not executions.get('estimate') or executions.get(key) is None:
            return None
        return executions['relative'] * executions[key] / executions['estimate']

    if executions.get('relative') is None:
        return Estimate(None, absolute=executions.get('estimate'))
    return Estimate(executions['relative'], relative('low'), relative('high'),
                    executions.get('confidence') or 'none', executions.get('estimate'),
                    executions.get('low'), executions.get('high'))


def estimates_of(document):
    blocks, edges = {}, {}
    for image in document['images']:
        for procedure in image['procedures']:
            if procedure['address'] is None:
                continue
            key = image['path'], int(procedure['address'], 16)
            first = {}
            of_block = blocks.setdefault(key, {})
            for address, block, _, _, _, executions in procedure['instructions']:
                if block is not None and block not in first:
                    first[block] = address
                    of_block[address] = _estimate(executions)
            listed = (procedure.get('cfg') or {}).get('edge_list')
            if listed is None:
                continue
            of_edge = edges.setdefault(key, {})
            for edge in listed:
                if edge['from'] in first and edge['to'] in first:
                    of_edge[first[edge['from']], first[edge['to']]] = _estimate(edge)
    return Report(blocks, edges)


# --- graphs ---------------------------------------------------------------------------------------


def parse_graphs(lines):
    """What `show_cfg IMAGE graphs` prints: (whole, blocks, edges) by the procedure's address."""
    graphs = {}
    for line in lines:
        word = line.split()
        if word[0] == 'procedure':
            blocks, edges = [], []
            graphs[int(word[1], 16)] = word[2] == 'whole', blocks, edges
        elif word[0] == 'block':
            blocks.append(Block(int(word[1]), int(word[2], 16), int(word[3]), int(word[4]),
                                ' '.join(word[5:])))
        elif word[0] == 'edge':
            source = None if word[1] == 'entry' else int(word[1])
            target = None if word[2] == 'exit' else int(word[2])
            edges.append(Edge(source, target, word[3], int(word[4])))
    return graphs


def graphs_of(show_cfg, image, addresses):
    done = subprocess.run([show_cfg, image, 'graphs'], stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL, text=True,
                          input=''.join(f'{address:x}\n' for address in addresses))
    return parse_graphs(done.stdout.splitlines())


# --- all together ---------------------------------------------------------------------------------


def place_instructions(procedure, listed):
    """Those of the report, and their samples, into the graph's blocks."""
    by_address = {block.address: block for block in procedure.blocks}
    block = None
    number = None
    for address, of_block, samples, text, best_case, _ in sorted(listed, key=lambda row: row[0]):
        if of_block is None:
            procedure.unplaced += samples
            continue
        if of_block != number or address in by_address:
            block = by_address.get(address)
            number = of_block
        if not block:
            procedure.unplaced += samples
            continue
        block.instructions.append((address, samples, text))
        block.samples += samples
        if best_case is not None:
            block.best_case = (block.best_case or 0) + best_case


def set_block_truth(procedure, truth, runs):
    """Of an instruction that repeats itself each round was counted, so others tell."""
    for block in procedure.blocks:
        counts = [truth.executed.get(address, 0) for address, _, text in block.instructions
                  if not text.startswith('rep')]
        if counts:
            block.truth = counts[0] * runs
            procedure.executed |= counts[0] > 0


def jumps_of(truth, runs):
    """{source: {target: how often}}"""
    jumps = defaultdict(dict)
    for (source, target), count in truth.jumped.items():
        jumps[source][target] = count * runs
    return jumps


def set_edge_truth(procedure, jumps):
    """From the jumps that were seen; going straight on is what is left. What they cannot tell, such
    as where an exception went, follows from the flow where all else is known."""
    outs, ins = defaultdict(list), defaultdict(list)
    for edge in procedure.edges:
        outs[edge.source].append(edge)
        ins[edge.target].append(edge)
    for block in procedure.blocks:
        edges = outs[block.number]
        if block.truth is None or not block.instructions:
            continue
        if block.truth == 0 or len(edges) == 1:
            for edge in edges:
                edge.truth = block.truth
        elif all(edge.target is not None and edge.kind != 'landing' for edge in edges):
            _share_out(block, edges, jumps.get(block.instructions[-1][0], {}), procedure.blocks)
    if procedure.whole:
        _complete(procedure, outs, ins)


def _share_out(block, edges, seen, blocks):
    straight = [edge for edge in edges if edge.kind == 'fall']
    others = [edge for edge in edges if edge.kind != 'fall']
    counts = [seen.get(blocks[edge.target].address, 0) for edge in others]
    rest = block.truth - sum(counts)
    if rest < 0 or (rest > 0 and len(straight) != 1):
        return
    for edge, count in zip(others, counts):
        edge.truth = count
    for edge in straight:
        edge.truth = rest


def _complete(procedure, outs, ins):
    """What goes in comes out: the one unknown edge of a block follows from the others."""
    waiting = list(procedure.blocks)
    while waiting:
        block = waiting.pop()
        if block.truth is None:
            continue
        for edges in (outs[block.number], ins[block.number]):
            unknown = [edge for edge in edges if edge.truth is None]
            if len(unknown) != 1:
                continue
            rest = block.truth - sum(edge.truth for edge in edges if edge is not unknown[0])
            if rest < 0:
                continue
            unknown[0].truth = rest
            waiting += [procedure.blocks[node] for node in (unknown[0].source, unknown[0].target)
                        if node is not None]


def build(document, show_cfg, truths, runs):
    """The profile of one program, all that can be compared with the truth."""
    left_out = defaultdict(int)
    procedures = []
    total = document['samples']['total']
    for image in document['images']:
        base = os.path.basename(image['path'])
        truth = truths.get(os.path.realpath(image['path']))
        why = None
        if not image['path'].startswith('/'):
            why = 'kernel, vdso, JIT'
        elif CHOSEN_AT_RUN_TIME.match(base):
            why = 'libc'
        elif truth is None:
            why = 'not seen'
        if why:
            left_out[why] += image['samples']
            continue
        rows = [row for row in image['procedures'] if row['address'] is not None]
        jumps = jumps_of(truth, runs)
        graphs = graphs_of(show_cfg, image['path'], [int(row['address'], 16) for row in rows])
        inside = sum(row['samples'][0] for row in rows)
        left_out['nowhere'] += image['samples'] - inside
        for row in rows:
            address = int(row['address'], 16)
            made = Procedure(image['path'], row['name'], address, row['samples'][0])
            if address in graphs:
                made.whole, made.blocks, made.edges = graphs[address]
            place_instructions(made, row['instructions'])
            set_block_truth(made, truth, runs)
            set_edge_truth(made, jumps)
            if made.blocks and not made.executed:
                # callgrind knows no file of what is outside of .text.
                left_out['PLT' if made.name.endswith('@plt') else 'not seen'] += made.samples
                continue
            procedures.append(made)
    return Profile(procedures, total, {why: n for why, n in left_out.items() if n})
