// The records of a JSON text from the first to the last, whatever stands around them: the kernel's state for them, and the
// check that the text ends as it should.
import {
  COLUMNS,
  FLATTEN,
  FLATTEN_LEVELS_MAX,
  FORM,
  FORM_LIST,
  FORM_ROWS_ARE_LISTS,
  PHASE,
  PHASE_FIRST,
} from '../../kernel/layout/json.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { type Brackets, enterRecords, leaveRecords, type RecordsPath, stepped } from './find-records.ts';
import type { JsonText } from './json-text.ts';
import { endsEarly, goesOn } from './malformed-json.ts';

const OPEN_LIST = 0x5b;

/** `records`: they are read; `around`: what stands behind their list; `behind`: nothing may follow. */
type Part = 'records' | 'around' | 'behind';

interface RecordsForm {
  /** Around the list of records; null: they stand one after the other. */
  readonly brackets: Brackets | null;
  readonly areLists: boolean;
  /** Whether the text is all of the file. */
  readonly isWhole: boolean;
}

export class JsonRecords {
  /** Whether records are lists, whose first is the header. */
  readonly areLists: boolean;
  readonly #text: JsonText;
  readonly #brackets: Brackets | null;
  readonly #isWhole: boolean;
  #part: Part = 'records';

  /**
   * Goes from the beginning of the text to the first record.
   * @returns null where the text, which is not all of the file, ends before
   */
  static *enter(
    text: JsonText,
    path: RecordsPath,
    { flatten, isWhole }: { readonly flatten: boolean; readonly isWhole: boolean },
  ): Coroutine<JsonRecords | null> {
    const brackets = path === null ? null : yield* enterRecords(text, path, isWhole);
    if (path !== null && brackets === null) return null;
    const first = yield* stepped(text, () => text.peek());
    if (first === 'more' && !isWhole) return null;
    const areLists = brackets !== null && first !== 'more' && text.byte === OPEN_LIST;
    text.set(FORM, (brackets === null ? 0 : FORM_LIST) | (areLists ? FORM_ROWS_ARE_LISTS : 0));
    text.set(PHASE, PHASE_FIRST);
    text.set(FLATTEN, flatten ? FLATTEN_LEVELS_MAX : 0);
    text.set(COLUMNS, 0);
    return new JsonRecords(text, { brackets, areLists, isWhole });
  }

  private constructor(text: JsonText, { brackets, areLists, isWhole }: RecordsForm) {
    this.#text = text;
    this.#brackets = brackets;
    this.areLists = areLists;
    this.#isWhole = isWhole;
  }

  /** 'rows': those that `text.rows` counts, none where the table of keys was full (`onFull`). Throws Failed. */
  next(rowsMax: number, onFull: () => void): 'rows' | 'wait' | 'end' {
    const text = this.#text;
    for (;;) {
      if (this.#part === 'records') {
        const status = text.read(rowsMax);
        if (status === 'list_end') this.#leave();
        if (text.rows > 0 || status === 'full') return 'rows';
        if (status === 'keys_full') onFull();
        if (status !== 'more') continue;
        const ahead = text.advance();
        if (ahead !== 'alone') return ahead;
      } else this.#passRest();
      const filled = text.fill();
      if (filled === 'wait') return 'wait';
      if (filled === 'end') return this.#end();
    }
  }

  #leave(): void {
    this.#part = 'around';
    leaveRecords(this.#text, this.#brackets!);
  }

  /** As far as the window goes. */
  #passRest(): void {
    const text = this.#text;
    if (this.#part === 'around' && text.walk(0) === 'done') this.#part = 'behind';
    if (this.#part === 'behind' && text.peek() === 'event') throw goesOn(text.place());
  }

  #end(): 'end' {
    const isOpen = this.#part === 'around' || (this.#part === 'records' && this.#brackets !== null);
    if (isOpen && this.#isWhole) throw endsEarly(this.#text.end());
    return 'end';
  }
}
