// Reads the shared strings of a workbook into a store. Runs of rich text are joined, phonetic readings left out.
import type { SpillFolder } from '../../execution/spill/spill-folder.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { CELL_BYTES_MAX } from '../ceilings.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import { inPart, malformedWorkbook } from './malformed-workbook.ts';
import { PlainItem } from './plain-forms.ts';
import { StringKernel } from './string-kernel.ts';
import { StringStore } from './string-store.ts';
import { CollectedText } from './text-decoder.ts';
import type { WindowRoom } from './window-room.ts';
import type { XmlStretch } from './xml-stretch.ts';
import { CLOSE, EMPTY, END, MORE, OPEN, TEXT, XmlTokens } from './xml-tokens.ts';
import { XmlWindow } from './xml-window.ts';

/** Lets others go on; it is asked after each window. */
export type GiveWay = () => Promise<void> | null;

/** What shared strings are read with. */
export interface StringTools {
  readonly heap: Heap;
  readonly spill: SpillFolder;
  readonly room: WindowRoom;
  readonly giveWay: GiveWay;
  /** Null: everything is read tag by tag. */
  readonly stretch: XmlStretch | null;
}

/** Throws Failed. */
export function* readSharedStrings(source: PieceSource, tools: StringTools): Coroutine<StringStore> {
  const window = new XmlWindow(source, tools.room);
  const store = new StringStore(tools.heap, tools.spill);
  yield* inPart(() => `its shared strings, at string ${store.length + 1} or behind it`, readAll(window, store, tools));
  return store;
}

function* readAll(window: XmlWindow, store: StringStore, tools: StringTools): Coroutine<void> {
  const strings = new SharedStrings(new XmlTokens(window), store, tools.stretch);
  while (!strings.advance()) {
    while (!strings.refill()) yield window.wait();
    const rest = tools.giveWay();
    if (rest !== null) yield rest;
  }
}

class SharedStrings {
  readonly store: StringStore;
  readonly #tokens: XmlTokens;
  readonly #text = new CollectedText();
  readonly #plain = new PlainItem();
  readonly #kernel: StringKernel | null;
  /** The kernel reads on between items, until it may not. */
  #isForKernel = false;
  /** Within `<si>`; within its `<t>`; depth at which a phonetic reading began, or 0. */
  #isItem = false;
  #isText = false;
  #phoneticDepth = 0;

  constructor(tokens: XmlTokens, store: StringStore, stretch: XmlStretch | null) {
    this.#kernel = stretch === null ? null : new StringKernel(stretch, store);
    this.#tokens = tokens;
    this.store = store;
  }

  refill(): boolean {
    return this.#tokens.refill(this.#tokens.isStarved ? 0 : this.#tokens.at);
  }

  /** True at the end; false when more bytes are wanted. */
  advance(): boolean {
    const tokens = this.#tokens;
    for (;;) {
      if (this.#isForKernel && !this.#isItem && tokens.depth === 1) {
        if (this.#kernel!.read(tokens) === 'more' && !tokens.window.isLast) return false;
      }
      const { at } = tokens;
      if (!this.#isItem && this.#plain.read(tokens.bytes, tokens.at, tokens.window.end)) {
        this.#addPlain();
        continue;
      }
      switch (tokens.next()) {
        case MORE:
          return false;
        case END:
          return true;
        case TEXT:
          if (this.#isText) this.#add();
          break;
        case OPEN:
          this.#opened(at);
          break;
        case EMPTY:
          if (tokens.is('si')) this.store.add(this.#text.bytes, 0, 0);
          break;
        case CLOSE:
          this.#closed();
          break;
      }
    }
  }

  #addPlain(): void {
    const tokens = this.#tokens;
    const { start, end, behind } = this.#plain;
    if (end - start > CELL_BYTES_MAX) throw malformedWorkbook('a cell is too long');
    this.store.add(tokens.bytes, start, end);
    tokens.at = behind;
  }

  #add(): void {
    const { bytes, start, end, textFlags } = this.#tokens;
    this.#text.add(bytes, start, end, textFlags);
    if (this.#text.length > CELL_BYTES_MAX) throw malformedWorkbook('a cell is too long');
  }

  /** @param at where the tag begins */
  #opened(at: number): void {
    const tokens = this.#tokens;
    if (tokens.depth === 1 && this.#kernel !== null) {
      this.#isForKernel = this.#kernel.begin(tokens.bytes.subarray(at + 1, tokens.start));
    }
    if (tokens.is('si')) {
      this.#isItem = true;
      this.#text.clear();
    } else if (!this.#isItem || this.#phoneticDepth > 0) return;
    else if (tokens.is('t')) this.#isText = true;
    else if (tokens.is('rPh')) this.#phoneticDepth = tokens.depth;
  }

  #closed(): void {
    const tokens = this.#tokens;
    if (tokens.is('t')) this.#isText = false;
    else if (tokens.is('si')) {
      this.store.add(this.#text.bytes, 0, this.#text.length);
      this.#isItem = false;
    } else if (this.#phoneticDepth > tokens.depth) this.#phoneticDepth = 0;
  }
}
