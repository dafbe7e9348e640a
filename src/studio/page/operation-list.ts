// The list of operations in a Template's text, YAML in any notation or JSON, with the place of each operation. The
// parser is the editor's own, which also reads a text that has mistakes.
import { yamlLanguage } from '@codemirror/lang-yaml';

type SyntaxNode = ReturnType<typeof yamlLanguage.parser.parse>['topNode'];

export interface OperationItem {
  readonly name: string;
  /** The columns or the condition of the operation, as written; '' if it has none. */
  readonly subject: string;
  readonly isOff: boolean;
  /** The mapping of the item. */
  readonly node: SyntaxNode;
  /** The mapping of the parameters: the item itself for `{op: name, ...}`; null: the operation has no parameters. */
  readonly parameters: SyntaxNode | null;
  /** False: the name is the only key, as in `{drop: {...}}`. */
  readonly hasOp: boolean;
}

export interface OperationList {
  /** The list; null: the Template has none. */
  readonly node: SyntaxNode | null;
  readonly items: readonly OperationItem[];
  /** The mapping of the whole Template; null: the text has none. */
  readonly root: SyntaxNode | null;
}

export function operationList(text: string): OperationList {
  const document = childrenOf(yamlLanguage.parser.parse(text).topNode).find(({ name }) => name === 'Document');
  const root = document === undefined ? null : (childrenOf(document).find(isMapping) ?? null);
  const pair = root === null ? null : pairOf(text, root, 'operations');
  const value = pair === null ? null : valueIn(pair);
  const node = value !== null && isSequence(value) ? value : null;
  return { node, root, items: node === null ? [] : itemsOf(node).map((item) => operationItem(text, item)) };
}

function operationItem(text: string, node: SyntaxNode): OperationItem {
  const pairs = isMapping(node) ? pairsOf(node) : [];
  const op = pairs.find((pair) => ['op', 'operation'].includes(keyOf(text, pair)));
  const [only] = pairs;
  if (op === undefined && only === undefined)
    return { name: '', subject: '', isOff: false, node, parameters: null, hasOp: false };
  const value = op === undefined ? valueIn(only!) : node;
  const parameters = value !== null && isMapping(value) ? value : null;
  const enabled = parameters === null ? null : pairOf(text, parameters, 'enabled');
  const given = op === undefined ? null : valueIn(op);
  return {
    name: firstLine(op === undefined ? keyOf(text, only!) : given === null ? '' : textOf(text, given)),
    subject: parameters === null ? '' : subjectOf(text, parameters),
    isOff: enabled !== null && /:\s*false$/.test(text.slice(enabled.from, enabled.to)),
    node,
    parameters,
    hasOp: op !== undefined,
  };
}

function textOf(text: string, node: SyntaxNode): string {
  return plainText(text.slice(node.from, node.to));
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}

/** Parameters that tell two steps with the same operation apart, the first of which is shown. */
const SUBJECTS = ['columns', 'column', 'where', 'by', 'into', 'first', 'from', 'group_by'];

function subjectOf(text: string, parameters: SyntaxNode): string {
  const pair = SUBJECTS.map((name) => pairOf(text, parameters, name)).find((each) => each !== null);
  const value = pair === undefined || pair === null ? null : valueIn(pair);
  if (value === null) return '';
  // A quote that is not closed yet holds the rest of the text.
  const end = lineEndInQuote(text, value);
  if (end !== null) return `${text.slice(value.from, end).trim()}…`;
  return plainText(text.slice(value.from, value.to).trim()).replaceAll(/\s+/g, ' ');
}

/** End of the first line of the first text in quotes that has several lines; null: there is none. */
function lineEndInQuote(text: string, node: SyntaxNode): number | null {
  if (node.name === 'QuotedLiteral') {
    const length = text.slice(node.from, node.to).indexOf('\n');
    return length < 0 ? null : node.from + length;
  }
  for (const child of childrenOf(node)) {
    const end = lineEndInQuote(text, child);
    if (end !== null) return end;
  }
  return null;
}

/** Index of the operation at an offset of the text; -1: the offset is outside of the operations. */
export function itemAt({ items }: OperationList, offset: number): number {
  return items.findIndex(({ node }) => offset >= node.from - '- '.length && offset <= node.to);
}

export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

export function isMapping({ name }: SyntaxNode): boolean {
  return name === 'FlowMapping' || name === 'BlockMapping';
}

export function isSequence({ name }: SyntaxNode): boolean {
  return name === 'FlowSequence' || name === 'BlockSequence';
}

export function isFlow({ name }: SyntaxNode): boolean {
  return name === 'FlowMapping' || name === 'FlowSequence';
}

export function pairsOf(mapping: SyntaxNode): SyntaxNode[] {
  return childrenOf(mapping).filter(({ name }) => name === 'Pair');
}

/** The values of a list. */
export function itemsOf(sequence: SyntaxNode): SyntaxNode[] {
  return childrenOf(sequence)
    .filter(({ name }) => name === 'Item')
    .map((item) => contentOf(item) ?? item);
}

export function pairOf(text: string, mapping: SyntaxNode, key: string): SyntaxNode | null {
  return pairsOf(mapping).find((pair) => keyOf(text, pair) === key) ?? null;
}

/** The value of a pair; null: nothing is written there. */
export function valueIn(pair: SyntaxNode): SyntaxNode | null {
  const colon = colonOf(pair);
  return colon === null ? null : contentOf(pair, colon.to);
}

export function colonOf(pair: SyntaxNode): SyntaxNode | null {
  return childrenOf(pair).find(({ name }) => name === ':') ?? null;
}

function contentOf(node: SyntaxNode, from = node.from): SyntaxNode | null {
  return childrenOf(node).find((child) => child.from >= from && !/^(?:Comment|Key|[-:,?])$/.test(child.name)) ?? null;
}

export function keyOf(text: string, pair: SyntaxNode): string {
  const key = childrenOf(pair).find(({ name }) => name === 'Key');
  return key === undefined ? '' : plainText(text.slice(key.from, key.to));
}

/** The text that a scalar means. */
export function plainText(written: string): string {
  if (written.startsWith("'")) return written.slice(1, -1).replaceAll("''", "'");
  if (!written.startsWith('"')) return written;
  try {
    return JSON.parse(written) as string;
  } catch {
    return written.slice(1, -1);
  }
}

export type { SyntaxNode };

/** Index of the operation with this number, from 1, among those that are not switched off; null: there is none. */
export function itemOfRunning(items: readonly OperationItem[], step: number): number | null {
  const running = items.flatMap(({ isOff }, index) => (isOff ? [] : [index]));
  return running[step - 1] ?? null;
}
