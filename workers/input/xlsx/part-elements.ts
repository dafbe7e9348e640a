// Walks through the elements of a part that is read as a whole: relationships, workbook, styles, a table.
import type { Coroutine } from '../../thread/coroutine.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import { PART_BYTES_MAX, SMALL_WINDOW_BYTES } from './limits.ts';
import { inPart, malformedWorkbook } from './malformed-workbook.ts';
import type { GiveWay } from './shared-strings.ts';
import { decodeEntities } from './text-decoder.ts';
import { CLOSE, EMPTY, END, MORE, OPEN, XmlTokens } from './xml-tokens.ts';
import { XmlWindow } from './xml-window.ts';

/** The attributes of one element by their names without prefix. */
export type Attributes = ReadonlyMap<string, string>;

/** @param parent name of the element around it; '' around the root */
export type ElementVisitor = (name: string, attributes: Attributes, parent: string) => void;

/**
 * Calls `visit` at the start of each element.
 * @param part for failures, as in "In its styles". Throws Failed.
 */
export function visitElements(
  part: string,
  source: PieceSource,
  giveWay: GiveWay,
  visit: ElementVisitor,
): Coroutine<void> {
  return inPart(() => part, visitAll(source, giveWay, visit));
}

function* visitAll(source: PieceSource, giveWay: GiveWay, visit: ElementVisitor): Coroutine<void> {
  const tokens = new XmlTokens(new XmlWindow(source, null, SMALL_WINDOW_BYTES));
  const parents: string[] = [''];
  let bytes = 0;
  try {
    for (;;) {
      const token = tokens.next();
      if (token === END) return;
      if (token === MORE) {
        bytes += tokens.at;
        if (bytes > PART_BYTES_MAX) throw malformedWorkbook('a part that describes it is too long');
        for (let from = tokens.at; !tokens.refill(from); from = 0) yield tokens.window.wait();
        const rest = giveWay();
        if (rest !== null) yield rest;
      } else if (token === CLOSE) parents.pop();
      else if (token === OPEN || token === EMPTY) {
        const name = tokens.bytes.toString('latin1', tokens.start, tokens.end);
        visit(name, attributesOf(tokens), parents.at(-1)!);
        if (token === OPEN) parents.push(name);
      }
    }
  } finally {
    source.close();
  }
}

function attributesOf(tokens: XmlTokens): Attributes {
  const attributes = new Map<string, string>();
  const { bytes } = tokens;
  while (tokens.nextAttribute()) {
    // Of `id` and `r:id` the one with a prefix comes last in what programs write, and only it is asked for.
    const value = bytes.toString('utf8', tokens.valueStart, tokens.valueEnd);
    attributes.set(bytes.toString('latin1', tokens.nameStart, tokens.nameEnd), decodeEntities(value));
  }
  return attributes;
}
