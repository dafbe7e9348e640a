// Hands stretches of the shared strings' XML to the kernel that reads them (kernel/assembly/read-strings.ts) into their store.
import * as words from '../../kernel/layout/shared-strings.ts';
import { PREFIX_BYTES_MAX, PREFIX_WORD_BYTES, STATUS_LEFT } from '../../kernel/layout/xml.ts';
import type { StringRoom, StringStore } from './string-store.ts';
import type { XmlStretch } from './xml-stretch.ts';
import type { XmlTokens } from './xml-tokens.ts';

export class StringKernel {
  readonly #stretch: XmlStretch;
  readonly #store: StringStore;
  readonly #state: number;
  readonly #room: StringRoom = { textsAt: 0, textsEnd: 0, entriesAt: 0, entriesEnd: 0 };

  /** Throws MemoryWanted. */
  constructor(stretch: XmlStretch, store: StringStore) {
    this.#stretch = stretch;
    this.#store = store;
    this.#state = stretch.heap.allocate(words.STATE_BYTES);
  }

  /** @param prefix before the names of elements, with its colon. False: the kernel cannot read them. */
  begin(prefix: Uint8Array): boolean {
    if (prefix.length > PREFIX_BYTES_MAX) return false;
    this.#set(words.PREFIX, prefix.length);
    this.#stretch.heap.u8.set(prefix, this.#state + words.PREFIX + PREFIX_WORD_BYTES);
    return true;
  }

  /** Reads on from where the tokens are. 'more': nothing whole is left in the window; 'left': what comes next is the other reader's. */
  read(tokens: XmlTokens): 'more' | 'left' {
    const stretch = this.#stretch;
    const room = this.#room;
    for (;;) {
      if (!this.#store.lend(room)) return 'left';
      this.#set(words.TEXTS_AT, room.textsAt);
      this.#set(words.TEXTS_END, room.textsEnd);
      this.#set(words.ENTRIES_AT, room.entriesAt);
      this.#set(words.ENTRIES_END, room.entriesEnd);
      this.#set(words.AT, stretch.place(tokens));
      stretch.kernel.readStrings(this.#state, stretch.end);
      this.#store.takeBack(room, this.#get(words.TEXTS_AT), this.#get(words.ENTRIES_AT));
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
