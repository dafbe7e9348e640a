// Edits of a Template's text by operations and their parameters. Each edit changes only what it must.
import {
  colonOf,
  isFlow,
  isMapping,
  isSequence,
  itemsOf,
  type OperationItem,
  type OperationList,
  operationList,
  pairOf,
  pairsOf,
  type SyntaxNode,
  valueIn,
} from './operation-list.ts';

// Writes a value on one line, as YAML in flow style or as JSON.

type Notation = 'json' | 'yaml';

export function flowText(value: unknown, notation: Notation): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, notation)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, part]) => `${keyText(key, notation)}: ${flowText(part, notation)}`)
      .join(', ')}}`;
  }
  return typeof value === 'string' ? scalarText(value, notation) : JSON.stringify(value);
}

function keyText(key: string, notation: Notation): string {
  return scalarText(key, notation);
}

/** Words stay bare if every YAML reader takes them as a text; others are quoted so that they have few escapes. */
function scalarText(text: string, notation: Notation): string {
  if (notation === 'json') return JSON.stringify(text);
  const isBare =
    /^[\p{L}_][\p{L}\p{N}_]*(?: [\p{L}\p{N}_]+)*$/u.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
  if (isBare) return text;
  const isPrintable = !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\ufeff]/u.test(text);
  if (isPrintable && /["\\]/.test(text)) return `'${text.replaceAll("'", "''")}'`;
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// Edits of a Template's text by operations and their parameters. Each edit changes the least text that it can, so that
// comments and the style of the document stay. Null: the notation is not supported, and the text must be edited by hand.

export type Parameters = Readonly<Record<string, unknown>>;

type Path = readonly (string | number)[];

/** Inserts an operation so that it becomes the item with this index. */
export function withOperation(
  text: string,
  notation: Notation,
  index: number,
  name: string,
  parameters: Parameters,
): string | null {
  const list = operationList(text);
  const { node, items, root } = list;
  if (node === null)
    return root === null && text.trim() !== '' ? null : withList(text, notation, list, name, parameters);
  const first = items[0]?.node;
  const hasOp = items.length > 0 && items.every((item) => item.hasOp);
  if (isFlow(node)) {
    const written = flowOperation(name, parameters, notation, hasOp);
    if (first === undefined) {
      if (notation === 'json') return spliced(text, node.from + 1, node.from + 1, written);
      // An empty list becomes one with an item on each line.
      return spliced(text, node.from - (text[node.from - 1] === ' ' ? 1 : 0), node.to, `\n  - ${written}`);
    }
    const next = items[index]?.node;
    if (next !== undefined) return spliced(text, next.from, next.from, `${written}${separator(text, node, next)}`);
    const last = items.at(-1)!.node;
    return spliced(text, last.to, last.to, `${separator(text, node, last)}${written}`);
  }
  const indent = indentAt(text, node.from);
  const isBlock = first !== undefined && items.every((item) => !isFlow(item.node));
  const written = isBlock
    ? blockOperation(name, parameters, hasOp, `${indent}  `)
    : flowOperation(name, parameters, notation, hasOp);
  return withLines(text, placeOfItem(text, list, index), `${indent}- ${written}`);
}

/** The Template has no list of operations yet. */
function withList(
  text: string,
  notation: Notation,
  { root }: OperationList,
  name: string,
  parameters: Parameters,
): string | null {
  const written = flowOperation(name, parameters, notation, false);
  if (notation === 'json') {
    const last = root === null ? undefined : pairsOf(root).at(-1);
    return last === undefined ? null : spliced(text, last.to, last.to, `,\n  "operations": [${written}]`);
  }
  if (root !== null && (isFlow(root) || pairOf(text, root, 'operations') !== null)) {
    const pair = isFlow(root) ? null : pairOf(text, root, 'operations')!;
    // `operations:` without a value.
    if (pair === null || valueIn(pair) !== null) return null;
    return withLines(text, lineAfter(text, pair.to), `  - ${written}`);
  }
  // A draft without active steps has the begin of the list as a comment, above the steps that it suggests.
  const commented = /^# operations:$/m.exec(text);
  if (commented !== null)
    return spliced(text, commented.index, lineAfter(text, commented.index), `operations:\n  - ${written}\n`);
  const output = root === null ? null : pairOf(text, root, 'output');
  return withLines(text, output === null ? text.length : output.from, `operations:\n  - ${written}`);
}

/** Changes the parameters of an operation from `before` to `after`. */
export function withParameters(
  text: string,
  notation: Notation,
  index: number,
  before: Parameters,
  after: Parameters,
): string | null {
  const item = operationList(text).items[index];
  if (item === undefined || !isMapping(item.node)) return null;
  if (item.parameters === null) return withFirstParameters(text, notation, pairsOf(item.node)[0]!, after);
  return withDifferences(text, notation, { before, after }, (edited) => operationList(edited).items[index]?.parameters);
}

/** Changes a section of the Template, such as `input`, from `before` to `after`. */
export function withSection(
  text: string,
  notation: Notation,
  section: string,
  before: Parameters,
  after: Parameters,
): string | null {
  const { root } = operationList(text);
  if (root === null) return null;
  const pair = pairOf(text, root, section);
  if (pair === null) return withNewSection(text, notation, root, section, after);
  const mapping = (edited: string): SyntaxNode | null => {
    const found = operationList(edited).root;
    const at = found === null ? null : pairOf(edited, found, section);
    const value = at === null ? null : valueIn(at);
    return value !== null && isMapping(value) ? value : null;
  };
  if (mapping(text) === null) return withFirstParameters(text, notation, pair, after);
  return withDifferences(text, notation, { before, after }, mapping);
}

/** `input` and `tables` come before the operations, where people expect them; other sections come last. */
function withNewSection(
  text: string,
  notation: Notation,
  root: SyntaxNode,
  section: string,
  parameters: Parameters,
): string {
  if (Object.keys(parameters).length === 0) return text;
  const written = `${keyText(section, notation)}: ${flowText(parameters, notation)}`;
  const next = ['input', 'tables'].includes(section) ? pairOf(text, root, 'operations') : null;
  if (next === null) return withPair(text, root, written);
  if (!isFlow(root)) return withLines(text, next.from, written);
  return spliced(text, next.from, next.from, `${written}${separator(text, root, next)}`);
}

/** @param find returns the mapping in a text that contains the earlier edits */
function withDifferences(
  text: string,
  notation: Notation,
  { before, after }: { readonly before: Parameters; readonly after: Parameters },
  find: (edited: string) => SyntaxNode | null | undefined,
): string | null {
  let edited: string | null = text;
  for (const { path, value } of differences(before, after, [])) {
    const mapping: SyntaxNode | null | undefined = edited === null ? null : find(edited);
    if (edited === null || mapping === null || mapping === undefined) return null;
    edited = withValue(edited, notation, mapping, path, value);
  }
  return edited;
}

/** The operation or section has no parameters yet, as in `- drop_blank_rows:`. */
function withFirstParameters(text: string, notation: Notation, pair: SyntaxNode, after: Parameters): string | null {
  const colon = colonOf(pair);
  if (colon === null) return null;
  if (Object.keys(after).length === 0) return text;
  const old = valueIn(pair);
  return spliced(text, colon.to, old?.to ?? colon.to, ` ${flowText(after, notation)}`);
}

const ABSENT = Symbol('absent');

interface Difference {
  readonly path: Path;
  /** ABSENT: the value is removed. */
  readonly value: unknown;
}

/** Deepest values that differ. Lists of other lengths differ as a whole, unless items were only added at the end. */
function differences(before: unknown, after: unknown, path: Path): Difference[] {
  if (isSame(before, after)) return [];
  if (isRecord(before) && isRecord(after)) {
    const isReordered = !isPrefix(
      Object.keys(before).filter((key) => key in after),
      Object.keys(after),
    );
    if (isReordered && path.length > 0) return [{ path, value: after }];
    const gone = Object.keys(before).filter((key) => !(key in after));
    return [
      ...gone.map((key) => ({ path: [...path, key], value: ABSENT })),
      ...Object.keys(after).flatMap((key) =>
        key in before
          ? differences(before[key], after[key], [...path, key])
          : [{ path: [...path, key], value: after[key] }],
      ),
    ];
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length > 0) {
    const added = after.slice(before.length);
    if (before.length === after.length || (added.length > 0 && isPrefix(before, after))) {
      return [
        ...before.flatMap((item, index) => differences(item, after[index], [...path, index])),
        ...added.map((item, index) => ({ path: [...path, before.length + index], value: item })),
      ];
    }
  }
  return [{ path, value: after }];
}

function isPrefix(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.every((item, index) => isSame(item, after[index]));
}

/** Compares values and the order of keys. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withValue(text: string, notation: Notation, start: SyntaxNode, path: Path, value: unknown): string | null {
  let node = start;
  for (const step of path.slice(0, -1)) {
    const next = childAt(text, node, step);
    if (next === null) return null;
    node = next;
  }
  const last = path.at(-1)!;
  if (typeof last === 'number') return isSequence(node) ? withItem(text, notation, node, last, value) : null;
  if (!isMapping(node)) return null;
  const pair = pairOf(text, node, last);
  if (value === ABSENT) return pair === null ? text : withoutPair(text, node, pair);
  const written = flowText(value, notation);
  if (pair !== null) return replacedValue(text, pair, written);
  return withPair(text, node, `${keyText(last, notation)}: ${written}`);
}

function childAt(text: string, node: SyntaxNode, step: string | number): SyntaxNode | null {
  if (typeof step === 'number') return isSequence(node) ? (itemsOf(node)[step] ?? null) : null;
  const pair = isMapping(node) ? pairOf(text, node, step) : null;
  return pair === null ? null : valueIn(pair);
}

function replacedValue(text: string, pair: SyntaxNode, written: string): string | null {
  const colon = colonOf(pair);
  if (colon === null) return null;
  const value = valueIn(pair);
  // A value in block style begins on the next line; the new one is written beside its key.
  const isBeside = value !== null && !text.slice(colon.to, value.to).startsWith('\n') && isFlowOrScalar(value);
  return isBeside
    ? spliced(text, value.from, value.to, written)
    : spliced(text, colon.to, value?.to ?? colon.to, ` ${written}`);
}

function isFlowOrScalar(node: SyntaxNode): boolean {
  return !node.name.startsWith('Block');
}

function withPair(text: string, mapping: SyntaxNode, written: string): string {
  const last = pairsOf(mapping).at(-1);
  if (!isFlow(mapping)) {
    const indent = ' '.repeat(columnOf(text, pairsOf(mapping)[0]!.from));
    return withLines(text, lineAfter(text, last!.to), `${indent}${written}`);
  }
  if (last === undefined) return spliced(text, mapping.from + 1, mapping.from + 1, written);
  return spliced(text, last.to, last.to, `${separator(text, mapping, last)}${written}`);
}

function withoutPair(text: string, mapping: SyntaxNode, pair: SyntaxNode): string {
  const pairs = pairsOf(mapping);
  const index = pairs.findIndex(({ from }) => from === pair.from);
  const [before, after] = [pairs[index - 1], pairs[index + 1]];
  if (isFlow(mapping)) {
    if (after !== undefined) return spliced(text, pair.from, after.from, '');
    return spliced(text, before?.to ?? pair.from, pair.to, '');
  }
  if (before !== undefined) return withoutLines(text, pair.from, pair.to);
  if (after !== undefined) return spliced(text, pair.from, after.from, '');
  return spliced(text, mapping.from, mapping.to, ' {}');
}

/** Replaces an item of a list, or adds one at its end. */
function withItem(text: string, notation: Notation, list: SyntaxNode, index: number, value: unknown): string | null {
  const items = itemsOf(list);
  const written = flowText(value, notation);
  const [found, last] = [items[index], items.at(-1)];
  if (found !== undefined) {
    if (isFlowOrScalar(found)) return spliced(text, found.from, found.to, written);
    return spliced(text, text.slice(found.from, found.to).search(/\S/) + found.from, found.to, written);
  }
  if (last === undefined) return null;
  if (isFlow(list)) return spliced(text, last.to, last.to, `${separator(text, list, last)}${written}`);
  return withLines(text, lineAfter(text, last.to), `${indentAt(text, list.from)}- ${written}`);
}

function flowOperation(name: string, parameters: Parameters, notation: Notation, hasOp: boolean): string {
  return flowText(hasOp ? { op: name, ...parameters } : { [name]: parameters }, notation);
}

function blockOperation(name: string, parameters: Parameters, hasOp: boolean, indent: string): string {
  const lines = Object.entries(parameters).map(([key, value]) => `${keyText(key, 'yaml')}: ${flowText(value, 'yaml')}`);
  if (hasOp) return [`op: ${name}`, ...lines.map((line) => `${indent}${line}`)].join('\n');
  if (lines.length === 0) return `${name}: {}`;
  return [`${name}:`, ...lines.map((line) => `${indent}  ${line}`)].join('\n');
}

/** Separator of the entries of a flow collection: a line break if each entry has its own line. */
function separator(text: string, collection: SyntaxNode, entry: SyntaxNode): string {
  const before = text.slice(collection.from, entry.from);
  const lineBreak = before.lastIndexOf('\n');
  const isAlone = lineBreak >= 0 && before.slice(lineBreak).trim() === '';
  return isAlone ? `,${before.slice(lineBreak)}` : ', ';
}

/** Offset of the line where an item of a block list begins, with the comments above it; or of the end of the list. */
function placeOfItem(text: string, { node, items }: OperationList, index: number): number {
  const next = items[index];
  if (next === undefined) return lineAfter(text, node!.to);
  const before = items[index - 1];
  return before === undefined ? ownLines(text, next).from : lineAfter(text, before.node.to);
}

/** The lines of an item of a block list, with the comments above it. A disabled line above it is not such a comment. */
function ownLines(text: string, { node }: OperationItem): { readonly from: number; readonly to: number } {
  const start = text.slice(node.from, node.to).search(/\S/) + node.from;
  let from = text.lastIndexOf('\n', start - 1) + 1;
  while (from > 0) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    if (!/^[ \t]+#(?!\s*- )/.test(text.slice(above, from))) break;
    from = above;
  }
  return { from, to: lineAfter(text, node.to) };
}

/** Offset of the line after the one that an offset is on. */
function lineAfter(text: string, at: number): number {
  const lineBreak = text.indexOf('\n', at);
  return lineBreak < 0 ? text.length : lineBreak + 1;
}

function withLines(text: string, at: number, lines: string): string {
  const before = text.slice(0, at);
  const isOpen = before !== '' && !before.endsWith('\n');
  return `${before}${isOpen ? '\n' : ''}${lines}\n${text.slice(at)}`;
}

function withoutLines(text: string, from: number, to: number): string {
  return spliced(text, text.lastIndexOf('\n', from - 1) + 1, lineAfter(text, to), '');
}

function indentAt(text: string, at: number): string {
  return ' '.repeat(columnOf(text, at));
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1);
}

function spliced(text: string, from: number, to: number, insert: string): string {
  return `${text.slice(0, from)}${insert}${text.slice(to)}`;
}

// Edits of a Template's text by whole operations: delete, duplicate, move, and switch on and off. Comments above an
// operation belong to it. Null: the notation is not supported.

/** Switches an operation off if it is on, and on if it is off. */
export function switched(text: string, notation: 'json' | 'yaml', index: number): string | null {
  const item = operationList(text).items[index];
  if (item === undefined) return null;
  const [before, after] = item.isOff ? [{ enabled: false }, {}] : [{}, { enabled: false }];
  return withParameters(text, notation, index, before, after);
}

export function deleted(text: string, index: number): string | null {
  const { node, items } = operationList(text);
  const item = items[index];
  if (node === null || item === undefined) return null;
  if (!isFlow(node)) {
    const { from, to } = ownLines(text, item);
    const rest = spliced(text, from, to, '');
    return items.length > 1 ? rest : withEmptyList(rest);
  }
  const [before, after] = [items[index - 1], items[index + 1]];
  if (after !== undefined) return spliced(text, item.node.from, after.node.from, '');
  return spliced(text, before?.node.to ?? item.node.from, item.node.to, '');
}

/** A list without items would be read as null. */
function withEmptyList(text: string): string | null {
  const { root } = operationList(text);
  const pair = root === null ? null : pairOf(text, root, 'operations');
  const colon = pair === null ? null : colonOf(pair);
  return colon === null ? null : spliced(text, colon.to, colon.to, ' []');
}

export function duplicated(text: string, index: number): string | null {
  const { node, items } = operationList(text);
  const item = items[index];
  if (node === null || item === undefined) return null;
  if (isFlow(node)) {
    const copy = text.slice(item.node.from, item.node.to);
    return spliced(text, item.node.to, item.node.to, `${separator(text, node, item.node)}${copy}`);
  }
  const { to } = ownLines(text, item);
  const start = text.slice(item.node.from, item.node.to).search(/\S/) + item.node.from;
  const copy = text.slice(text.lastIndexOf('\n', start - 1) + 1, to);
  return spliced(text, to, to, copy.endsWith('\n') ? copy : `\n${copy}`);
}

/** Moves an item to the position of another item. */
export function moved(text: string, index: number, to: number): string | null {
  const { node, items } = operationList(text);
  const [item, target] = [items[index], items[to]];
  if (node === null || item === undefined || target === undefined || index === to) return text;
  if (isFlow(node)) return reordered(text, items, index, to);
  const own = ownLines(text, item);
  const place = ownLines(text, target);
  const at = to > index ? place.to : place.from;
  const lines = text.slice(own.from, own.to);
  const moving = lines.endsWith('\n') ? lines : `${lines}\n`;
  if (at >= own.to) {
    const between = text.slice(own.to, at);
    return `${text.slice(0, own.from)}${between.endsWith('\n') ? between : `${between}\n`}${moving}${text.slice(at)}`;
  }
  return text.slice(0, at) + moving + text.slice(at, own.from) + text.slice(own.to);
}

/** Moves an item of a list in brackets. The separators stay where they are. */
function reordered(text: string, items: readonly OperationItem[], index: number, to: number): string {
  const written = items.map(({ node }) => text.slice(node.from, node.to));
  written.splice(to, 0, ...written.splice(index, 1));
  let edited = '';
  let end = 0;
  for (const [at, { node }] of items.entries()) {
    edited += text.slice(end, node.from) + written[at]!;
    end = node.to;
  }
  return edited + text.slice(end);
}
