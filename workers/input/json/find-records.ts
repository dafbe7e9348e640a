// Locates the records of a JSON file, and chooses the list that contains them.
import { DEPTH, PHASE, STACK, TRAVERSAL_BEHIND, TRAVERSAL_VALUE } from '../../kernel/layout/json.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import type { OpenSettings } from '../format.ts';
import type { JsonText } from './json-text.ts';
import { ambiguousLists, type ListKind, type ListMember, listOfValues, noRecordsAt } from './malformed-json.ts';

// Runs steps on a JSON text that may need more bytes than the window holds.

/** Repeats a step until the window has the bytes it needs. Returns 'more' at the end of the text. */
export function* stepped<Status extends string>(text: JsonText, step: () => Status): Coroutine<Status> {
  for (;;) {
    const rest = text.giveWay();
    if (rest !== null) yield rest;
    const status = step();
    if (status !== 'more') return status;
    for (let filled = text.fill(); filled !== 'filled'; filled = text.fill()) {
      if (filled === 'end') return status;
      yield text.wait();
    }
  }
}

/** Prepares a traversal that begins with the value at the current position. */
function begin(text: JsonText): void {
  text.set(DEPTH, 0);
  text.set(PHASE, TRAVERSAL_VALUE);
}

// Chooses the list in a JSON object that contains the records. Column names that the Template looks for decide first.
// If no such name occurs, the object must contain exactly one list that can contain records. Any other object is
// ambiguous and refused.

/** Tools for scanning the members of an object. */
interface MemberTools extends Pick<OpenSettings, 'clock' | 'giveWay'> {
  /** The names that the Template looks for, or null. */
  readonly expected: ExpectedHeaders | null;
  /** True if nested objects become columns. The keys of a record are then not enough to know its column names. */
  readonly flattens: boolean;
}

interface ObjectMembers {
  /**
   * The first lists that may contain records. Their number is limited, but the number of members of an object is not.
   */
  readonly lists: readonly ListMember[];
  readonly counts: Readonly<Record<MemberKind, number>>;
  /** The first lists whose records have expected names. Two are already ambiguous. */
  readonly named: readonly ListMember[];
  /** True if the object itself has an expected name. */
  readonly isNamed: boolean;
  /** The first lists inside objects whose first record has an expected name. Two are already ambiguous. */
  readonly nested: readonly NestedList[];
}

/** Kind of a list that is itself a member. */
type MemberKind = Exclude<ListKind, 'nested'>;

interface MemberList extends ListMember {
  kind: MemberKind;
}

interface NestedList extends ListMember {
  /** Places of the members that lead to the list. */
  readonly steps: readonly number[];
}

/** Maximum number of lists in a message. */
const LISTS_MAX = 10;

/** Longest key in a message, in UTF-16 units. */
const KEY_LENGTH_MAX = 100;

/** Lists inside objects are found down to this depth, like the objects that `input.json.flatten` makes columns of. */
const NESTED_DEPTH_MAX = 8;

/** Number of events between two checks of the clock. */
const EVENTS_AT_ONCE = 64;

const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** The position in the text must be at the object. Afterwards it is after the object. */
function* membersOf(text: JsonText, tools: MemberTools): Coroutine<ObjectMembers | 'unknown'> {
  const { clock, giveWay } = tools;
  const scan = new MemberScan(text, tools);
  begin(text);
  for (let events = 1; ; events++) {
    const status = yield* stepped(text, () => text.traverse(scan.stopDepth));
    if (status === 'more') return 'unknown';
    if (status === 'done') return scan.end();
    scan.look(text.get(DEPTH));
    if (events % EVENTS_AT_ONCE === 0 && giveWay !== undefined && clock?.isDue()) yield giveWay();
  }
}

/**
 * Returns the places of the members that lead to the records, or null if the object is one record.
 * @param looksForNames whether the Template looks for columns by name
 * @throws Failed if several lists may contain them
 */
function recordsMember(members: ObjectMembers, looksForNames: boolean): readonly number[] | null {
  const { lists, counts, named, isNamed, nested } = members;
  if (named.length === 1 && !isNamed) return [named[0]!.place];
  if (named.length === 0 && isNamed) return null;
  const { objects, empty } = counts;
  const isInside = named.length === 0 && nested.length > 0;
  if (isInside && nested.length === 1 && objects + counts.lists === 0) return nested[0]!.steps;
  if (isInside) throw ambiguousLists([...lists, ...nested].slice(0, LISTS_MAX), sum(counts) + nested.length);
  if (objects + empty === 0) return null;
  const count = sum(counts);
  if (objects === 1 && count === 1) return [lists[0]!.place];
  // If all lists are empty, it does not matter which one is chosen.
  const isWithoutRecords = empty === count && looksForNames && !isNamed;
  if (isWithoutRecords) return [lists[0]!.place];
  throw ambiguousLists(lists, count);
}

function sum(counts: ObjectMembers['counts']): number {
  return counts.objects + counts.lists + counts.empty;
}

class MemberScan {
  /** Deeper values are skipped. */
  stopDepth = 1;
  readonly #text: JsonText;
  readonly #tools: MemberTools;
  readonly #lists: MemberList[] = [];
  readonly #counts: Record<MemberKind, number> = { objects: 0, lists: 0, empty: 0 };
  readonly #named: ListMember[] = [];
  #isNamed = false;
  #place = -1;
  /** The list whose items are being scanned. */
  #list: MemberList | null = null;
  /** True until its first item arrives. */
  #isAwaited = false;
  readonly #nested: NestedList[] = [];
  /** Places of the members around the current value in an object that may contain lists; null in other members. */
  #steps: number[] | null = null;
  #memberKey = '';
  /** Depth of the list inside an object whose first record is being scanned, or 0. */
  #nestedDepth = 0;

  constructor(text: JsonText, tools: MemberTools) {
    this.#text = text;
    this.#tools = tools;
  }

  look(depth: number): void {
    if (depth === 1) this.#lookAtMember();
    else if (this.#steps !== null) this.#lookInside(depth, this.#steps);
    else if (depth === 2) this.#lookAtItem();
    else this.#lookAtKey();
  }

  end(): ObjectMembers {
    this.#leaveList();
    return {
      lists: this.#lists,
      counts: this.#counts,
      named: this.#named,
      isNamed: this.#isNamed,
      nested: this.#nested,
    };
  }

  #lookAtMember(): void {
    this.#leaveList();
    this.#place++;
    if (this.#isExpected()) this.#isNamed = true;
    const mayNest = this.#text.byte === OPEN_OBJECT && this.#tools.expected !== null && this.#nested.length < 2;
    this.#steps = mayNest ? [this.#place] : null;
    this.#nestedDepth = 0;
    if (mayNest) {
      this.stopDepth = NESTED_DEPTH_MAX;
      this.#memberKey = this.#key();
    }
    if (this.#text.byte !== OPEN_LIST) return;
    const key = this.#lists.length < LISTS_MAX ? this.#key() : '';
    this.#list = { place: this.#place, key, kind: 'empty', isNamed: false };
    this.#isAwaited = true;
    this.stopDepth = 2;
  }

  #lookAtItem(): void {
    const { byte } = this.#text;
    const list = this.#list!;
    this.stopDepth = 1;
    if (!this.#isAwaited) return;
    this.#isAwaited = false;
    if (byte === OPEN_OBJECT) {
      list.kind = 'objects';
      if (this.#tools.expected !== null) this.stopDepth = 3;
    } else if (byte === OPEN_LIST) list.kind = 'lists';
    // A list of scalar values cannot contain records.
    else this.#list = null;
  }

  /** Handles a key of the first record in a list. */
  #lookAtKey(): void {
    if (this.#isNameOfRecord()) this.#list!.isNamed = true;
  }

  #isNameOfRecord(): boolean {
    const mayHoldNames = this.#tools.flattens && this.#text.byte === OPEN_OBJECT;
    return mayHoldNames || this.#isExpected();
  }

  #key(): string {
    return (this.#text.key() ?? '').slice(0, KEY_LENGTH_MAX);
  }

  /** Handles a value in an object that is a member. Of each list in it, only the first record is scanned. */
  #lookInside(depth: number, steps: number[]): void {
    const { byte } = this.#text;
    if (this.#nestedDepth > 0 && depth > this.#nestedDepth) {
      if (this.#isAwaited && byte === OPEN_OBJECT) this.stopDepth = depth + 1;
      else if (depth === this.#nestedDepth + 1) this.stopDepth = this.#nestedDepth;
      else if (this.#isNameOfRecord()) this.#addNested(steps);
      this.#isAwaited = false;
      return;
    }
    this.#nestedDepth = 0;
    this.stopDepth = NESTED_DEPTH_MAX;
    steps[depth - 1] = (steps[depth - 1] ?? -1) + 1;
    steps.length = depth;
    if (byte !== OPEN_LIST) return;
    this.#nestedDepth = depth;
    this.#isAwaited = true;
    this.stopDepth = depth + 1;
  }

  #addNested(steps: readonly number[]): void {
    const list = {
      place: this.#place,
      key: this.#memberKey,
      kind: 'nested',
      isNamed: true,
      steps: [...steps],
    } as const;
    this.#nested.push(list);
    this.stopDepth = this.#nested.length < 2 ? this.#nestedDepth : 1;
  }

  #leaveList(): void {
    const list = this.#list;
    this.#list = null;
    this.stopDepth = 1;
    if (list === null) return;
    this.#counts[list.kind]++;
    if (this.#lists.length < LISTS_MAX) this.#lists.push(list);
    if (list.isNamed && this.#named.length < 2) this.#named.push(list);
  }

  #isExpected(): boolean {
    const { expected } = this.#tools;
    if (expected === null) return false;
    const key = this.#text.key();
    return key !== null && expected.has(key);
  }
}

// Locates the records of a JSON file: concatenated, in the top-level list, or in a list inside the top-level object.

/** A key, or the index of a member or item, from 0. */
type PathStep = string | number;

/** null if the records are concatenated. Otherwise the path from the top of the file to their list. */
export type RecordsPath = readonly PathStep[] | null;

/** The opening brackets around a list that was entered. */
export type Brackets = Uint8Array;

/** A list of records that was entered. */
export interface EnteredList {
  readonly brackets: Brackets;
  /** Number of values before the list that are not part of the path: members of objects and items of lists. */
  readonly valuesBefore: number;
}

/** Settings that decide where the records are. */
export interface RecordsSearch {
  /** JSON pointer to the list of records, or null if it is not declared. */
  readonly pointer: string | null;
  /** True if the file name extension means that each line is a record. */
  readonly isLines: boolean;
  /** True if the text is the whole file. */
  readonly isWhole: boolean;
  readonly members: MemberTools;
}

/**
 * Finds the records, starting at the beginning of the text. Advances the text.
 * @returns 'unknown' if more of the text is needed
 * @throws Failed if the location of the records is ambiguous
 */
export function* findRecords(text: JsonText, search: RecordsSearch): Coroutine<RecordsPath | 'unknown'> {
  const { pointer, isLines, isWhole, members } = search;
  const atEnd = isWhole ? null : 'unknown';
  if (pointer !== null && pointer !== '') return stepsOf(pointer);
  if ((yield* stepped(text, () => text.peek())) === 'more') return atEnd;
  if (text.byte === OPEN_LIST) return yield* findInList(text, isWhole);
  if (pointer === '' || isLines) return null;
  const found = yield* membersOf(text, members);
  if (found === 'unknown') return atEnd;
  const after = yield* stepped(text, () => text.peek());
  if (after !== 'more') return null;
  if (!isWhole) return 'unknown';
  return recordsMember(found, members.expected !== null);
}

/** For a file that begins with a list: either a list of records, or concatenated records that are lists. */
function* findInList(text: JsonText, isWhole: boolean): Coroutine<RecordsPath | 'unknown'> {
  begin(text);
  const first = yield* stepped(text, () => text.traverse(1));
  if (first === 'more') return isWhole ? [] : 'unknown';
  if (first === 'done' || text.byte === OPEN_OBJECT || text.byte === OPEN_LIST) return [];
  const place = text.place();
  if ((yield* stepped(text, () => text.traverse(0))) === 'more') return isWhole ? [] : 'unknown';
  const after = yield* stepped(text, () => text.peek());
  if (after === 'more' && !isWhole) return 'unknown';
  if (after === 'more' || text.byte !== OPEN_LIST) throw listOfValues(place);
  return null;
}

/**
 * Advances from the beginning of the text into the list of records.
 * @returns null if the text is only a part of the file and ends before the list
 * @throws Failed if there is no list at this path
 */
export function* enterRecords(
  text: JsonText,
  path: readonly PathStep[],
  isWhole: boolean,
): Coroutine<EnteredList | null> {
  let status: string = yield* stepped(text, () => text.peek());
  let valuesBefore = 0;
  begin(text);
  for (const [depth, step] of path.entries()) {
    for (let place = 0; status !== 'more'; place++) {
      status = yield* stepped(text, () => text.traverse(depth + 1));
      // Events stop when the value that should contain this step ends.
      if (status === 'done' || (status === 'event' && text.get(DEPTH) !== depth + 1)) throw noRecordsAt();
      if (status !== 'event') continue;
      if (isStep(step, place, text)) break;
      valuesBefore++;
    }
  }
  if (status === 'more') {
    if (isWhole) throw noRecordsAt();
    return null;
  }
  if (text.byte !== OPEN_LIST) throw noRecordsAt();
  text.pass();
  const stack = text.get(STACK);
  return { brackets: text.heap.u8.slice(stack, stack + text.get(DEPTH)), valuesBefore };
}

/** Advances from the end of the list of records towards the end of the enclosing value. */
export function leaveRecords(text: JsonText, brackets: Brackets): void {
  text.heap.u8.set(brackets, text.get(STACK));
  text.set(DEPTH, brackets.length);
  text.set(PHASE, TRAVERSAL_BEHIND);
}

function isStep(step: PathStep, place: number, text: JsonText): boolean {
  if (typeof step === 'number') return step === place;
  return step === (text.key() ?? String(place));
}

/** Splits a JSON pointer (RFC 6901). */
function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
