// Reads the shared strings of a workbook, with a kernel where possible.

import * as words from '../../kernel/layout/shared-strings.ts';
import { PREFIX_BYTES_MAX, PREFIX_WORD_BYTES, STATUS_LEFT } from '../../kernel/layout/sheet.ts';
import type { Heap } from '../../memory/heap.ts';
import type { SpillFolder } from '../../memory/spill-file.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { CELL_BYTES_MAX } from '../ceilings.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import { inPart, malformedWorkbook } from './limits.ts';
import { PlainItem } from './plain-forms.ts';
import { type StringSpace, StringStore } from './string-store.ts';
import { CollectedText } from './text-decoder.ts';
import type { XmlStretch } from './xml-stretch.ts';
import { CLOSE, EMPTY, END, MORE, OPEN, TEXT, XmlTokens } from './xml-tokens.ts';
import { type WindowMemory, XmlWindow } from './xml-window.ts';

// Passes sections of the shared strings' XML to the kernel that reads them (kernel/assembly/sheet-texts.ts) into the
// store.

class StringKernel {
  readonly #stretch: XmlStretch;
  readonly #store: StringStore;
  readonly #state: number;
  readonly #space: StringSpace = { textsAt: 0, textsEnd: 0, entriesAt: 0, entriesEnd: 0 };

  /** Throws MemoryWanted. */
  constructor(stretch: XmlStretch, store: StringStore) {
    this.#stretch = stretch;
    this.#store = store;
    this.#state = stretch.heap.allocate(words.STATE_BYTES);
  }

  /**
   * Returns false if the kernel cannot read these shared strings.
   * @param prefix prefix of element names, including its colon
   */
  begin(prefix: Uint8Array): boolean {
    if (prefix.length > PREFIX_BYTES_MAX) return false;
    this.#set(words.PREFIX, prefix.length);
    this.#stretch.heap.u8.set(prefix, this.#state + words.PREFIX + PREFIX_WORD_BYTES);
    return true;
  }

  /**
   * Continues at the position of `tokens`. 'more': the window contains no further complete item. 'left': the slow
   * reader must read what follows.
   */
  read(tokens: XmlTokens): 'more' | 'left' {
    const stretch = this.#stretch;
    const space = this.#space;
    for (;;) {
      if (!this.#store.lend(space)) return 'left';
      this.#set(words.TEXTS_AT, space.textsAt);
      this.#set(words.TEXTS_END, space.textsEnd);
      this.#set(words.ENTRIES_AT, space.entriesAt);
      this.#set(words.ENTRIES_END, space.entriesEnd);
      this.#set(words.AT, stretch.place(tokens));
      stretch.kernel.readStrings(this.#state, stretch.end);
      this.#store.takeBack(space, this.#get(words.TEXTS_AT), this.#get(words.ENTRIES_AT));
      const at = this.#get(words.AT);
      if (this.#get(words.STATUS) === STATUS_LEFT) {
        stretch.moveTo(tokens, at);
        return 'left';
      }
      const stop = stretch.moveOn(tokens, at);
      if (stop !== 'again') return stop;
    }
  }

  #set(word: number, value: number): void {
    this.#stretch.heap.u32[(this.#state + word) >>> 2] = value;
  }

  #get(word: number): number {
    return this.#stretch.heap.u32[(this.#state + word) >>> 2]!;
  }
}

// Reads the shared strings of a workbook into a store. Runs of rich text are joined, and phonetic readings are left
// out.

/** Yields to other Runs if necessary. Called after each window. */
export type GiveWay = () => Promise<void> | null;

/** Tools for reading shared strings. */
export interface StringTools {
  readonly heap: Heap;
  readonly spill: SpillFolder;
  readonly windowMemory: WindowMemory;
  readonly giveWay: GiveWay;
  /** Memory for the kernel, or null to read everything token by token. */
  readonly stretch: XmlStretch | null;
}

/** Throws Failed. */
export function* readSharedStrings(source: PieceSource, tools: StringTools): Coroutine<StringStore> {
  const window = new XmlWindow(source, tools.windowMemory);
  const store = new StringStore(tools.heap, tools.spill);
  yield* inPart(() => `its shared strings, at string ${store.length + 1} or after it`, readAll(window, store, tools));
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
  /** True while the kernel may read the items. */
  #isForKernel = false;
  /** True inside `<si>`; true inside its `<t>`; depth at which a phonetic reading began, or 0. */
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

  /** Returns true at the end, and false if more bytes are needed. */
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
    const { start, end, after } = this.#plain;
    if (end - start > CELL_BYTES_MAX) throw malformedWorkbook('a cell is too long');
    this.store.add(tokens.bytes, start, end);
    tokens.at = after;
  }

  #add(): void {
    const { bytes, start, end, textFlags } = this.#tokens;
    this.#text.add(bytes, start, end, textFlags);
    if (this.#text.length > CELL_BYTES_MAX) throw malformedWorkbook('a cell is too long');
  }

  /** @param at position of the tag */
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
