// Reads the XML of a sheet and shared strings, with and without the kernels, in pieces and stretches of any size.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RowBatch, type RowRules } from '../../../workers/input/xlsx/row-batch.ts';
import { readSharedStrings } from '../../../workers/input/xlsx/shared-strings.ts';
import { SheetKernel } from '../../../workers/input/xlsx/sheet-kernel.ts';
import { SheetReader, type SheetSettings } from '../../../workers/input/xlsx/sheet-reader.ts';
import type { StringStore } from '../../../workers/input/xlsx/string-store.ts';
import { XmlStretch } from '../../../workers/input/xlsx/xml-stretch.ts';
import { WindowMemory } from '../../../workers/input/xlsx/xml-window.ts';
import type { PieceSource } from '../../../workers/input/zip/entry-reader.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { SpillFolder } from '../../../workers/memory/spill-file.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import type { CodeCounts } from '../../../workers/protocol/report.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';

const module = compileKernels();

/** [kind, text]; null for a null cell. */
export type KindAndText = readonly [kind: number, text: string] | null;

export interface SheetRun {
  readonly rows: readonly (readonly KindAndText[])[];
  readonly rowsRead: number;
  readonly counts: CodeCounts;
  readonly sharedBytes: number;
  /** Message of the failure, and the position of the reader. */
  readonly failure: string | null;
}

export interface SheetGiven {
  readonly xml: string | Uint8Array;
  readonly strings?: string;
  /** Meaning of each style. */
  readonly styles?: readonly number[];
  readonly is1904?: boolean;
  readonly rules?: Partial<RowRules>;
  readonly firstRow?: number;
  readonly rowsMax?: number;
  readonly skipHidden?: boolean;
  readonly range?: SheetSettings['range'];
}

export interface SheetHow {
  /** Length of a stretch in bytes. 0: the kernel is not used. */
  readonly stretchBytes: number;
  /** Positions at which the XML is cut. */
  readonly cuts?: readonly number[];
}

/** Delivers its bytes in pieces, with a wait before each piece. */
class CutSource implements PieceSource {
  readonly #pieces: Uint8Array[];
  #isWaiting = false;

  constructor(bytes: Uint8Array, cuts: readonly number[]) {
    const places = [0, ...cuts.filter((cut) => cut > 0 && cut < bytes.length), bytes.length];
    this.#pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
  }

  next(): Uint8Array | 'wait' | 'end' {
    this.#isWaiting = !this.#isWaiting;
    if (this.#isWaiting) return 'wait';
    return this.#pieces.shift() ?? 'end';
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}
}

export class SheetBench {
  readonly #heap: Heap;
  readonly #arena: Arena;
  readonly #kernel = instantiateKernel(module);
  readonly #spill = new SpillFolder(join(tmpdir(), `template-run-sheet-bench-${process.pid}`));

  constructor() {
    const { memory, exports } = this.#kernel;
    this.#heap = new Heap(memory, exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
    this.#arena = new Arena(this.#heap, 4_096);
  }

  async read(given: SheetGiven, { stretchBytes, cuts = [] }: SheetHow): Promise<SheetRun> {
    this.#heap.reset();
    const heap = this.#heap;
    const windowMemory = new WindowMemory(heap, { acquire: async () => {} });
    const stretch = stretchBytes === 0 ? null : new XmlStretch(this.#kernel.exports, heap, stretchBytes);
    const strings = given.strings === undefined ? null : await this.strings(given.strings, stretch, windowMemory);
    const styles = Uint8Array.from(given.styles ?? []);
    const { is1904 = false, range = null, skipHidden = false } = given;
    let sharedBytes = 0;
    const cells = { strings, styles, is1904 };
    const reader = new SheetReader(new CutSource(Buffer.from(given.xml), cuts), {
      ...cells,
      range,
      skipHidden,
      order: null,
      windowMemory,
      countShared: (bytes) => {
        sharedBytes += bytes;
      },
      kernel: stretch === null ? null : new SheetKernel(stretch, cells),
    });
    const rules: RowRules = { columns: 4, hasSheetName: false, nullValues: [''], ragged: 'pad', ...given.rules };
    const batch = new RowBatch(this.#arena, rules);
    batch.firstRow = given.firstRow ?? 1;
    const rows: KindAndText[][] = [];
    const failure = await drive(reader, batch, given.rowsMax ?? 4_096, () => rows.push(...this.#rowsOf(batch)));
    return { rows, rowsRead: batch.rowsRead, counts: batch.counts, sharedBytes, failure };
  }

  async strings(
    xml: string,
    stretch: XmlStretch | null,
    windowMemory: WindowMemory,
    cuts: readonly number[] = [],
  ): Promise<StringStore> {
    const tools = { heap: this.#heap, spill: this.#spill, windowMemory, giveWay: () => null, stretch };
    return runCoroutine(readSharedStrings(new CutSource(Buffer.from(xml), cuts), tools));
  }

  /** All shared strings, or the message of the failure. */
  async stringTexts(xml: string, { stretchBytes, cuts = [] }: SheetHow): Promise<readonly string[] | string> {
    this.#heap.reset();
    const stretch = stretchBytes === 0 ? null : new XmlStretch(this.#kernel.exports, this.#heap, stretchBytes);
    const windowMemory = new WindowMemory(this.#heap, { acquire: async () => {} });
    try {
      const store = await this.strings(xml, stretch, windowMemory, cuts);
      return Array.from({ length: store.length }, (_, index) => {
        store.find(index);
        return Buffer.from(store.bytes.slice(store.start, store.end)).toString();
      });
    } catch (error) {
      if (error instanceof Failed) return error.failure.message;
      throw error;
    }
  }

  #rowsOf(batch: RowBatch): KindAndText[][] {
    const { columns, live } = batch.take();
    const { u8, u32 } = this.#heap;
    return Array.from({ length: live }, (_, row) =>
      columns.map((column): KindAndText => {
        if (column.kind !== 'views') throw new Error('not views');
        const view = (column.at + row * 8) >>> 2;
        const at = u32[view]!;
        const text = Buffer.from(u8.slice(at, at + u32[view + 1]!)).toString();
        return at === 0 ? null : [column.kinds === undefined ? -1 : u8[column.kinds + row]!, text];
      }),
    );
  }
}

async function drive(reader: SheetReader, batch: RowBatch, rowsMax: number, take: () => void): Promise<string | null> {
  try {
    for (;;) {
      batch.begin(rowsMax);
      for (;;) {
        const state = reader.read(batch, batch.rowsMax);
        if (state === 'wait') await reader.wait();
        else if (state === 'more' && !reader.isInRow) break;
        else if (state === 'end') {
          take();
          return null;
        }
      }
      take();
    }
  } catch (error) {
    if (error instanceof Failed) return `${error.failure.message} (${reader.row}, ${reader.column})`;
    throw error;
  }
}
