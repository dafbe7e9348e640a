// Random access to a source for formats that need the whole file: the stored upload itself once it has arrived, or a
// copy in a spill file of the Run if the bytes are decompressed while they are read.
import { SpillFile, type SpillFolder } from '../../memory/spill-file.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import type { Pauses } from '../../scheduling/time-slices.ts';
import type { ByteSource, StoredSource, WholeSource } from './source.ts';

/** Bytes copied at a time: a tenth of a millisecond of work. */
const PIECE_BYTES = 65_536;

export interface WholeTools {
  readonly spill: SpillFolder;
  /** Waits; see SliceClock. */
  readonly rest: (wait: () => Promise<void>) => Promise<void>;
  readonly giveWay?: () => Promise<void>;
  readonly clock?: Pauses;
}

/** Waits until the upload is complete. Throws Failed, Cancelled. */
export function* wholeOf(source: ByteSource, tools: WholeTools): Coroutine<WholeSource> {
  if (!isStored(source)) return yield* copyOf(source, tools);
  while (!source.hasArrived) yield tools.rest(() => source.arrival());
  return source;
}

function isStored(source: ByteSource): source is StoredSource {
  return 'readAt' in source;
}

function* copyOf(source: ByteSource, { spill, rest, giveWay, clock }: WholeTools): Coroutine<WholeSource> {
  const file = new SpillFile(spill);
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    while (!source.ended) {
      const bytes = source.read(piece);
      if (bytes > 0) file.append(piece.subarray(0, bytes));
      else if (!source.ended) yield rest(() => source.wait());
      if (giveWay !== undefined && clock?.isDue()) yield giveWay();
    }
    return new CopiedSource(file);
  } catch (error) {
    file.drop();
    throw error;
  } finally {
    source.close();
  }
}

class CopiedSource implements WholeSource {
  readonly #file: SpillFile;

  constructor(file: SpillFile) {
    this.#file = file;
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes;
  }

  readAt(target: Uint8Array, position: number): number {
    return this.#file.read(target, position);
  }

  close(): void {
    this.#file.drop();
  }
}
