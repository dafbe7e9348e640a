// Loads the compiled kernels: one module per process, one instance (with its own memory) per Run at work.
import { readFileSync } from 'node:fs';
import { MEMORY_BYTES_MAX, PAGE_BYTES } from '../heap.ts';
import { KERNEL_FILE } from '../kernel-file.ts';
import type { EmitKernels } from './emit-kernels.ts';
import type { ExpressionKernels } from './expression-kernels.ts';
import type { FinishedKernels } from './finished-kernels.ts';
import type { FoldKernels } from './fold-kernels.ts';
import type { InputKernels } from './input-kernels.ts';
import type {
  AddShortKeys,
  ComposeKeys,
  DecodeEntries,
  DecodeRows,
  EncodeRows,
  FindKeys,
  FindShortKeys,
  InsertKeys,
  SortKeys,
  SplitByNew,
  TypedKeys,
} from './row-kernels.ts';
import type {
  Capitalise,
  ChangeCase,
  FindPattern,
  KeepBytes,
  PadCells,
  PutAround,
  ReadDates,
  ReadNumbers,
  ReplacePattern,
  ReplaceText,
  ReplaceWhole,
  RoundDecimals,
  RoundDoubles,
  SettleViews,
  WriteDates,
  WriteNumbers,
} from './text-kernels.ts';

/** The kernels' exports. Addresses are absolute; rows are counts; see each kernel's AssemblyScript file. */
export interface KernelExports extends EmitKernels, ExpressionKernels, FinishedKernels, FoldKernels, InputKernels {
  /** First address behind the kernels' own static data. */
  heapStart(): number;
  // Cells of text (assembly/cell.ts tells how rows, views and the arena are passed).
  trimViews(views: number, rows: number, count: number): void;
  keepBlank(views: number, rows: number, count: number): number;
  keepEmpty(views: number, rows: number, count: number): number;
  collapseSpaces(views: number, rows: number, count: number, next: number, limit: number): number;
  changeCase: ChangeCase;
  capitalise: Capitalise;
  keepBytes: KeepBytes;
  handBack(views: number, rows: number, count: number, table: number, todo: number): void;
  putAround: PutAround;
  padCells: PadCells;
  truncateCells(views: number, rows: number, count: number, length: number): void;
  findPattern: FindPattern;
  replacePattern: ReplacePattern;
  replaceText: ReplaceText;
  replaceWhole: ReplaceWhole;
  settleViews: SettleViews;
  readDates: ReadDates;
  readNumbers: ReadNumbers;
  writeDates: WriteDates;
  roundDecimals: RoundDecimals;
  roundDoubles: RoundDoubles;
  writeNumbers: WriteNumbers;
  // Keys, tables of keys, rows as records.
  hashViews(views: number, rows: number, count: number, seed: number, hashes: number): void;
  composeKeys: ComposeKeys;
  typedKeys: TypedKeys;
  touchSlots(table: number, hashes: number, count: number): number;
  insertKeys: InsertKeys;
  findKeys: FindKeys;
  moveSlots(table: number, slots: number, slotCount: number): void;
  splitByNew: SplitByNew;
  findShortKeys: FindShortKeys;
  addShortKeys: AddShortKeys;
  scatter(values: number, at: number, count: number, out: number): void;
  fingerprintViews(views: number, rows: number, count: number, key: number, prints: number): void;
  touchPrints(set: number, prints: number, count: number): number;
  addPrints(set: number, prints: number, from: number, count: number, ids: number): number;
  findPrints(set: number, prints: number, from: number, count: number, ids: number): void;
  movePrints(set: number, slots: number, slotCount: number): void;
  encodeRows: EncodeRows;
  decodeRows: DecodeRows;
  decodeEntries: DecodeEntries;
  sortKeys: SortKeys;
  keepBefore(keys: number, rows: number, count: number, last: number, kept: number): number;
  listRecords(from: number, end: number, entries: number): number;
  reloadEntries(entries: number, count: number): void;
  sortEntries(entries: number, spare: number, count: number, counts: number): number;
  gatherRecords(entries: number, from: number, count: number, next: number, limit: number, reached: number): number;
}

export interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly exports: KernelExports;
}

/** First size of a Run's memory in pages of 64 KiB: 4 MiB, the reservation of a Run. */
const INITIAL_PAGES = 64;

/** Compiled once by each thread's entry (or handed over by the main thread: a WebAssembly.Module can be cloned). */
export function compileKernels(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(KERNEL_FILE));
}

export function instantiateKernel(module: WebAssembly.Module): Kernel {
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: MEMORY_BYTES_MAX / PAGE_BYTES });
  const abort = (): never => {
    throw new Error('kernel aborted');
  };
  const instance = new WebAssembly.Instance(module, { env: { memory, abort } });
  const exports = instance.exports as unknown as KernelExports;
  return { memory, exports };
}
