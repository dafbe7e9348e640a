// Bytes written from front to back and then read: in the Run's memory while the budget allows, else in a file.
import type { Heap } from '../../memory/heap.ts';
import { type SpillBytes, SpillFile } from './spill-file.ts';
import type { SpillFolder } from './spill-folder.ts';

/** Blocks: the first is small for small files, later ones cost few requests of the budget. */
const BLOCK_BYTES_FIRST = 131_072;
const BLOCK_BYTES_MOST = 4 * 1024 * 1024;

interface Block {
  readonly at: number;
  readonly bytes: number;
  /** Position of its first byte among all. */
  readonly start: number;
}

export class HeapBytes implements SpillBytes {
  readonly #heap: Heap;
  readonly #spill: SpillFolder;
  #blocks: Block[] = [];
  #file: SpillFile | null = null;
  #sizeBytes = 0;

  constructor(heap: Heap, spill: SpillFolder) {
    this.#heap = heap;
    this.#spill = spill;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** `bytes` may be a part of the heap: it is looked up anew after each growth. */
  append(bytes: Uint8Array): void {
    const { byteOffset, length } = bytes;
    const isOwn = bytes.buffer === this.#heap.u8.buffer;
    for (let done = 0; done < length; ) {
      const room = this.#file === null ? this.#room() : null;
      const from = isOwn ? this.#heap.u8.subarray(byteOffset + done, byteOffset + length) : bytes.subarray(done);
      if (room === null) {
        this.#file ??= this.#moveToFile();
        this.#file.append(from);
        this.#sizeBytes += from.length;
        return;
      }
      const part = from.subarray(0, room.bytes);
      this.#heap.u8.set(part, room.at);
      this.#sizeBytes += part.length;
      done += part.length;
    }
  }

  read(target: Uint8Array, position: number): number {
    if (this.#file !== null) return this.#file.read(target, position);
    const most = Math.min(target.length, this.#sizeBytes - position);
    let done = 0;
    for (const { at, bytes, start } of this.#blocks) {
      if (done === most) break;
      const skipped = position + done - start;
      if (skipped < 0 || skipped >= bytes) continue;
      const part = Math.min(bytes - skipped, most - done);
      target.set(this.#heap.u8.subarray(at + skipped, at + skipped + part), done);
      done += part;
    }
    return done;
  }

  /** The memory is the Run's to its end. */
  drop(): void {
    this.#file?.drop();
    this.#blocks = [];
    this.#sizeBytes = 0;
  }

  /** Where the next byte goes and how many fit there; null when the budget refuses. */
  #room(): { readonly at: number; readonly bytes: number } | null {
    const last = this.#blocks.at(-1);
    const used = last === undefined ? 0 : this.#sizeBytes - last.start;
    if (last !== undefined && used < last.bytes) return { at: last.at + used, bytes: last.bytes - used };
    const bytes = last === undefined ? BLOCK_BYTES_FIRST : Math.min(BLOCK_BYTES_MOST, last.bytes * 2);
    const at = this.#heap.tryAllocate(bytes);
    if (at === 0) return null;
    this.#blocks.push({ at, bytes, start: this.#sizeBytes });
    return { at, bytes };
  }

  #moveToFile(): SpillFile {
    const file = new SpillFile(this.#spill);
    for (const { at, bytes, start } of this.#blocks) {
      file.append(this.#heap.u8.subarray(at, at + Math.min(bytes, this.#sizeBytes - start)));
    }
    this.#blocks = [];
    return file;
  }
}
