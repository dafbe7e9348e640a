// Where the records of a JSON file stand: one after the other, in the list that the file is, or in a list inside its object.

import { DEPTH, PHASE, STACK, WALK_BEHIND, WALK_VALUE } from '../../kernel/layout/json.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import type { JsonText } from './json-text.ts';
import { noRecordsAt, severalLists } from './malformed-json.ts';

/** A key, or the place of a member or item, from 0. */
type PathStep = string | number;

/** Null: records stand one after the other. Else the way to their list from the one value of the file. */
export type RecordsPath = readonly PathStep[] | null;

/** The brackets around a list that was entered. */
export type Brackets = Uint8Array;

const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Runs a step until the window has what it needs; 'more' at the end of the text. */
export function* stepped<Status extends string>(text: JsonText, step: () => Status): Coroutine<Status> {
  for (;;) {
    const status = step();
    if (status !== 'more') return status;
    for (let filled = text.fill(); filled !== 'filled'; filled = text.fill()) {
      if (filled === 'end') return status;
      yield text.wait();
    }
  }
}

/**
 * The text stands at its beginning, and anywhere afterwards. 'unknown': more of it would tell.
 * @param pointer JSON pointer to the list, null = the only one of objects in the object that the file is
 * @param isWhole whether the text is all of the file
 */
export function* findRecords(
  text: JsonText,
  pointer: string | null,
  isWhole: boolean,
): Coroutine<RecordsPath | 'unknown'> {
  if (pointer !== null && pointer !== '') return stepsOf(pointer);
  const first = yield* stepped(text, () => text.peek());
  if (first === 'more') return isWhole ? null : 'unknown';
  if (text.byte === OPEN_LIST) return [];
  if (pointer === '') return null;
  const lists = yield* listsOfObjects(text);
  if (lists === 'unknown') return isWhole ? null : 'unknown';
  const behind = yield* stepped(text, () => text.peek());
  if (behind !== 'more') return null;
  if (!isWhole) return 'unknown';
  if (lists.length > 1) throw severalLists(lists.map((member) => member + 1));
  return lists.length === 0 ? null : lists;
}

/** The members of the object that hold lists of objects, by their places. The text goes behind the object. */
function* listsOfObjects(text: JsonText): Coroutine<number[] | 'unknown'> {
  const lists: number[] = [];
  let member = -1;
  let stopDepth = 1;
  begin(text);
  for (;;) {
    const status = yield* stepped(text, () => text.walk(stopDepth));
    if (status === 'more') return 'unknown';
    if (status === 'done') return lists;
    const isItem = text.get(DEPTH) === 2;
    if (isItem) {
      if (text.byte === OPEN_OBJECT) lists.push(member);
      stopDepth = 1;
    } else {
      member++;
      // The first item tells what kind of list it is.
      stopDepth = text.byte === OPEN_LIST ? 2 : 1;
    }
  }
}

/**
 * Goes from the beginning of the text into the list of records.
 * @returns the brackets around it; null where the text, which is not all of the file, ends before
 * @throws Failed where there is no list
 */
export function* enterRecords(text: JsonText, path: readonly PathStep[], isWhole: boolean): Coroutine<Brackets | null> {
  let status: string = yield* stepped(text, () => text.peek());
  begin(text);
  for (const [depth, step] of path.entries()) {
    for (let place = 0; status !== 'more'; place++) {
      status = yield* stepped(text, () => text.walk(depth + 1));
      // Events end where the value closes in which the step was looked for.
      if (status === 'done' || (status === 'event' && text.get(DEPTH) !== depth + 1)) throw noRecordsAt();
      if (status === 'event' && isStep(step, place, text)) break;
    }
  }
  if (status === 'more') {
    if (isWhole) throw noRecordsAt();
    return null;
  }
  if (text.byte !== OPEN_LIST) throw noRecordsAt();
  text.pass();
  const stack = text.get(STACK);
  return text.heap.u8.slice(stack, stack + text.get(DEPTH));
}

/** From behind the list of records to the end of the value that it stands in. */
export function leaveRecords(text: JsonText, brackets: Brackets): void {
  text.heap.u8.set(brackets, text.get(STACK));
  text.set(DEPTH, brackets.length);
  text.set(PHASE, WALK_BEHIND);
}

function begin(text: JsonText): void {
  text.set(DEPTH, 0);
  text.set(PHASE, WALK_VALUE);
}

function isStep(step: PathStep, place: number, text: JsonText): boolean {
  if (typeof step === 'number') return step === place;
  return step === (text.key() ?? String(place));
}

/** Of RFC 6901. */
function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
