// Iterates over the records of a JSON text, wherever they are: sets the state of the kernel for them, and checks that
// the text ends correctly.
import {
  COLUMNS,
  DEPTH,
  FLATTEN,
  FLATTEN_LEVELS_MAX,
  FORM,
  FORM_LIST,
  FORM_ROWS_ARE_LISTS,
  PHASE,
  PHASE_FIRST,
} from '../../kernel/layout/json.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { type EnteredList, enterRecords, leaveRecords, type RecordsPath, stepped } from './find-records.ts';
import type { JsonText } from './json-text.ts';
import { anotherValue, endsEarly, type ValueBefore } from './malformed-json.ts';

const OPEN_LIST = 0x5b;

/** Number of lists between two checks of the clock, since a file may have millions of lists without records. */
const LISTS_AT_ONCE = 256;

/** Number of values beside the list of records between two checks of the clock. */
const VALUES_AT_ONCE = 64;

/**
 * `records`: inside the list of records. `around`: after the list, inside the enclosing value. `after`: after
 * everything; nothing may follow.
 */
type Part = 'records' | 'around' | 'after';

interface RecordsForm {
  /** The list of records, or null if the records are concatenated. */
  readonly list: EnteredList | null;
  readonly areLists: boolean;
  /** True if the text is the whole file. */
  readonly isWhole: boolean;
}

export class JsonRecords {
  /** True if records are lists, of which the first is the header. */
  readonly areLists: boolean;
  readonly #text: JsonText;
  readonly #list: EnteredList | null;
  readonly #isWhole: boolean;
  /** Number of brackets around the current place, while the text around the list is skipped. */
  #depthAround = 0;
  #part: Part = 'records';
  /**
   * Number of values outside the list of records so far, which are not read: the other members of the object that
   * contains the list, and of the objects and lists around this object. A nested value counts once.
   */
  valuesBeside: number;
  /** Number of further lists of records that were entered. */
  #lists = 0;

  /**
   * Advances from the beginning of the text to the first record.
   * @returns null if the text is only a part of the file and ends before the first record
   */
  static *enter(
    text: JsonText,
    path: RecordsPath,
    { flatten, isWhole }: { readonly flatten: boolean; readonly isWhole: boolean },
  ): Coroutine<JsonRecords | null> {
    const list = path === null ? null : yield* enterRecords(text, path, isWhole);
    if (path !== null && list === null) return null;
    const first = yield* stepped(text, () => text.peek());
    if (first === 'more' && !isWhole) return null;
    const areLists = first !== 'more' && text.byte === OPEN_LIST;
    text.set(FORM, (list === null ? 0 : FORM_LIST) | (areLists ? FORM_ROWS_ARE_LISTS : 0));
    text.set(PHASE, PHASE_FIRST);
    text.set(FLATTEN, flatten ? FLATTEN_LEVELS_MAX : 0);
    text.set(COLUMNS, 0);
    return new JsonRecords(text, { list, areLists, isWhole });
  }

  private constructor(text: JsonText, { list, areLists, isWhole }: RecordsForm) {
    this.#text = text;
    this.#list = list;
    this.valuesBeside = list?.valuesBefore ?? 0;
    this.areLists = areLists;
    this.#isWhole = isWhole;
  }

  /**
   * 'rows': the rows that `text.rows` counts, which may be 0 after the key table was full (`onFull`). Throws Failed.
   */
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
      } else {
        const stop = this.#passRest();
        if (stop === 'yield') return 'wait';
        if (stop === 'list') {
          this.#lists++;
          if (this.#lists % LISTS_AT_ONCE === 0 && text.rests()) return 'wait';
          continue;
        }
      }
      const filled = text.fill();
      if (filled === 'wait') return 'wait';
      if (filled === 'end') return this.#end();
      // Yields here, because a large part of the file may be outside the records.
      if (text.rests()) return 'wait';
    }
  }

  /** Continues with another part of the file, which begins with a record. Only for concatenated records. */
  resume(): void {
    this.#text.resume();
    this.#text.set(PHASE, PHASE_FIRST);
  }

  #leave(): void {
    const { brackets } = this.#list!;
    this.#part = 'around';
    this.#depthAround = brackets.length;
    leaveRecords(this.#text, brackets);
  }

  /**
   * Skips text outside the records, as far as the window reaches ('more') or until it is time to yield. 'list': another
   * list of records begins, as in concatenated pages of an API.
   */
  #passRest(): 'more' | 'yield' | 'list' {
    const text = this.#text;
    if (this.#part === 'around') {
      const stop = this.#passAround();
      if (stop !== 'done') return stop;
      this.#part = 'after';
    }
    if (text.peek() !== 'event') return 'more';
    const isList = this.#list!.brackets.length === 0 && text.byte === OPEN_LIST;
    if (!isList || this.areLists) throw anotherValue(text.place(), this.#kind);
    text.pass();
    text.set(PHASE, PHASE_FIRST);
    this.#part = 'records';
    return 'list';
  }

  /** Skips and counts the values after the list, inside the values that enclose it. */
  #passAround(): 'more' | 'yield' | 'done' {
    const text = this.#text;
    for (let values = 1; ; values++) {
      const status = text.traverse(this.#depthAround);
      if (status !== 'event') return status;
      this.valuesBeside++;
      // After this point, deeper values belong to this value or to a value that follows it.
      this.#depthAround = text.get(DEPTH);
      if (values % VALUES_AT_ONCE === 0 && text.rests()) return 'yield';
    }
  }

  get #kind(): ValueBefore {
    if (this.#list!.brackets.length > 0) return 'records inside an object';
    return this.areLists ? 'lists of lists' : 'other';
  }

  #end(): 'end' {
    const isOpen = this.#part === 'around' || (this.#part === 'records' && this.#list !== null);
    if (isOpen && this.#isWhole) throw endsEarly(this.#text.end());
    return 'end';
  }
}
